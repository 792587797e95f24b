/* SPDX-License-Identifier: GPL-2.0-or-later */
/* View 7: the contents of a process's heap, by class and size, once asked for. */
#include <inttypes.h>
#include <stdio.h>

#include "libpmp-program.h"
#include "rows/model-rows.h"
#include "rows/model.h"
#include "rows/view-type.h"

#define SIGN (UINT64_C(1) << 63)

/* ---- sorting ----------------------------------------------------------------------- */

/* Negative changes come last. */
static uint64_t order_of_change(uint64_t now, uint64_t before)
{
	return ~((now - before) ^ SIGN);
}

static uint64_t order_by_bytes(const struct model *model, const struct view_row *row)
{
	return ~object_row(model, row)->bytes;
}

static uint64_t order_by_blocks(const struct model *model, const struct view_row *row)
{
	return ~object_row(model, row)->blocks;
}

static uint64_t order_by_more_bytes(const struct model *model, const struct view_row *row)
{
	const struct object_row *more = object_row(model, row);

	return order_of_change(more->bytes, more->old_bytes);
}

static uint64_t order_by_more_blocks(const struct model *model,
				     const struct view_row *row)
{
	const struct object_row *more = object_row(model, row);

	return order_of_change(more->blocks, more->old_blocks);
}

static uint64_t order_by_size(const struct model *model, const struct view_row *row)
{
	return ~object_row(model, row)->largest;
}

/* ---- cells ------------------------------------------------------------------------- */

static void text_bytes(const struct model *model, const struct view_row *row,
		       char *buffer, size_t size)
{
	heap_bytes_text((int64_t)object_row(model, row)->bytes, false, buffer, size);
}

static void text_blocks(const struct model *model, const struct view_row *row,
			char *buffer, size_t size)
{
	heap_count_text((double)object_row(model, row)->blocks, false, buffer, size);
}

static void text_more_bytes(const struct model *model, const struct view_row *row,
			    char *buffer, size_t size)
{
	const struct object_row *more = object_row(model, row);

	if (model->census.before)
		heap_bytes_text((int64_t)(more->bytes - more->old_bytes), true, buffer,
				size);
	else
		snprintf(buffer, size, "-");
}

static void text_more_blocks(const struct model *model, const struct view_row *row,
			     char *buffer, size_t size)
{
	const struct object_row *more = object_row(model, row);

	if (model->census.before)
		heap_count_text((double)(int64_t)(more->blocks - more->old_blocks), true,
				buffer, size);
	else
		snprintf(buffer, size, "-");
}

static void text_size(const struct model *model, const struct view_row *row, char *buffer,
		      size_t size)
{
	object_size_text(object_row(model, row), buffer, size);
}

static void text_class(const struct model *model, const struct view_row *row,
		       char *buffer, size_t size)
{
	snprintf(buffer, size, "%s", model_name(model, row->name));
}

char *object_size_text(const struct object_row *more, char *buffer, size_t size)
{
	if (!more->smallest)
		snprintf(buffer, size, "-");
	else if (more->smallest == more->largest)
		snprintf(buffer, size, "%" PRIu64, more->smallest);
	else
		snprintf(buffer, size, "%" PRIu64 "-%" PRIu64, more->smallest,
			 more->largest);
	return buffer;
}

/* ---- without rows ------------------------------------------------------------------ */

static const char *why_nothing(const struct model *model, char *buffer, size_t size)
{
	const struct heap_census *census = &model->census;

	*buffer = '\0';
	if (model->file)
		snprintf(buffer, size,
			 "This is a file: there is no heap to read. What pmp -f objects "
			 "has saved is in view 6.\n");
	else if (census->reading)
		snprintf(buffer, size, "The heap of %d is being read\n",
			 (int)census->pid);
	else if (*census->refusal)
		snprintf(buffer, size, "%s", census->refusal);
	else if (!census->now)
		snprintf(buffer, size,
			 "O reads what the heap holds now: its blocks, by size and "
			 "class.\nThat takes about half a second of CPU for each GiB, "
			 "and stops nothing.\nO again shows what has changed since.\n");
	return buffer;
}

/* ---- the view ------------------------------------------------------------------------- */

static const struct column columns[] = {
	{ .title = "BYTES",
	  .width = 8,
	  .text = text_bytes,
	  .order = order_by_bytes,
	  .word = "bytes",
	  .sort = PMP_SORT_SELF },
	{ .title = "+BYTES",
	  .width = 8,
	  .narrow = 50,
	  .text = text_more_bytes,
	  .order = order_by_more_bytes,
	  .word = "more-bytes" },
	{ .title = "BLOCKS",
	  .width = 8,
	  .text = text_blocks,
	  .order = order_by_blocks,
	  .word = "blocks",
	  .sort = PMP_SORT_SAMPLES },
	{ .title = "+BLOCKS",
	  .width = 8,
	  .narrow = 60,
	  .text = text_more_blocks,
	  .order = order_by_more_blocks,
	  .word = "more-blocks" },
	{ .title = "SIZE",
	  .width = 11,
	  .narrow = 45,
	  .text = text_size,
	  .order = order_by_size,
	  .word = "size" },
	{ .title = "CLASS",
	  .flags = COLUMN_LEFT,
	  .text = text_class,
	  .order = order_by_name,
	  .has = has_name,
	  .word = "name",
	  .sort = PMP_SORT_NAME },
};

const struct view_type view_objects = {
	.name = "Objects",
	.word = "objects",
	.help = "objects: what the heap held when O has read it, by class and size",
	.key = '7',
	.row = ROW_OBJECT,
	.steps = { model_prepare, model_objects, model_order },
	.columns = columns,
	.column_count = sizeof(columns) / sizeof(*columns),
	.why_nothing = why_nothing,
};
