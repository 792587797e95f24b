/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * View 6: the recorded heap, or that of a saved profile, by stacks or by allocating
 * functions. With a window of time, the change in it.
 */
#include <stdio.h>
#include <string.h>

#include "libpmp-program.h"
#include "rows/model-rows.h"
#include "rows/model.h"
#include "rows/view-type.h"

#define SIGN (UINT64_C(1) << 63)

/* ---- sorting ----------------------------------------------------------------------- */

/* Negative changes come last. */
static uint64_t order_of(int64_t value)
{
	return ~((uint64_t)value ^ SIGN);
}

static uint64_t order_of_count(double count)
{
	const double most = 0x1p52;

	if (count > most || count < -most)
		return order_of(count > 0 ? INT64_MAX : INT64_MIN);
	return order_of((int64_t)(count * 1024));
}

static uint64_t order_by_live(const struct model *model, const struct view_row *row)
{
	return order_of(heap_row(model, row)->live);
}

/* Among rows that freed everything, the one that allocated most first. */
static int compare_allocated(const struct model *model, const struct view_row *a,
			     const struct view_row *b)
{
	const int64_t one = heap_row(model, a)->allocated,
		      other = heap_row(model, b)->allocated;

	return (one < other) - (one > other);
}

static uint64_t order_by_total(const struct model *model, const struct view_row *row)
{
	return order_of(heap_row(model, row)->total);
}

static uint64_t order_by_blocks(const struct model *model, const struct view_row *row)
{
	return order_of_count(heap_row(model, row)->blocks);
}

static uint64_t order_by_allocated(const struct model *model, const struct view_row *row)
{
	return order_of(heap_row(model, row)->allocated);
}

static uint64_t order_by_allocs(const struct model *model, const struct view_row *row)
{
	return order_of_count(heap_row(model, row)->allocs);
}

static uint64_t order_by_age(const struct model *model, const struct view_row *row)
{
	return ~heap_row(model, row)->oldest;
}

static uint64_t order_by_stays(const struct model *model, const struct view_row *row)
{
	return ~heap_row(model, row)->stays;
}

static double share_of_error(const struct heap_row *more)
{
	const double live = (double)more->live;

	return more->live > 0 ? more->live_variance / (live * live) : 0;
}

static uint64_t order_by_error(const struct model *model, const struct view_row *row)
{
	return order_descending(share_of_error(heap_row(model, row)));
}

static uint64_t order_by_where(const struct model *model, const struct view_row *row)
{
	return row->chain == NAME_NONE ? order_by_name(model, row)
				       : order_by_leaf(model, row);
}

/* ---- cells ------------------------------------------------------------------------- */

static bool is_change(const struct model *model)
{
	return model_window(model) != PMP_WINDOW_START;
}

static void text_live(const struct model *model, const struct view_row *row, char *buffer,
		      size_t size)
{
	heap_bytes_text(heap_row(model, row)->live, is_change(model), buffer, size);
}

static void text_total(const struct model *model, const struct view_row *row,
		       char *buffer, size_t size)
{
	heap_bytes_text(heap_row(model, row)->total, is_change(model), buffer, size);
}

static void text_blocks(const struct model *model, const struct view_row *row,
			char *buffer, size_t size)
{
	heap_count_text(heap_row(model, row)->blocks, is_change(model), buffer, size);
}

/* A file may have only live memory. */
static bool knows_allocated(const struct model *model)
{
	return model->heap.sum_allocated || model->heap.processes;
}

static void text_allocated(const struct model *model, const struct view_row *row,
			   char *buffer, size_t size)
{
	if (knows_allocated(model))
		heap_bytes_text(heap_row(model, row)->allocated, false, buffer, size);
	else
		snprintf(buffer, size, "-");
}

static void text_allocs(const struct model *model, const struct view_row *row,
			char *buffer, size_t size)
{
	if (knows_allocated(model))
		heap_count_text(heap_row(model, row)->allocs, false, buffer, size);
	else
		snprintf(buffer, size, "-");
}

static void text_error(const struct model *model, const struct view_row *row,
		       char *buffer, size_t size)
{
	const struct heap_row *more = heap_row(model, row);

	heap_error_text(more->live_variance, more->live, buffer, size);
}

static void text_age(const struct model *model, const struct view_row *row, char *buffer,
		     size_t size)
{
	heap_age_text(heap_row(model, row)->oldest, buffer, size);
}

static void text_stays(const struct model *model, const struct view_row *row,
		       char *buffer, size_t size)
{
	const uint64_t stays = heap_row(model, row)->stays;

	if (stays)
		heap_bytes_text((int64_t)stays, true, buffer, size);
	else
		snprintf(buffer, size, "-");
}

static void text_heap_process(const struct model *model, const struct view_row *row,
			      char *buffer, size_t size)
{
	const uint32_t process = heap_row(model, row)->process;

	snprintf(buffer, size, "%s",
		 process == NAME_NONE ? "(several)" : model_name(model, process));
}

