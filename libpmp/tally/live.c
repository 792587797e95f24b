/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts for a view. There is a counter for each thread, stack and state (running, asleep,
 * waiting for a lock). It has three counts: since the start, and before each of two
 * windows, so that a view reads its numbers (live-read.c) without summing up anything. The
 * history of the last minute tells what leaves a window (live-windows.c). live-count.c
 * counts samples, live-saved.c a saved profile.
 *
 * Memory is bounded: live-merge.c rebuilds all tables when they become too large.
 */
#include "tally/live.h"

#include <stdlib.h>
#include <string.h>

#include "libpmp-program.h"
#include "base/alloc.h"
#include "base/intern.h"
#include "tally/live-tables.h"

const uint64_t pmp_live_window_times[PMP_WINDOW_COUNT] = {
	[PMP_WINDOW_START] = UINT64_MAX,
	[PMP_WINDOW_MINUTE] = PMP_LIVE_WINDOW_MAX,
	[PMP_WINDOW_SECONDS] = 10 * PMP_S,
};

/* ---- life ------------------------------------------------------------------ */

struct pmp_live *pmp_live_new(void)
{
	struct pmp_live *live = calloc(1, sizeof(*live));
	const uint32_t none = PMP_END_EVICTED;

	if (!live)
		return NULL;
	live->process_keys = pmp_intern_new();
	live->thread_keys = pmp_intern_new();
	live->stack_keys = pmp_intern_new();
	live->counter_keys = pmp_intern_new();
	live->past = pmp_history_new(PMP_LIVE_HISTORY_SIZE, PMP_LIVE_WINDOW_MAX, false);
	/* Stack 0, made below, stands for all stacks beyond the limit. */
	live->locks = pmp_locks_new();
	if (!live->process_keys || !live->thread_keys || !live->stack_keys ||
	    !live->counter_keys || !live->past || !live->locks ||
	    pmp_intern(live->stack_keys, &none, sizeof(none)) == PMP_INTERN_NONE) {
		pmp_live_free(live);
		return NULL;
	}
	return live;
}

void pmp_live_free(struct pmp_live *live)
{
	if (!live)
		return;
	pmp_intern_free(live->process_keys);
	pmp_intern_free(live->thread_keys);
	pmp_intern_free(live->stack_keys);
	pmp_intern_free(live->counter_keys);
	pmp_intern_free(live->calls);
	pmp_locks_free(live->locks);
	pmp_sample_locks_free(&live->sample_locks);
	pmp_wait_histories_free(&live->histories);
	pmp_live_drop_peers(live, NULL);
	free(live->peers);
	free(live->processes);
	free(live->ended_pids);
	free(live->threads);
	free(live->counters);
	free(live->waits);
	free(live->rows);
	pmp_history_free(live->past);
	free(live->finds);
	for (int i = 0; i < PMP_WINDOW_COUNT; i++)
		free(live->tails[i].threads);
	free(live->words);
	free(live);
}

/* ---- tables ---------------------------------------------------------------- */

uint32_t pmp_live_find_process(struct pmp_live *live, const struct pmp_process_key *key)
{
	struct pmp_counted_process *process;
	uint32_t id;

	if (PMP_RESERVE(&live->processes, &live->process_capacity,
			live->process_count + 1))
		return PMP_INTERN_NONE;
	id = pmp_intern(live->process_keys, key, sizeof(*key));
	if (id == PMP_INTERN_NONE || id < live->process_count)
		return id;
	process = &live->processes[live->process_count++];
	*process = (struct pmp_counted_process){ .pid = key->pid };
	memcpy(process->name, key->name, sizeof(process->name));
	return id;
}

uint32_t pmp_live_find_thread(struct pmp_live *live, const struct pmp_thread_key *key)
{
	uint32_t id = pmp_intern(live->thread_keys, key, sizeof(*key));
	struct pmp_counted_thread *thread;

	if (id == PMP_INTERN_NONE ||
	    PMP_RESERVE(&live->threads, &live->thread_capacity, (size_t)id + 1))
		return PMP_INTERN_NONE;
	if (id < live->thread_count)
		return id;
	thread = &live->threads[live->thread_count++];
	*thread = (struct pmp_counted_thread){ .process = key->process,
					       .tid = key->tid,
					       .counter = PMP_INTERN_NONE,
					       .lock = PMP_LOCK_NONE,
					       .holder = PMP_INTERN_NONE,
					       .syscall = PMP_SYSCALL_UNKNOWN,
					       .cpu_share = -1,
					       .switches = -1 };
	memcpy(thread->name, key->name, sizeof(thread->name));
	return id;
}

