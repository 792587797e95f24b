/* SPDX-License-Identifier: GPL-2.0-or-later */
/* View 5: locks, their waiters and holders; deadlocks first. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "libpmp-program.h"
#include "rows/model-rows.h"
#include "rows/model.h"
#include "rows/view-type.h"

#define TEXT_SIZE 512
#define RANK_SHIFT 62
#define REST ((UINT64_C(1) << RANK_SHIFT) - 1)

/* ---- sorting ----------------------------------------------------------------------- */

/* Deadlocks come first and events last, even in reverse. */
static uint64_t order_by(const struct model *model, const struct view_row *row,
			 uint64_t value)
{
	uint64_t rank = (uint64_t)lock_row(model, row)->rank;

	if (model->settings.reverse[model->settings.view])
		rank = LOCK_ROW_OTHER - rank;
	return (value & REST) | rank << RANK_SHIFT;
}

static uint64_t order_by_waiting(const struct model *model, const struct view_row *row)
{
	return order_by(model, row, ~row->count);
}

static size_t behind_of(const struct model *model, const struct view_row *row)
{
	const struct lock_row *lock = lock_row(model, row);

	return row_is_several(lock) ? 0 : lock->behind;
}

static uint64_t order_by_behind(const struct model *model, const struct view_row *row)
{
	return order_by(model, row, ~(uint64_t)behind_of(model, row));
}

static uint64_t order_by_delay(const struct model *model, const struct view_row *row)
{
	return order_by(model, row, ~lock_row(model, row)->delay);
}

/* An event is a different one each time, so only uninterrupted waits count. */
static bool is_found_longer(const struct lock_row *lock)
{
	return lock->rank != LOCK_ROW_OTHER && lock->longest_found > lock->longest;
}

static uint64_t order_by_longest(const struct model *model, const struct view_row *row)
{
	const struct lock_row *lock = lock_row(model, row);

	return order_by(model, row,
			~(is_found_longer(lock) ? lock->longest_found : lock->longest));
}

/* Sorting by the text of a cell. */
typedef void cell(const struct model *model, const struct view_row *row, char *buffer,
		  size_t size);

static uint64_t order_by_cell(const struct model *model, const struct view_row *row,
			      cell *text)
{
	char buffer[TEXT_SIZE];

	text(model, row, buffer, sizeof(buffer));
	return order_by(model, row, order_of_text(buffer) >> (64 - RANK_SHIFT));
}

static int compare_cells(const struct model *model, const struct view_row *a,
			 const struct view_row *b, cell *text)
{
	char one[TEXT_SIZE], other[TEXT_SIZE];

	text(model, a, one, sizeof(one));
	text(model, b, other, sizeof(other));
	return strcmp(one, other);
}

/* ---- cells ------------------------------------------------------------------------- */

static void text_waiting(const struct model *model, const struct view_row *row,
			 char *buffer, size_t size)
{
	(void)model;
	snprintf(buffer, size, row->count ? "%" PRIu64 : "-", row->count);
}

static void text_behind(const struct model *model, const struct view_row *row,
			char *buffer, size_t size)
{
	size_t behind = behind_of(model, row);

	snprintf(buffer, size, behind ? "%zu" : "-", behind);
}

static void text_delay(const struct model *model, const struct view_row *row,
		       char *buffer, size_t size)
{
	wait_time_text(lock_row(model, row)->delay, buffer, size);
}

/* As in the format locks: ">" marks a time for which all snapshots found a thread in this
 * wait, even though it ran in between. */
static void text_longest(const struct model *model, const struct view_row *row,
			 char *buffer, size_t size)
{
	const struct lock_row *lock = lock_row(model, row);

	if (is_found_longer(lock))
		found_time_text(lock->longest_found, buffer, size);
	else if (lock->longest)
		wait_time_text(lock->longest, buffer, size);
	else
		snprintf(buffer, size, "-");
}

static void text_holder(const struct model *model, const struct view_row *row,
			char *buffer, size_t size)
{
	const struct lock_row *lock = lock_row(model, row);
	struct pmp_live_thread waiter;
	char text[TEXT_SIZE];

	snprintf(buffer, size, "-");
	if (model->saved) {
		const char *holder =
			lock_of(model, lock->lock, 0, text, sizeof(text)).holder;

		if (*holder)
			pmp_escape(holder, buffer, size);
	} else if (lock->waiter != NAME_NONE && !row_is_several(lock)) {
		waiter = model_thread(model, lock->waiter);
		holder_text(model, &waiter, buffer, size);
	}
	if (strcmp(buffer, "-") == 0 && *row_meaning_text(model, row, text, sizeof(text)))
		snprintf(buffer, size, "- %s", text);
}

