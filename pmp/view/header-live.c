/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The header during sampling: the rate, what threads do, the cost to them. */
#include "libpmp-program.h"
#include "view/header.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define BEHIND 0.8 /* of the requested rate: below this, say so */

struct live_header {
	struct pmp_profile_info info;
	size_t threads, stopped, peeked, unchanged, not_stopped;
	size_t run, sleep, disk, lock, other;
	double hertz;
};

static void count_threads(const struct view *view, struct live_header *header)
{
	const struct pmp_live *live = view->model.live;

	for (size_t i = 0; i < pmp_live_thread_count(live); i++) {
		const struct pmp_live_thread thread = model_thread(&view->model, i);

		if (!thread.present)
			continue;
		switch (model_state(&view->model, thread.state, thread.waits_for_lock,
				    thread.stack)) {
		case 'R': header->run++; break;
		case 'S': header->sleep++; break;
		case 'D': header->disk++; break;
		case 'L': header->lock++; break;
		default: header->other++;
		}
	}
}

/* Snapshots per second and process, over the last seconds or since the last pause. */
static double hertz(const struct view *view, size_t processes)
{
	const struct model *model = &view->model;
	struct pmp_live_window last = { .size = sizeof(last) };
	uint64_t snapshots, span;

	pmp_live_window(model->live, PMP_WINDOW_SECONDS, &last);
	snapshots = last.samples > processes ? last.samples - processes : 0;
	span = last.span;
	if (view->resumed.any && !view->resumed.time)
		return 0;
	if (view->resumed.any && model->info.time - view->resumed.time < span) {
		snapshots = model->all.samples - view->resumed.samples;
		span = model->info.time - view->resumed.time;
	}
	return span ? (double)snapshots / (double)processes / ((double)span / 1e9) : 0;
}

static void sum(const struct view *view, struct live_header *header)
{
	const struct pmp_live *live = view->model.live;
	size_t processes = live ? pmp_live_process_count(live) : 0, sampled = 0;

	*header = (struct live_header){ .info.size = sizeof(header->info) };
	if (view->profile)
		pmp_profile_info(view->profile, &header->info);
	for (size_t i = 0; i < processes; i++) {
		struct pmp_live_process process = { .size = sizeof(process) };

		pmp_live_process(live, i, PMP_WINDOW_SECONDS, &process);
		sampled += process.samples > 0;
		header->threads += process.last->threads;
		header->stopped += process.last->n_stopped;
		header->peeked += process.last->n_peeked;
		header->unchanged += process.last->n_unchanged;
		header->not_stopped += process.last->n_not_stopped;
	}
	if (!live)
		return;
	count_threads(view, header);
	header->hertz = sampled ? hertz(view, sampled) : 0;
}

/* "10.0 Hz"; "4.1 of 10 Hz" if sampling falls behind. */
static void rate_text(const struct view *view, const struct live_header *header,
		      char *text, size_t size)
{
	double asked = view->interval ? 1e9 / (double)view->interval : 0;

	if (view->ended)
		snprintf(text, size, "%s", view->targets_live ? "DONE" : "ENDED");
	else if (view->paused)
		snprintf(text, size, "PAUSED");
	else if (header->hertz <= 0)
		snprintf(text, size, "- Hz");
	else if (header->hertz < BEHIND * asked)
		snprintf(text, size, "%.1f of %.4g Hz", header->hertz, asked);
	else
		snprintf(text, size, "%.1f Hz", header->hertz);
}

/* --heap-only: there are no snapshots. */
static void draw_heap_only(const struct view *view, const char *rate,
			   struct canvas *canvas)
{
	const bool moves = !view->ended && !view->paused;
	int at = canvas_print(canvas, 0, 0, -1, STYLE_BOLD, "pmp %s - ", pmp_version());

	at += canvas_text(canvas, 0, at, canvas->columns - 30, STYLE_BOLD, view->title);
	canvas_print(canvas, 0, at, -1, moves ? 0 : STYLE_BOLD | STYLE_YELLOW,
		     "  heap only%s%s", moves ? "" : "  ", moves ? "" : rate);
}

static void draw_first(const struct view *view, const struct live_header *header,
		       struct canvas *canvas)
{
	const struct pmp_live_window *all = &view->model.all;
	uint64_t seconds = all->span / 1000000000;
	bool wide = canvas->columns >= VIEW_WIDE;
	/* The titles of several processes need the room. */
	bool count = wide &&
		     (canvas->columns >= HEADER_ROOMY || !model_is_several(&view->model));
	int at = 0, room = canvas->columns - (count ? 58 : wide ? 44 : 24);
	char rate[64];

