/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What keys do. The table of keys.c has each function and its help. */
#ifndef PMP_VIEW_ON_KEY_H
#define PMP_VIEW_ON_KEY_H

#include "view/view.h"

void on_next_view(struct view *view);
void on_up(struct view *view);
void on_down(struct view *view);
void on_page_up(struct view *view);
void on_page_down(struct view *view);
void on_home(struct view *view);
void on_end(struct view *view);
void on_left(struct view *view);
void on_right(struct view *view);
void on_enter(struct view *view);
void on_hot_path(struct view *view);
void on_invert(struct view *view);
void on_sort_left(struct view *view);
void on_sort_right(struct view *view);
void on_sort_reverse(struct view *view);
void on_search(struct view *view);
void on_search_next(struct view *view);
void on_search_back(struct view *view);
void on_filter_frames(struct view *view);
void on_filter_threads(struct view *view);
void on_idle(struct view *view);
void on_group(struct view *view);
void on_split(struct view *view);
void on_functions(struct view *view);
void on_objects(struct view *view);
void on_window(struct view *view);
void on_share(struct view *view);
void on_lines(struct view *view);
void on_names(struct view *view);
void on_wait(struct view *view);
void on_deadlock(struct view *view);
void on_pause(struct view *view);
void on_refresh(struct view *view);
void on_faster(struct view *view);
void on_slower(struct view *view);
void on_interval(struct view *view);
void on_reset(struct view *view);
void on_write(struct view *view);
void on_save(struct view *view);
void on_mouse(struct view *view);
void on_redraw(struct view *view);
void on_help(struct view *view);
void on_back(struct view *view);
void on_quit(struct view *view);

#endif
