/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the headers of live and saved profiles share. */
#include "view/header.h"

#include <inttypes.h>

double header_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

const char *header_gap(const struct canvas *canvas)
{
	return canvas->columns < HEADER_ROOMY ? "  " : "   ";
}

void header_draw_losses(const struct pmp_profile_info *info, bool share,
			struct canvas *canvas, int row, int at)
{
	const char *gap = header_gap(canvas);

	at += canvas_print(canvas, row, at, -1, info->vanished ? STYLE_YELLOW : 0,
			   "Lost %" PRIu64, info->vanished);
	at += canvas_print(canvas, row, at, -1, 0, "%sTruncated %" PRIu64, gap,
			   info->truncated);
	if (share)
		at += canvas_print(canvas, row, at, -1, 0, " (%.1f%%)",
				   header_percent(info->truncated, info->stacks));
	if (info->evicted)
		canvas_print(canvas, row, at, -1, STYLE_YELLOW, "%sEvicted %" PRIu64, gap,
			     info->evicted);
}

int header_draw(const struct view *view, struct canvas *canvas, int rows)
{
	return view->model.file ? header_draw_saved(view, canvas, rows)
				: header_draw_live(view, canvas, rows);
}
