/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines at the top of the screen. */
#ifndef PMP_VIEW_HEADER_H
#define PMP_VIEW_HEADER_H

#include "view/view.h"

#define HEADER_ROOMY 96 /* columns: only screens this wide show all words */

/** Draw as many lines as there is room for; returns their number. */
int header_draw(const struct view *view, struct canvas *canvas, int rows);
int header_draw_live(const struct view *view, struct canvas *canvas, int rows);
int header_draw_saved(const struct view *view, struct canvas *canvas, int rows);

/** The totals of a heap, in two lines or, if brief, one; for the view of the heap. */
void header_draw_heap(const struct view *view, struct canvas *canvas, int row,
		      bool brief);
bool header_is_of_heap(const struct view *view);
/** The same for the contents of a heap, as last read, in two lines. */
void header_draw_objects(const struct view *view, struct canvas *canvas, int row);
bool header_is_of_objects(const struct view *view);
/** A time of CLOCK_REALTIME as "10:35:12". Returns buffer. */
char *clock_text(uint64_t realtime, char *buffer, size_t size);

/* ---- shared parts ------------------------------------------------------------------ */

double header_percent(uint64_t part, uint64_t whole);
/** The gap between two figures. */
const char *header_gap(const struct canvas *canvas);
/** What is missing, from column at; share: also as a share of all. */
void header_draw_losses(const struct pmp_profile_info *info, bool share,
			struct canvas *canvas, int row, int at);

#endif