	rate_text(view, header, rate, sizeof(rate));
	if (!header->info.samples && view->model.heap.processes) {
		draw_heap_only(view, rate, canvas);
		return;
	}
	if (wide)
		at = canvas_print(canvas, 0, 0, -1, STYLE_BOLD, "pmp %s - ",
				  pmp_version());
	at += canvas_text(canvas, 0, at, room < 20 ? 20 : room, STYLE_BOLD, view->title);
	at += canvas_print(canvas, 0, at, -1, 0, " %zu %s%s", header->threads,
			   wide ? "thread" : "thr",
			   wide && header->threads != 1 ? "s" : "");
	at += canvas_text(canvas, 0, at, -1, 0, "  ");
	at += canvas_text(canvas, 0, at, -1,
			  view->ended || view->paused ? STYLE_BOLD | STYLE_YELLOW
			  : strstr(rate, " of ")      ? STYLE_YELLOW
						      : 0,
			  rate);
	if (wide)
		at += canvas_print(canvas, 0, at, -1, 0,
				   "  %02" PRIu64 ":%02" PRIu64 ":%02" PRIu64,
				   seconds / 3600, seconds / 60 % 60, seconds % 60);
	if (count)
		at += canvas_print(canvas, 0, at, -1, 0, "  %" PRIu64 " snapshot%s",
				   all->samples, all->samples == 1 ? "" : "s");
	if (at + 18 < canvas->columns)
		canvas_print(canvas, 0, at, -1, 0, "  %" PRIu64 " stack%s", all->stacks,
			     all->stacks == 1 ? "" : "s");
}

static int draw_states(const struct live_header *header, struct canvas *canvas, int row)
{
	int at = canvas_text(canvas, row, 0, -1, 0, "Threads: ");

	at += canvas_print(canvas, row, at, -1, header->run ? STYLE_GREEN : 0, "%zu run",
			   header->run);
	at += canvas_print(canvas, row, at, -1, 0, "  %zu sleep", header->sleep);
	at += canvas_print(canvas, row, at, -1, header->disk ? STYLE_RED : 0,
			   "  %zu disk", header->disk);
	at += canvas_print(canvas, row, at, -1, header->lock ? STYLE_YELLOW : 0,
			   "  %zu lock", header->lock);
	if (header->other)
		at += canvas_print(canvas, row, at, -1, 0, "  %zu other", header->other);
	return at;
}

/* "  1 DEADLOCK (d)" */
static int draw_deadlocks(const struct view *view, struct canvas *canvas, int row, int at)
{
	size_t count = deadlock_count(&view->model);

	if (!count)
		return 0;
	return canvas_print(canvas, row, at, -1, STYLE_RED | STYLE_BOLD,
			    "  %zu DEADLOCK%s (d)", count, count == 1 ? "" : "S");
}

/* How long threads were stopped: as many figures as there is room for. */
static void draw_stopped(const struct pmp_profile_info *info, struct canvas *canvas,
			 int row, int at)
{
	const bool roomy = canvas->columns >= HEADER_ROOMY;
	const double samples = info->samples ? (double)info->samples : 1;
	char parts[3][64];

	snprintf(parts[0], sizeof(parts[0]),
		 roomy ? "   Stopped: %.2f ms/snapshot" : "  Stopped %.2f ms/snap",
		 (double)info->any_stopped / 1e6 / samples);
	snprintf(parts[1], sizeof(parts[1]), roomy ? ", max %.2f ms" : ", max %.2f",
		 (double)info->stopped_max / 1e6);
	snprintf(parts[2], sizeof(parts[2]), ", %.2f%%",
		 header_percent(info->any_stopped, info->last_time - info->first_time));
	for (int i = 0; i < 3 && at + (int)strlen(parts[i]) <= canvas->columns; i++)
		at += canvas_text(canvas, row, at, -1, 0, parts[i]);
}

/* How the last stacks were obtained, then what is missing. */
static void draw_stops(const struct live_header *header, struct canvas *canvas, int row)
{
	bool roomy = canvas->columns >= HEADER_ROOMY;
	int at = canvas_print(canvas, row, 0, -1, 0,
			      "%zu of %zu%s stopped, %zu looked at, %zu unchanged",
			      header->stopped, header->threads, roomy ? " threads" : "",
			      header->peeked, header->unchanged);

	if (header->not_stopped)
		at += canvas_print(canvas, row, at, -1, 0, ", %zu left alone",
				   header->not_stopped);
	at += canvas_text(canvas, row, at, -1, 0, header_gap(canvas));
	header_draw_losses(&header->info, roomy, canvas, row, at);
}

int header_draw_live(const struct view *view, struct canvas *canvas, int rows)
{
	struct live_header header;
	int at;

	sum(view, &header);
	draw_first(view, &header, canvas);
	if (rows < 3) {
		draw_deadlocks(view, canvas, 0, canvas->columns - 16);
		return 1;
	}
	if (header_is_of_heap(view)) {
		header_draw_heap(view, canvas, 1, false);
		return 3;
	}
	if (header_is_of_objects(view)) {
		header_draw_objects(view, canvas, 1);
		return 3;
	}
	at = draw_states(&header, canvas, 1);
	at += draw_deadlocks(view, canvas, 1, at);
	draw_stopped(&header.info, canvas, 1, at);
	draw_stops(&header, canvas, 2);
	return 3;
}
