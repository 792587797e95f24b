/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of a view is bounded: threads and processes are merged by name once they have
 * been gone for longer than any window. When there are too many stacks, those with the
 * lowest counts, and in no window, are merged into one. All tables are rebuilt then.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/intern.h"
#include "tally/group.h"
#include "tally/live-tables.h"
#include "tally/live.h"

#define THREADS_MAX 16384  /* rows; beyond it, those that have ended are merged */
#define PROCESSES_MAX 4096 /* likewise */
#define ENDED_MAX 4096	   /* names of ended threads, or processes; then "[others]" */
#define ENDED_TIME (PMP_LIVE_WINDOW_MAX + PMP_S) /* gone from all windows after this */
#define MERGE_TIME (10 * PMP_S)			 /* at least between two merges */

static void add_samples(struct pmp_counted_process *to,
			const struct pmp_counted_process *from)
{
	to->samples += from->samples;
	for (int i = 0; i < PMP_WINDOW_COUNT; i++) {
		to->before[i].samples += from->before[i].samples;
		to->before[i].time += from->before[i].time;
	}
}

/* Move a process to the tables of live; returns its new index. Those that have ended are
 * merged by name, and beyond a number of names into "[others]". */
static uint32_t move_process(struct pmp_live *live, const struct pmp_counted_process *old,
			     uint64_t now)
{
	struct pmp_process_key key = { .pid = old->pid };
	struct pmp_counted_process *process;
	uint32_t id;

	if (!old->pid || now - old->seen > ENDED_TIME) {
		key.pid = 0;
		memcpy(key.name, old->name, sizeof(key.name));
		if (live->process_count >= ENDED_MAX &&
		    pmp_intern_find(live->process_keys, &key, sizeof(key)) ==
			    PMP_INTERN_NONE)
			key = (struct pmp_process_key){ .name = "[others]" };
	}
	id = pmp_live_find_process(live, &key);
	if (id == PMP_INTERN_NONE)
		return id;
	process = &live->processes[id];
	if (key.pid)
		*process = *old;
	else
		add_samples(process, old);
	return id;
}

