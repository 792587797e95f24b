/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bounded memory: threads that come and go are put together by name once they have been
 * gone for longer than any window. When there are too many stacks, those that are counted
 * least, and in no window, are counted as one. All tables are made anew then.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "tally/group.h"
#include "tally/live-tables.h"
#include "tally/live.h"

#define THREADS_MAX 16384	/* rows; more, and the ended are put together */
#define ENDED_MAX 4096		/* names of threads that have ended; more are one */
#define MERGE_TIME (10 * PMP_S) /* at least, between two times of putting together */

/* The row that a thread has after those that have ended were put together. */
static uint32_t move_thread(struct pmp_live *live, const struct pmp_counted_thread *old,
			    uint64_t now)
{
	struct pmp_thread_key key = { .process = old->process, .tid = old->tid };
	bool ended = now - old->seen > PMP_LIVE_WINDOW_MAX;
	size_t count;
	uint32_t id;

	if (ended || !old->tid) {
		key.tid = 0;
		/* The threads of a pool are one row when they are gone. */
		pmp_group_fold(old->name, key.name, sizeof(key.name));
		/* Each has a name of its own. */
		if (live->ended_count >= ENDED_MAX &&
		    pmp_intern_find(live->thread_keys, &key, sizeof(key)) ==
			    PMP_INTERN_NONE)
			key = (struct pmp_thread_key){ .process = old->process,
						       .name = "[others]" };
	}
	count = live->thread_count;
	id = pmp_live_find_thread(live, &key);
	if (id == PMP_INTERN_NONE)
		return id;
	live->ended_count += !key.tid && live->thread_count > count;
	if (key.tid)
		live->threads[id] = *old;
	else if (old->tid)
		live->info.merged++;
	live->threads[id].cell = PMP_INTERN_NONE;
	return id;
}

static void add_counts(struct pmp_counted_cell *to, const struct pmp_counted_cell *from)
{
	to->syscall = from->syscall;
	for (int i = 0; i < PMP_WINDOW_COUNT; i++)
		to->counts[i] += from->counts[i];
}

/* How much a stack is worth to be kept. */
struct worth {
	uint64_t recent, count;
	uint32_t stack;
};

static int compare_worth(const void *a, const void *b)
{
	const struct worth *one = a, *other = b;

	if (one->recent != other->recent)
		return one->recent < other->recent ? 1 : -1;
	if (one->count != other->count)
		return one->count < other->count ? 1 : -1;
	return (one->stack < other->stack) - (one->stack > other->stack);
}

/* Set stays[i] of the half of all stacks that are worth most; 0 is one of them. */
static int choose_stacks(const struct pmp_live *live, uint32_t *stays)
{
	size_t count = pmp_intern_count(live->stack_keys);
	struct worth *worth = calloc(count, sizeof(*worth));

	if (!worth)
		return PMP_ENOMEM;
	for (size_t i = 0; i < count; i++)
		worth[i].stack = (uint32_t)i;
	for (size_t i = 0; i < live->cell_count; i++) {
		const struct pmp_counted_cell *cell = &live->cells[i];

		worth[cell->stack].count += cell->counts[PMP_WINDOW_START];
		worth[cell->stack].recent += cell->counts[PMP_WINDOW_MINUTE];
	}
	worth[0].recent = UINT64_MAX;
	qsort(worth, count, sizeof(*worth), compare_worth);
	for (size_t i = 0; i < count / 2 + 1 && i < count; i++)
		stays[worth[i].stack] = true;
	free(worth);
	return 0;
}

static bool has_many_stacks(const struct pmp_live *live)
{
	return live->cell_count >= PMP_LIVE_CELLS_MAX ||
	       pmp_intern_count(live->stack_keys) >= PMP_LIVE_STACKS_MAX;
}

/* Put the stacks, or half of them if they are many, into the new table. stacks[i]
 * becomes the new number of stack i, 0 for those that are left out. */
