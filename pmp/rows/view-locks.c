/* SPDX-License-Identifier: GPL-2.0-or-later */
/* View 5: locks, who waits for them, who holds them; deadlocks first. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "libpmp-program.h"
#include "rows/model-rows.h"
#include "rows/model.h"
#include "rows/view-type.h"

#define TEXT_SIZE 512
#define LAST (UINT64_C(1) << 63)

/* ---- their order ------------------------------------------------------------------ */

/* Deadlocks come first in either direction. */
static uint64_t order_by(const struct model *model, const struct view_row *row,
			 uint64_t value)
{
	bool last = !lock_row(model, row)->deadlocked;

	if (model->settings.reverse[model->settings.view])
		last = !last;
	return (value & ~LAST) | (last ? LAST : 0);
}

static uint64_t order_by_waiting(const struct model *model, const struct view_row *row)
{
	return order_by(model, row, ~row->count);
}

static uint64_t order_by_behind(const struct model *model, const struct view_row *row)
{
	return order_by(model, row, ~(uint64_t)lock_row(model, row)->behind);
}

static uint64_t order_by_delay(const struct model *model, const struct view_row *row)
{
	return order_by(model, row, ~lock_row(model, row)->delay);
}

static uint64_t order_by_longest(const struct model *model, const struct view_row *row)
{
	return order_by(model, row, ~lock_row(model, row)->longest);
}

static uint64_t order_by_kind(const struct model *model, const struct view_row *row)
{
	char text[TEXT_SIZE];

	return order_by(model, row,
			order_of_text(lock_of(model, lock_row(model, row)->lock, text,
					      sizeof(text))
					      .kind));
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
	const struct lock_row *lock = lock_row(model, row);

	snprintf(buffer, size, lock->behind ? "%zu" : "-", lock->behind);
}

static void text_time(uint64_t time, char *buffer, size_t size)
{
	uint64_t tenths = time / 100000000;

	if (tenths >= 360000)
		snprintf(buffer, size, "%" PRIu64 "h%02" PRIu64 "m", tenths / 36000,
			 tenths / 600 % 60);
	else
		snprintf(buffer, size, "%" PRIu64 ".%us", tenths / 10,
			 (unsigned)(tenths % 10));
}

static void text_delay(const struct model *model, const struct view_row *row,
		       char *buffer, size_t size)
{
	text_time(lock_row(model, row)->delay, buffer, size);
}

static void text_longest(const struct model *model, const struct view_row *row,
			 char *buffer, size_t size)
{
	/* Nobody was found twice in the same wait. */
	if (!lock_row(model, row)->longest)
		snprintf(buffer, size, "-");
	else
		text_time(lock_row(model, row)->longest, buffer, size);
}

static void text_holder(const struct model *model, const struct view_row *row,
			char *buffer, size_t size)
{
	struct pmp_live_thread waiter = { .size = sizeof(waiter) };
	const struct lock_row *lock = lock_row(model, row);
	char text[TEXT_SIZE];

	if (model->saved) {
		pmp_escape(lock_of(model, lock->lock, text, sizeof(text)).holder, buffer,
			   size);
		if (!*buffer)
			snprintf(buffer, size, "-");
		return;
	}
	snprintf(buffer, size, "-");
	if (lock->waiter == NAME_NONE)
		return;
	pmp_live_thread(model->live, lock->waiter, &waiter);
	holder_text(model, &waiter, buffer, size);
}

static void text_kind(const struct model *model, const struct view_row *row, char *buffer,
		      size_t size)
{
	char text[TEXT_SIZE];

	pmp_escape(lock_of(model, lock_row(model, row)->lock, text, sizeof(text)).kind,
		   buffer, size);
	/* What saved profiles say is the name as well. */
	if (model->saved)
		buffer[strcspn(buffer, " ")] = '\0';
}

static void text_lock(const struct model *model, const struct view_row *row, char *buffer,
		      size_t size)
{
	char text[TEXT_SIZE];
	struct pmp_live_lock lock =
		lock_of(model, lock_row(model, row)->lock, text, sizeof(text));
	const char *name = model->saved ? strchr(lock.kind, ' ') : NULL;

	if (name)
		pmp_escape(name + 1, buffer, size);
	else if (*lock.name)
		snprintf(buffer, size, "%s", lock.name);
	else if (lock.address)
		snprintf(buffer, size, "0x%" PRIx64 "%s%s", lock.address,
			 *lock.place ? " " : "", lock.place);
	else
		snprintf(buffer, size, "-");
}

static unsigned style_lock(const struct model *model, const struct view_row *row)
{
	return lock_row(model, row)->deadlocked ? STYLE_RED | STYLE_BOLD : STYLE_PLAIN;
}

static unsigned style_waiting(const struct model *model, const struct view_row *row)
{
	if (lock_row(model, row)->deadlocked)
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
		     .style = style_lock },
	[KIND] = { .title = "KIND",
		   .width = 9,
		   .narrow = 70,
		   .flags = COLUMN_LEFT,
		   .text = text_kind,
		   .style = style_lock,
		   .order = order_by_kind,
		   .word = "kind" },
	[LOCK] = { .title = "LOCK",
		   .flags = COLUMN_LEFT,
		   .text = text_lock,
		   .style = style_lock },
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
	.nothing = "No waits for locks were found",
};