static void text_kind(const struct model *model, const struct view_row *row, char *buffer,
		      size_t size)
{
	row_kind_text(model, row, buffer, size);
}

static void text_lock(const struct model *model, const struct view_row *row, char *buffer,
		      size_t size)
{
	char text[TEXT_SIZE];

	row_object_text(model, row, model->settings.wait, text, sizeof(text));
	snprintf(buffer, size, "%s", *text ? text + 1 : "-");
}

static uint64_t order_by_holder(const struct model *model, const struct view_row *row)
{
	return order_by_cell(model, row, text_holder);
}

static int compare_holder(const struct model *model, const struct view_row *a,
			  const struct view_row *b)
{
	return compare_cells(model, a, b, text_holder);
}

static uint64_t order_by_kind(const struct model *model, const struct view_row *row)
{
	return order_by_cell(model, row, text_kind);
}

static int compare_kind(const struct model *model, const struct view_row *a,
			const struct view_row *b)
{
	return compare_cells(model, a, b, text_kind);
}

static uint64_t order_by_lock(const struct model *model, const struct view_row *row)
{
	return order_by_cell(model, row, text_lock);
}

static int compare_lock(const struct model *model, const struct view_row *a,
			const struct view_row *b)
{
	return compare_cells(model, a, b, text_lock);
}

static unsigned style_lock(const struct model *model, const struct view_row *row)
{
	switch (lock_row(model, row)->rank) {
	case LOCK_ROW_DEADLOCK: return STYLE_RED | STYLE_BOLD;
	case LOCK_ROW_OTHER: return STYLE_DIM;
	default: return STYLE_PLAIN;
	}
}

static unsigned style_waiting(const struct model *model, const struct view_row *row)
{
	if (lock_row(model, row)->rank != LOCK_ROW_LOCK)
		return style_lock(model, row);
	return row->count && !model->saved ? STYLE_YELLOW : STYLE_PLAIN;
}

enum { WAIT, BEHIND, DELAY, LONGEST, PROCESS, HOLDER, KIND, LOCK, COLUMN_COUNT };

static const struct column columns[COLUMN_COUNT] = {
	[WAIT] = { .title = "WAIT",
		   .width = 5,
		   .text = text_waiting,
		   .style = style_waiting,
		   .order = order_by_waiting,
		   .word = "waiting" },
	[BEHIND] = { .title = "BEHIND",
		     .width = 6,
		     .narrow = 56,
		     .text = text_behind,
		     .style = style_lock,
		     .order = order_by_behind,
		     .word = "behind" },
	[DELAY] = { .title = "DELAY",
		    .width = 7,
		    .text = text_delay,
		    .style = style_lock,
		    .order = order_by_delay,
		    .word = "delay",
		    .sort = PMP_SORT_TOTAL },
	[LONGEST] = { .title = "LONGEST",
		      .width = 7,
		      .narrow = 62,
		      .text = text_longest,
		      .style = style_lock,
		      .order = order_by_longest,
		      .word = "longest" },
	[PROCESS] = COLUMN_PROCESS(100),
	[HOLDER] = { .title = "HOLDER",
		     .width = 22,
		     .narrow = 50,
		     .flags = COLUMN_LEFT,
		     .text = text_holder,
		     .style = style_lock,
		     .order = order_by_holder,
		     .compare = compare_holder,
		     .word = "holder" },
	[KIND] = { .title = "KIND",
		   .width = 11,
		   .narrow = 70,
		   .flags = COLUMN_LEFT,
		   .text = text_kind,
		   .style = style_lock,
		   .order = order_by_kind,
		   .compare = compare_kind,
		   .word = "kind" },
	[LOCK] = { .title = "LOCK",
		   .flags = COLUMN_LEFT,
		   .text = text_lock,
		   .style = style_lock,
		   .order = order_by_lock,
		   .compare = compare_lock,
		   .word = "lock" },
};

const struct view_type view_locks = {
	.name = "Locks",
	.word = "locks",
	.help = "locks: who waits for them, who holds them",
	.key = '5',
	.row = ROW_LOCK,
	.steps = { model_prepare, model_locks, model_order },
	.columns = columns,
	.column_count = COLUMN_COUNT,
	.sort = DELAY,
	.nothing = "No waits were found",
};
