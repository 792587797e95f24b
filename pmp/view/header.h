/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines at the top. */
#ifndef PMP_VIEW_HEADER_H
#define PMP_VIEW_HEADER_H

#include "view/view.h"

#define HEADER_ROOMY 96 /* columns: only screens as wide have all words */

/** As many lines as there is room for; returns them. */
int header_draw(const struct view *view, struct canvas *canvas, int rows);
int header_draw_live(const struct view *view, struct canvas *canvas, int rows);
int header_draw_saved(const struct view *view, struct canvas *canvas, int rows);

/** What is known of a heap as a whole, in two lines or, brief, one; in its view. */
void header_draw_heap(const struct view *view, struct canvas *canvas, int row,
		      bool brief);
bool header_is_of_heap(const struct view *view);
/** The same of what a heap held when it was read, in two lines. */
void header_draw_objects(const struct view *view, struct canvas *canvas, int row);
bool header_is_of_objects(const struct view *view);
/** A time of CLOCK_REALTIME as "10:35:12". Returns buffer. */
char *clock_text(uint64_t realtime, char *buffer, size_t size);

/* ---- parts that both have ---------------------------------------------------------- */

double header_percent(uint64_t part, uint64_t whole);
/** Between two figures. */
const char *header_gap(const struct canvas *canvas);
/** What is missing, from column at on; share: as a share of all as well. */
void header_draw_losses(const struct pmp_profile_info *info, bool share,
			struct canvas *canvas, int row, int at);

#endif
