/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The totals of a heap: exact ones of its processes, or else the sums of a file. */
#include <inttypes.h>
#include <stdio.h>

#include "libpmp-program.h"
#include "view/header.h"

#define TEXT_SIZE 32

bool header_is_of_heap(const struct view *view)
{
	const struct pmp_live_heap *heap = &view->model.heap;

	return view_type_of(&view->model)->row == ROW_HEAP &&
	       (heap->processes || heap->stacks);
}

/* Draw a number between two texts. Returns the width. */
static int put(struct canvas *canvas, int row, int at, const char *before,
	       const char *number, const char *after)
{
	return canvas_print(canvas, row, at, -1, 0, "%s%s%s", before, number, after);
}

static int put_bytes(struct canvas *canvas, int row, int at, const char *before,
		     uint64_t bytes, const char *after)
{
	char text[TEXT_SIZE];

	return put(canvas, row, at, before,
		   heap_bytes_text((int64_t)bytes, false, text, sizeof(text)), after);
}

static int put_count(struct canvas *canvas, int row, int at, const char *before,
		     double count, const char *after)
{
	char text[TEXT_SIZE];

	return put(canvas, row, at, before,
		   heap_count_text(count, false, text, sizeof(text)), after);
}

/* "Heap: 61.3MB live in 125 blocks, peak 66.1MB after 12.3 s   sampled every 512kB" */
static int draw_live(const struct pmp_live_heap *heap, struct canvas *canvas, int row)
{
	int at = put_bytes(canvas, row, 0, "Heap: ", heap->live, " live");

	at += put_count(canvas, row, at, " in ", (double)heap->live_blocks, " blocks");
	at += put_bytes(canvas, row, at,
			heap->processes > 1 ? ", largest peak " : ", peak ", heap->peak,
			"");
	if (heap->peak_after && heap->processes == 1)
		at += canvas_print(canvas, row, at, -1, 0, " after %.1f s",
				   (double)heap->peak_after / 1e9);
	at += canvas_text(canvas, row, at, -1, 0, header_gap(canvas));
	if (heap->totals_only)
		at += canvas_text(canvas, row, at, -1, STYLE_YELLOW, "totals only");
	else if (heap->rate)
		at += put_bytes(canvas, row, at, "sampled every ", heap->rate, "");
	else
		at += canvas_text(canvas, row, at, -1, 0, "every call");
	return at;
}

static int draw_losses(const struct pmp_live_heap *heap, struct canvas *canvas, int row,
		       int at)
{
	if (heap->lost)
		at += canvas_print(canvas, row, at, -1, STYLE_YELLOW, "  Lost %" PRIu64,
				   heap->lost);
	if (heap->stackless)
		at += canvas_print(canvas, row, at, -1, STYLE_YELLOW,
				   "  No stack %" PRIu64, heap->stackless);
	if (heap->unrecorded)
		at += canvas_print(canvas, row, at, -1, STYLE_YELLOW,
				   "  Not recorded %" PRIu64, heap->unrecorded);
	if (heap->dropped)
		at += canvas_print(canvas, row, at, -1, STYLE_YELLOW,
				   "  Not shown %" PRIu64, heap->dropped);
	return at;
}

/* "Allocated 5.10GB in 393431 calls, freed 5.04GB in 393306", in the window of time. */
static void draw_allocated(const struct view *view, struct canvas *canvas, int row)
{
	const struct pmp_live_heap *heap = &view->model.heap;
	const bool change = model_window(&view->model) != PMP_WINDOW_START;
	const double seconds = (double)heap->span / 1e9;
	int at = 0;

	if (change)
		at = canvas_print(canvas, row, 0, -1, 0, "In %.0f s: ", seconds);
	at += put_bytes(canvas, row, at, change ? "allocated " : "Allocated ",
			heap->allocated, "");
	at += put_count(canvas, row, at, " in ", (double)heap->allocs, " calls");
	at += put_bytes(canvas, row, at, ", freed ", heap->freed, "");
	at += put_count(canvas, row, at, " in ", (double)heap->frees, "");
	if (seconds >= 1)
		at += put_bytes(canvas, row, at, "  ",
				(uint64_t)((double)heap->allocated / seconds), "/s");
	if (seconds >= 1 && canvas->columns >= HEADER_ROOMY)
		at += put_count(canvas, row, at, "  ", (double)heap->allocs / seconds,
				" calls/s");
	draw_losses(heap, canvas, row, at);
}

/* "Heap: 61.3MB live in 125 blocks; 5.10GB allocated in 393431 calls" */
static void draw_sums(const struct pmp_live_heap *heap, struct canvas *canvas, int row)
{
	int at = put_bytes(canvas, row, 0, "Heap: ", heap->sum_live, " live");

	at += put_count(canvas, row, at, " in ", heap->sum_blocks, " blocks");
	if (!heap->sum_allocated)
		return;
	at += put_bytes(canvas, row, at, "; ", heap->sum_allocated, " allocated");
	put_count(canvas, row, at, " in ", heap->sum_allocs, " calls");
}

void header_draw_heap(const struct view *view, struct canvas *canvas, int row, bool brief)
{
	const struct pmp_live_heap *heap = &view->model.heap;
	int at;

	if (!heap->processes) {
		draw_sums(heap, canvas, row);
		return;
	}
	at = draw_live(heap, canvas, row);
	if (brief)
		draw_losses(heap, canvas, row, at);
	else
		draw_allocated(view, canvas, row + 1);
}