static int move_stacks(struct pmp_live *live, const struct pmp_live *old, bool many,
		       uint32_t *stacks)
{
	size_t count = pmp_intern_count(old->stack_keys), length;

	if (many && choose_stacks(old, stacks))
		return PMP_ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		const void *words = pmp_intern_data(old->stack_keys, i, &length);

		if (many && !stacks[i]) {
			live->info.merged++;
			continue;
		}
		stacks[i] = pmp_intern(live->stack_keys, words, length);
		if (stacks[i] == PMP_INTERN_NONE)
			return PMP_ENOMEM;
	}
	live->info.renumbered += many;
	return 0;
}

/* Fill the new tables, which are empty, from the old ones. cells[i] becomes the new
 * number of cell i, stacks[i] is that of stack i. */
static int move_all(struct pmp_live *live, const struct pmp_live *old, uint64_t now,
		    const uint32_t *stacks, uint32_t *cells)
{
	uint32_t *threads = calloc(old->thread_count + 1, sizeof(*threads));
	int code = threads ? 0 : PMP_ENOMEM;

	for (size_t i = 0; i < old->thread_count && !code; i++) {
		threads[i] = move_thread(live, &old->threads[i], now);
		code = threads[i] == PMP_INTERN_NONE ? PMP_ENOMEM : 0;
	}
	for (size_t i = 0; i < old->cell_count && !code; i++) {
		const struct pmp_counted_cell *cell = &old->cells[i];

		struct pmp_counted_cell moved = *cell;

		moved.thread = threads[cell->thread];
		moved.stack = stacks[cell->stack];
		cells[i] = pmp_live_find_cell(live, &moved);
		if (cells[i] == PMP_INTERN_NONE)
			code = PMP_ENOMEM;
		else
			add_counts(&live->cells[cells[i]], cell);
	}
	free(threads);
	return code;
}

static void free_tables(struct pmp_live *live)
{
	pmp_intern_free(live->thread_keys);
	pmp_intern_free(live->stack_keys);
	pmp_intern_free(live->cell_keys);
	free(live->threads);
	free(live->cells);
}

static int make_anew(struct pmp_live *new, const struct pmp_live *old, bool many,
		     uint32_t *cells)
{
	uint32_t *stacks = calloc(pmp_intern_count(old->stack_keys), sizeof(*stacks));
	int code = PMP_ENOMEM;

	new->thread_keys = pmp_intern_new();
	new->stack_keys = pmp_intern_new();
	new->cell_keys = pmp_intern_new();
	new->threads = NULL;
	new->cells = NULL;
	new->thread_count = new->thread_capacity = new->ended_count = 0;
	new->cell_count = new->cell_capacity = 0;
	if (stacks && cells && new->thread_keys &&new->stack_keys &&new->cell_keys)
		code = move_stacks(new, old, many, stacks);
	if (!code)
		code = move_all(new, old, old->info.time, stacks, cells);
	free(stacks);
	return code;
}

/* Put threads together that ended before any window begins, and the lesser half of the
 * stacks if they are too many. On failure all is as before. */
static int merge(struct pmp_live *live, bool many)
{
	struct pmp_live new = *live;
	uint32_t *cells = calloc(live->cell_count + 1, sizeof(*cells));
	int code = make_anew(&new, live, many, cells);

	if (code) {
		free_tables(&new);
		free(cells);
		return code;
	}
	free_tables(live);
	*live = new;
	live->info.moved++;
	pmp_live_log_renumber(live, cells);
	free(cells);
	return 0;
}

static bool is_full(const struct pmp_live *live)
{
	return live->thread_count > THREADS_MAX || has_many_stacks(live);
}

int pmp_live_merge_if_full(struct pmp_live *live, uint64_t now)
{
	if (!is_full(live) || now < live->merge_time)
		return 0;
	live->merge_time = now + MERGE_TIME;
	return merge(live, has_many_stacks(live));
}

int pmp_live_shrink(struct pmp_live *live)
{
	return live->saved ? 0 : merge(live, true);
}