static void text_group(const struct model *model, const struct view_row *row,
		       char *buffer, size_t size)
{
	const char *name = model_name(model, row->group);

	snprintf(buffer, size, "%s%s", *name ? name : "-", row->groups ? "+" : "");
}

static void text_where(const struct model *model, const struct view_row *row,
		       char *buffer, size_t size)
{
	if (row->chain == NAME_NONE)
		snprintf(buffer, size, "%s", model_name(model, row->name));
	else
		text_chain(model, row, buffer, size);
}

static bool has_where(struct model *model, const struct search *search,
		      const struct view_row *row)
{
	return row->chain == NAME_NONE ? has_name(model, search, row)
				       : has_chain(model, search, row);
}

/* ---- without rows ------------------------------------------------------------------ */

static const char *why_not_recorded(const struct model *model, char *buffer, size_t size)
{
	(void)model;
	snprintf(buffer, size,
		 "Nothing is recorded of what it allocates: that takes a recorder from "
		 "the start.\n    pmp --heap -- COMMAND\n"
		 "O reads what its heap holds now, by class and size, without one.\n");
	return buffer;
}

static const char *why_nothing(const struct model *model, char *buffer, size_t size)
{
	const struct pmp_live_heap *heap = &model->heap;

	*buffer = '\0';
	if (model->file && !model->saved)
		snprintf(buffer, size,
			 "A core file does not say who has allocated what.\n");
	else if (model->file && !heap->stacks)
		snprintf(
			buffer, size,
			"There is no heap in this profile: one with alloc_space and "
			"inuse_space has it.\n    pmp --heap -o heap.pb.gz -- COMMAND\n");
	else if (!model->file && !heap->counts)
		return why_not_recorded(model, buffer, size);
	else if (!heap->processes && !heap->stacks)
		snprintf(buffer, size, "The recorder has reported nothing so far\n");
	else if (heap->totals_only)
		snprintf(buffer, size,
			 "Its allocator mixes the operators of C++ with malloc(): only "
			 "totals are known\n");
	else if (!(heap->sum_allocs > 0) && !heap->sum_live)
		snprintf(buffer, size,
			 "No block has been chosen so far: it has "
			 "allocated little\n");
	else if (is_change(model))
		snprintf(buffer, size, "Nothing was allocated or freed in this time\n");
	return buffer;
}

/* ---- the view ------------------------------------------------------------------------- */

static const struct column columns[] = {
	{ .title = "LIVE",
	  .changed = "+LIVE",
	  .width = 8,
	  .text = text_live,
	  .order = order_by_live,
	  .compare = compare_allocated,
	  .word = "live",
	  .sort = PMP_SORT_SELF },
	{ .title = "TOTAL",
	  .changed = "+TOTAL",
	  .width = 8,
	  .flags = COLUMN_FUNCTION,
	  .text = text_total,
	  .order = order_by_total,
	  .word = "total",
	  .sort = PMP_SORT_TOTAL },
	{ .title = "ERR",
	  .width = 5,
	  .narrow = 60,
	  .flags = COLUMN_NOW,
	  .text = text_error,
	  .order = order_by_error,
	  .word = "error" },
	{ .title = "BLOCKS",
	  .changed = "+BLOCKS",
	  .width = 7,
	  .narrow = 50,
	  .text = text_blocks,
	  .order = order_by_blocks,
	  .word = "blocks" },
	{ .title = "AGE",
	  .width = 5,
	  .narrow = 100,
	  .text = text_age,
	  .order = order_by_age,
	  .word = "age" },
	{ .title = "STAYS/S",
	  .width = 8,
	  .narrow = 110,
	  .text = text_stays,
	  .order = order_by_stays,
	  .word = "stays" },
	{ .title = "ALLOC",
	  .width = 7,
	  .narrow = 40,
	  .text = text_allocated,
	  .order = order_by_allocated,
	  .word = "allocated" },
	{ .title = "CALLS",
	  .width = 7,
	  .narrow = 60,
	  .text = text_allocs,
	  .order = order_by_allocs,
	  .word = "calls",
	  .sort = PMP_SORT_SAMPLES },
	{ .title = "PROCESS",
	  .width = 15,
	  .narrow = 70,
	  .flags = COLUMN_LEFT | COLUMN_SEVERAL,
	  .text = text_heap_process },
	{ .title = "THREADS",
	  .width = 14,
	  .narrow = 120,
	  .flags = COLUMN_LEFT,
	  .text = text_group,
	  .order = order_by_group,
	  .has = has_group,
	  .word = "threads" },
	{ .title = "ALLOCATED BY",
	  .flags = COLUMN_LEFT,
	  .text = text_where,
	  .order = order_by_where,
	  .has = has_where,
	  .word = "name",
	  .sort = PMP_SORT_NAME },
};

const struct view_type view_heap = {
	.name = "Heap",
	.word = "heap",
	.help = "heap: what lives, and who has allocated it (--heap, saved profiles)",
	.key = '6',
	.row = ROW_HEAP,
	.steps = { model_prepare, model_heap, model_order },
	.columns = columns,
	.column_count = sizeof(columns) / sizeof(*columns),
	.why_nothing = why_nothing,
};