/* Add a counter, for which there is room. */
static void add_counter(struct pmp_live *live, const struct pmp_counter_key *key)
{
	uint32_t wait = PMP_INTERN_NONE;

	if (key->lock != PMP_LOCK_NONE) {
		wait = (uint32_t)live->wait_count++;
		live->waits[wait] = (struct pmp_live_wait_times){ 0 };
	}
	live->counters[live->counter_count++] =
		(struct pmp_counted_counter){ .thread = key->thread,
					      .stack = key->stack,
					      .lock = key->lock,
					      .wait = wait,
					      .state = (char)key->state };
}

uint32_t pmp_live_find_counter(struct pmp_live *live,
			       const struct pmp_counted_counter *like)
{
	struct pmp_counter_key key = {
		like->thread,
		like->stack,
		(unsigned char)like->state,
		like->lock,
	};
	uint32_t id;

	if (live->counter_count >= PMP_LIVE_COUNTERS_MAX &&
	    pmp_intern_find(live->counter_keys, &key, sizeof(key)) == PMP_INTERN_NONE) {
		key.stack = 0;
		key.lock = PMP_LOCK_NONE;
	}
	if (PMP_RESERVE(&live->counters, &live->counter_capacity,
			live->counter_count + 1) ||
	    PMP_RESERVE(&live->waits, &live->wait_capacity, live->wait_count + 1))
		return PMP_INTERN_NONE;
	id = pmp_intern(live->counter_keys, &key, sizeof(key));
	if (id != PMP_INTERN_NONE && id == live->counter_count)
		add_counter(live, &key);
	return id;
}

uint32_t pmp_live_find_stack(struct pmp_live *live, const struct pmp_thread *thread,
			     const pmp_location *locations)
{
	size_t count = thread->frame_count, bytes;

	if (PMP_RESERVE(&live->words, &live->words_capacity, count + 1))
		return PMP_INTERN_NONE;
	live->words[0] = thread->end;
	if (count)
		memcpy(live->words + 1, locations + thread->frame,
		       count * sizeof(*locations));
	bytes = (count + 1) * sizeof(*live->words);
	if (pmp_intern_count(live->stack_keys) >= PMP_LIVE_STACKS_MAX) {
		uint32_t known = pmp_intern_find(live->stack_keys, live->words, bytes);

		live->info.merged += known == PMP_INTERN_NONE;
		return known == PMP_INTERN_NONE ? 0 : known;
	}
	return pmp_intern(live->stack_keys, live->words, bytes);
}

uint64_t pmp_live_longest(const struct pmp_live *live, uint32_t wait,
			  enum pmp_window window, bool found)
{
	const struct pmp_live_wait_times *counted = &live->waits[wait];

	if (window == PMP_WINDOW_START)
		return found ? counted->longest_found : counted->longest;
	return pmp_longest_get(found ? &counted->longest_found_of[window]
				     : &counted->longest_of[window],
			       pmp_live_window_times[window], live->info.time);
}

uint64_t pmp_live_size(const struct pmp_live *live)
{
	return pmp_intern_size(live->process_keys) + pmp_intern_size(live->thread_keys) +
	       pmp_intern_size(live->stack_keys) + pmp_intern_size(live->counter_keys) +
	       live->process_capacity * sizeof(*live->processes) +
	       live->thread_capacity * sizeof(*live->threads) +
	       live->counter_capacity * sizeof(*live->counters) +
	       live->wait_capacity * sizeof(*live->waits) + pmp_locks_size(live->locks);
}

void pmp_live_mark(const struct pmp_live *live, bool *used)
{
	for (uint32_t i = 0; i < pmp_intern_count(live->stack_keys); i++) {
		size_t length;
		const uint32_t *words = pmp_intern_data(live->stack_keys, i, &length);

		for (size_t k = 1; k < length / sizeof(*words); k++)
			used[words[k]] = true;
	}
	for (uint32_t i = 0; i < pmp_locks_count(live->locks); i++) {
		pmp_location location = pmp_locks_get(live->locks, i)->object.location;

		if (location != PMP_LOCATION_NONE)
			used[location] = true;
	}
}

void pmp_live_renumbered(struct pmp_live *live)
{
	live->info.renumbered++;
}