/* Move a thread, likewise; returns its new row. */
static uint32_t move_thread(struct pmp_live *live, const struct pmp_counted_thread *old,
			    uint32_t process, uint64_t now)
{
	struct pmp_thread_key key = { .process = process, .tid = old->tid };
	bool ended = now - old->seen > ENDED_TIME;
	size_t count;
	uint32_t id;

	if (ended || !old->tid) {
		key.tid = 0;
		/* The threads of a pool become one row when they have ended. */
		pmp_group_fold(old->name, key.name, sizeof(key.name));
		/* Names may be all different. */
		if (live->ended_count >= ENDED_MAX &&
		    pmp_intern_find(live->thread_keys, &key, sizeof(key)) ==
			    PMP_INTERN_NONE)
			key = (struct pmp_thread_key){ .process = process,
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
	live->threads[id].process = process;
	live->threads[id].counter = PMP_INTERN_NONE;
	/* Rows have moved; the next sample sets the holder again. */
	live->threads[id].holder = PMP_INTERN_NONE;
	return id;
}

static void add_longest(struct pmp_longest *to, const struct pmp_longest *from,
			uint64_t window, uint64_t now)
{
	pmp_longest_add(to, window, now, pmp_longest_get(from, window, now));
}

/* Add the old counter's wait times to the new one. */
static void add_wait_times(struct pmp_live_wait_times *to,
			   const struct pmp_live_wait_times *from, uint64_t now)
{
	if (to->longest < from->longest)
		to->longest = from->longest;
	if (to->longest_found < from->longest_found)
		to->longest_found = from->longest_found;
	to->delay += from->delay;
	for (int i = PMP_WINDOW_MINUTE; i < PMP_WINDOW_COUNT; i++) {
		add_longest(&to->longest_of[i], &from->longest_of[i],
			    pmp_live_window_times[i], now);
		add_longest(&to->longest_found_of[i], &from->longest_found_of[i],
			    pmp_live_window_times[i], now);
	}
}

static void add_counts(struct pmp_live *live, uint32_t id, const struct pmp_live *old,
		       const struct pmp_counted_counter *from)
{
	struct pmp_counted_counter *to = &live->counters[id];

	const uint32_t number = (uint32_t)(from - old->counters);
	const bool waits = from->wait != PMP_INTERN_NONE && to->wait != PMP_INTERN_NONE;

	to->syscall = from->syscall;
	to->count += from->count;
	/* The sums of its process may have changed, so convert what is before a window. */
	for (int i = PMP_WINDOW_MINUTE; i < PMP_WINDOW_COUNT; i++) {
		const enum pmp_window window = (enum pmp_window)i;

		to->before[i].count +=
			(uint32_t)(from->count - pmp_live_finds(old, number, window));
		if (waits)
			live->waits[to->wait].before[i] +=
				old->waits[from->wait].delay -
				pmp_live_delay(old, number, window);
		pmp_live_enter(live, id, window, from->before[i].threads);
	}
	if (waits)
		add_wait_times(&live->waits[to->wait], &old->waits[from->wait],
			       live->info.time);
}

/* How much a stack is worth keeping. */
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

/* Set stays[i] of the half of all stacks that are worth most, among them stack 0. */
static int choose_stacks(const struct pmp_live *live, uint32_t *stays)
{
	size_t count = pmp_intern_count(live->stack_keys);
	struct worth *worth = calloc(count, sizeof(*worth));

	if (!worth)
		return PMP_ENOMEM;
	for (size_t i = 0; i < count; i++)
		worth[i].stack = (uint32_t)i;
	for (size_t i = 0; i < live->counter_count; i++) {
		const struct pmp_counted_counter *counter = &live->counters[i];

		worth[counter->stack].count += counter->count;
		worth[counter->stack].recent +=
			pmp_live_finds(live, (uint32_t)i, PMP_WINDOW_MINUTE);
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
	return live->counter_count >= PMP_LIVE_COUNTERS_MAX ||
	       pmp_intern_count(live->stack_keys) >= PMP_LIVE_STACKS_MAX;
}

/* Put all stacks, or half of them if `many`, into the new table. stacks[i] becomes the new
 * number of stack i; 0: it was left out. */
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

/* The new number of each process, stack and counter. */
struct moves {
	uint32_t *processes, *stacks, *counters;
};

static bool make_moves(struct moves *moves, const struct pmp_live *live)
{
	moves->processes = calloc(live->process_count + 1, sizeof(*moves->processes));
	moves->stacks =
		calloc(pmp_intern_count(live->stack_keys), sizeof(*moves->stacks));
	moves->counters = calloc(live->counter_count + 1, sizeof(*moves->counters));
	return moves->processes && moves->stacks && moves->counters;
}

static void free_moves(struct moves *moves)
{
	free(moves->processes);
	free(moves->stacks);
	free(moves->counters);
}

static int move_counters(struct pmp_live *live, const struct pmp_live *old,
			 const uint32_t *threads, const struct moves *moves)
{
	for (size_t i = 0; i < old->counter_count; i++) {
		struct pmp_counted_counter moved = old->counters[i];

		moved.thread = threads[moved.thread];
		moved.stack = moves->stacks[moved.stack];
		moves->counters[i] = pmp_live_find_counter(live, &moved);
		if (moves->counters[i] == PMP_INTERN_NONE)
			return PMP_ENOMEM;
		add_counts(live, moves->counters[i], old, &old->counters[i]);
	}
	return 0;
}

/* Fill the new tables, of which only stacks is filled, from the old ones. */
static int move_all(struct pmp_live *live, const struct pmp_live *old, uint64_t now,
		    const struct moves *moves)
{
	uint32_t *threads = calloc(old->thread_count + 1, sizeof(*threads));
	int code = threads ? 0 : PMP_ENOMEM;

	for (size_t i = 0; i < old->process_count && !code; i++) {
		moves->processes[i] = move_process(live, &old->processes[i], now);
		code = moves->processes[i] == PMP_INTERN_NONE ? PMP_ENOMEM : 0;
	}
	for (size_t i = 0; i < old->thread_count && !code; i++) {
		const struct pmp_counted_thread *thread = &old->threads[i];

		threads[i] =
			move_thread(live, thread, moves->processes[thread->process], now);
		code = threads[i] == PMP_INTERN_NONE ? PMP_ENOMEM : 0;
	}
	if (!code)
		code = move_counters(live, old, threads, moves);
	free(threads);
	return code;
}

static void free_tables(struct pmp_live *live)
{
	pmp_intern_free(live->process_keys);
	pmp_intern_free(live->thread_keys);
	pmp_intern_free(live->stack_keys);
	pmp_intern_free(live->counter_keys);
	free(live->processes);
	free(live->threads);
	free(live->counters);
	free(live->waits);
}

/* Make empty tables. False: out of memory. */
static bool make_tables(struct pmp_live *live)
{
	live->process_keys = pmp_intern_new();
	live->thread_keys = pmp_intern_new();
	live->stack_keys = pmp_intern_new();
	live->counter_keys = pmp_intern_new();
	live->processes = NULL;
	live->threads = NULL;
	live->counters = NULL;
	live->waits = NULL;
	live->wait_count = live->wait_capacity = 0;
	live->process_count = live->process_capacity = 0;
	live->thread_count = live->thread_capacity = live->ended_count = 0;
	live->counter_count = live->counter_capacity = 0;
	return live->process_keys && live->thread_keys && live->stack_keys &&
	       live->counter_keys;
}

/* Merge processes and threads that ended before any window and, if `many`, the half of the
 * stacks that is worth least. On failure nothing changes. */
static int merge(struct pmp_live *live, bool many)
{
	struct pmp_live new = *live;
	struct moves moves;
	bool made = make_tables(&new);
	int code = PMP_ENOMEM;

	if (make_moves(&moves, live) && made)
		code = move_stacks(&new, live, many, moves.stacks);
	if (!code)
		code = move_all(&new, live, live->info.time, &moves);
	free_tables(code ? &new : live);
	if (!code) {
		*live = new;
		live->row_count = 0;
		live->info.moved++;
		pmp_live_renumber_windows(live, moves.counters);
	}
	free_moves(&moves);
	return code;
}

static bool is_full(const struct pmp_live *live)
{
	return live->thread_count > THREADS_MAX || live->process_count > PROCESSES_MAX ||
	       has_many_stacks(live);
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
