/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The totals of a heap's contents, when they were read, and at what cost. */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "libpmp-program.h"
#include "run/clock.h"
#include "view/header.h"

#define TEXT_SIZE 32
#define MS 1e6

bool header_is_of_objects(const struct view *view)
{
	return view_type_of(&view->model)->row == ROW_OBJECT && view->model.census.now;
}

char *clock_text(uint64_t realtime, char *buffer, size_t size)
{
	const time_t seconds = (time_t)(realtime / NS_PER_S);
	struct tm time;

	if (!localtime_r(&seconds, &time) || !strftime(buffer, size, "%H:%M:%S", &time))
		snprintf(buffer, size, "?");
	return buffer;
}

static int put_bytes(struct canvas *canvas, int row, int at, const char *before,
		     uint64_t bytes, const char *after)
{
	char text[TEXT_SIZE];

	return canvas_print(canvas, row, at, -1, 0, "%s%s%s", before,
			    heap_bytes_text((int64_t)bytes, false, text, sizeof(text)),
			    after);
}

/* "Heap of 4100: 13.6MB live in 112020 blocks   1.50MB free, 16.0MB in all, 5 arenas" */
static int draw_sums(const struct pmp_named_census_info *info, struct canvas *canvas,
		     int row)
{
	char blocks[TEXT_SIZE];
	int at = canvas_print(canvas, row, 0, -1, 0, "Heap of %d: ", (int)info->pid);

	at += put_bytes(canvas, row, at, "", info->bytes, " live in ");
	at += canvas_print(
		canvas, row, at, -1, 0, "%s blocks%s",
		heap_count_text((double)info->blocks, false, blocks, sizeof(blocks)),
		header_gap(canvas));
	return at;
}

static int draw_rest(const struct pmp_named_census_info *info, struct canvas *canvas,
		     int row, int at)
{
	at += put_bytes(canvas, row, at, "", info->free + info->kept, " free, ");
	at += put_bytes(canvas, row, at, "", info->heap_size, " in all");
	if (canvas->columns >= HEADER_ROOMY)
		at += canvas_print(canvas, row, at, -1, 0, ", %" PRIu64 " arena%s",
				   info->arenas, info->arenas == 1 ? "" : "s");
	return at;
}

/* "  Not read 1.2%": swapped out or not understood. */
static int draw_missing(const struct pmp_named_census_info *info, struct canvas *canvas,
			int row, int at)
{
	const uint64_t missing = info->swapped + info->unread;
	int width = canvas_print(canvas, row, at, -1, missing ? STYLE_YELLOW : 0,
				 "%sNot read %.1f%%", header_gap(canvas),
				 header_percent(missing, info->heap_size));

	if (info->newer_glibc)
		width += canvas_print(canvas, row, at + width, -1, STYLE_YELLOW,
				      "%sglibc 2.%u is not known", header_gap(canvas),
				      info->newer_glibc);
	return width;
}

static int draw_reading(const struct heap_census *census, struct canvas *canvas, int row,
			int at)
{
	if (!census->reading)
		return 0;
	return canvas_print(canvas, row, at, -1, STYLE_BOLD, "%sreading %d for %.1f s",
			    header_gap(canvas), (int)census->pid,
			    (double)(now_ns() - census->reading) / (double)NS_PER_S);
}

/* "Read at 10:35:12 in 13 ms, 12.7 ms of CPU   Not read 0.0%   since 10:31:00" */
static void draw_times(const struct heap_census *census,
		       const struct pmp_named_census_info *info, struct canvas *canvas,
		       int row)
{
	struct pmp_named_census_info old;
	char text[TEXT_SIZE];
	int at = canvas_print(canvas, row, 0, -1, 0,
			      "Read at %s in %.0f ms, %.1f ms of CPU",
			      clock_text(info->realtime, text, sizeof(text)),
			      (double)info->duration / MS, (double)info->cpu / MS);

	at += draw_reading(census, canvas, row, at);
	at += draw_missing(info, canvas, row, at);
	if (!census->before || census->reading)
		return;
	pmp_named_census_info(census->before, &old);
	canvas_print(canvas, row, at, -1, 0, "%s+ since %s", header_gap(canvas),
		     clock_text(old.realtime, text, sizeof(text)));
}

void header_draw_objects(const struct view *view, struct canvas *canvas, int row)
{
	const struct heap_census *census = &view->model.census;
	struct pmp_named_census_info info;
	int at;

	pmp_named_census_info(census->now, &info);
	at = draw_sums(&info, canvas, row);
	draw_rest(&info, canvas, row, at);
	draw_times(census, &info, canvas, row + 1);
}
