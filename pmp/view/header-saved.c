/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The header of a saved profile or core file: where, when, how it was taken; losses. */
#include "libpmp-program.h"
#include "view/header.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define TITLE_MIN 12
#define TEXT_SIZE 4096

/* "  20 snapshots  1420 stacks", "  inuse_space 1.50MB" */
static void counts_text(const struct view *view, const struct pmp_profile_info *info,
			bool wide, char *text, size_t size)
{
	const struct pmp_profile_metadata *metadata = &view->metadata;
	char type[32], value[PMP_VALUE_SIZE];
	int n = 0;

	if (metadata->type && *metadata->type) {
		snprintf(text, size, "  %s %s",
			 pmp_escape(metadata->type, type, sizeof(type)),
			 pmp_format_value(info->stacks, metadata->unit, value,
					  sizeof(value)));
		return;
	}
	if (wide && !metadata->guessed)
		n = snprintf(text, size, "  %" PRIu64 " snapshot%s", info->samples,
			     info->samples == 1 ? "" : "s");
	snprintf(text + n, size - (size_t)n, "  %" PRIu64 " stack%s", info->stacks,
		 info->stacks == 1 ? "" : "s");
}

/* The title gets the remaining room. */
static void draw_counts(const struct view *view, const struct pmp_profile_info *info,
			struct canvas *canvas)
{
	const char *saved = view->model.saved ? "  saved profile" : "  core file";
	bool wide = canvas->columns >= VIEW_WIDE;
	char counts[128];
	int at = 0, room;

	if (wide)
		at = canvas_print(canvas, 0, 0, -1, STYLE_BOLD, "pmp %s - ",
				  pmp_version());
	counts_text(view, info, wide, counts, sizeof(counts));
	room = canvas->columns - at - (int)strlen(saved) - (int)strlen(counts);
	at += canvas_text(canvas, 0, at, room < TITLE_MIN ? TITLE_MIN : room, STYLE_BOLD,
			  view->title);
	at += canvas_text(canvas, 0, at, -1, STYLE_YELLOW, saved);
	canvas_text(canvas, 0, at, -1, 0, counts);
}

/* "2026-11-21 10:35:16", or "" if unknown. */
static void time_text(uint64_t realtime, char *text, size_t size)
{
	time_t seconds = (time_t)(realtime / 1000000000);
	struct tm local;

	text[0] = '\0';
	if (realtime && localtime_r(&seconds, &local))
		strftime(text, size, "%Y-%m-%d %H:%M:%S", &local);
}

/* Host, date, duration, rate and command, as far as known. */
static void draw_origin(const struct pmp_profile_metadata *metadata,
			struct canvas *canvas, int row)
{
	char text[TEXT_SIZE];
	int at = 0;

	if (metadata->host && *metadata->host)
		at += canvas_print(canvas, row, at, -1, 0, "%s  ",
				   pmp_escape(metadata->host, text, sizeof(text)));
	time_text(metadata->realtime, text, sizeof(text));
	if (*text)
		at += canvas_print(canvas, row, at, -1, 0, "%s  ", text);
	if (metadata->duration)
		at += canvas_print(canvas, row, at, -1, 0, "%.1f s  ",
				   (double)metadata->duration / 1e9);
	if (metadata->period)
		at += canvas_print(canvas, row, at, -1, 0, "%.4g Hz  ",
				   1e9 / (double)metadata->period);
	if (metadata->command && *metadata->command)
		canvas_text(canvas, row, at, -1, STYLE_DIM,
			    pmp_escape(metadata->command, text, sizeof(text)));
}

static void draw_stops(const struct pmp_profile_info *info, struct canvas *canvas,
		       int row)
{
	int at = 0;

	if (info->stops)
		at += canvas_print(
			canvas, row, at, -1, 0,
			canvas->columns < HEADER_ROOMY
				? "%" PRIu64 " stops, p99 %.1f us, max %.1f, %.3f%%%s"
				: "%" PRIu64 " stops, p99 %.1f us, max %.1f us, "
				  "%.3f%% of the time%s",
			info->stops, (double)info->stopped_p99 / 1e3,
			(double)info->stopped_max / 1e3,
			header_percent(info->any_stopped,
				       info->last_time - info->first_time),
			header_gap(canvas));
	header_draw_losses(info, true, canvas, row, at);
}

/* "Signal SIGSEGV (11), SEGV_MAPERR (1), address 0x10, in LWP 4102" */
static void draw_crash(const char *crash, const struct pmp_profile_info *info,
		       struct canvas *canvas, int row)
{
	int at = canvas_text(canvas, row, 0, -1, 0, "Signal ");

	at += canvas_text(canvas, row, at, -1, STYLE_BOLD, crash);
	if (info->truncated)
		header_draw_losses(info, true, canvas, row, at + 2);
}

int header_draw_saved(const struct view *view, struct canvas *canvas, int rows)
{
	struct pmp_profile_info info = { .size = sizeof(info) };

	if (view->profile)
		pmp_profile_info(view->profile, &info);
	draw_counts(view, &info, canvas);
	if (rows < 3)
		return 1;
	draw_origin(&view->metadata, canvas, 1);
	if (header_is_of_heap(view))
		header_draw_heap(view, canvas, 2, true);
	else if (view->crash)
		draw_crash(view->crash, &info, canvas, 2);
	else
		draw_stops(&info, canvas, 2);
	return 3;
}
