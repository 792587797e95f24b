/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the threads of a view wait for, for how long, and who waits for whom. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "tally/live-tables.h"
#include "tally/live.h"

#define CHAIN_MAX 32  /* threads from a waiter to the one that has to finish first */
#define CIRCLE_MAX 64 /* threads in a deadlock */

/* ---- other processes ---------------------------------------------------------- */

static struct pmp_live_peers *find_peers(const struct pmp_live *live, pid_t pid)
{
	for (size_t i = 0; i < live->peer_count; i++)
		if (live->peers[i].pid == pid)
			return &live->peers[i];
	return NULL;
}

void pmp_live_drop_peers(struct pmp_live *live, const pid_t *pid)
{
	for (size_t i = live->peer_count; i-- > 0;) {
		struct pmp_live_peers *peers = &live->peers[i];

		if (pid && peers->pid != *pid)
			continue;
		free(peers->outsides);
		free(peers->others);
		*peers = live->peers[--live->peer_count];
	}
}

static struct pmp_live_peers *add_peers(struct pmp_live *live, pid_t pid)
{
	if (PMP_RESERVE(&live->peers, &live->peer_capacity, live->peer_count + 1))
		return NULL;
	live->peers[live->peer_count] = (struct pmp_live_peers){ .pid = pid };
	return &live->peers[live->peer_count++];
}

/* A sample without outsides may be one for which they were not looked for, so it does not
 * replace those of an earlier one. */
int pmp_live_keep_peers(struct pmp_live *live, const struct pmp_sample *sample)
{
	struct pmp_live_peers *peers = find_peers(live, sample->pid);

	if (!sample->outside_count)
		return 0;
	peers = peers ? peers : add_peers(live, sample->pid);
	if (!peers)
		return PMP_ENOMEM;
	peers->outside_count = peers->other_count = 0;
	if (PMP_RESERVE(&peers->outsides, &peers->outside_capacity,
			sample->outside_count) ||
	    PMP_RESERVE(&peers->others, &peers->other_capacity, sample->other_count + 1))
		return PMP_ENOMEM;
	memcpy(peers->outsides, sample->outsides,
	       sample->outside_count * sizeof(*peers->outsides));
	if (sample->other_count)
		memcpy(peers->others, sample->others,
		       sample->other_count * sizeof(*peers->others));
	peers->outside_count = sample->outside_count;
	peers->other_count = sample->other_count;
	return 0;
}

const struct pmp_outside *pmp_live_find_outside(const struct pmp_live *live,
						size_t thread,
						struct pmp_snapshot *snapshot,
						const struct pmp_wait **wait)
{
	const struct pmp_counted_thread *row = &live->threads[thread];
	const struct pmp_live_peers *peers;

	if (live->saved || !row->wait.outside)
		return NULL;
	peers = find_peers(live, live->processes[row->process].pid);
	if (!peers || row->wait.outside > peers->outside_count)
		return NULL;
	*snapshot = (struct pmp_snapshot){ .info.pid = peers->pid,
					   .outsides = peers->outsides,
					   .others = peers->others };
	*wait = &row->wait;
	return &peers->outsides[row->wait.outside - 1];
}

/* ---- waits --------------------------------------------------------------------- */

static bool has_run(const struct pmp_counted_thread *thread, const struct pmp_thread *now)
{
	uint64_t stopped = thread->obtained == PMP_STOPPED ? PMP_STOP_RUNS : 0;

	return now->obtained != PMP_UNCHANGED &&
	       (!now->runs || now->runs != thread->runs + stopped);
}

/* Is it still in the wait of its last sample, without having run since? */
static bool waits_on(const struct pmp_counted_thread *thread,
		     const struct pmp_thread *now)
{
	return thread->lock != PMP_LOCK_NONE && thread->wait.kind == now->wait.kind &&
	       thread->wait.object == now->wait.object && !has_run(thread, now);
}

/* Does it still wait for something outside of its process? That is not looked for in each
 * sample. */
static bool keeps_waiting(const struct pmp_live *live,
			  const struct pmp_counted_thread *thread,
			  const struct pmp_thread *now)
{
	return thread->lock != PMP_LOCK_NONE && !now->wait.kind &&
	       pmp_wait_is_outside(thread->wait.kind) &&
	       !live->sample_locks.sample->outside_count && !has_run(thread, now);
}

/* The lock that thread i waits for, whoever holds it. False: out of memory. */
static bool find_lock(struct pmp_live *live, size_t i, uint32_t *number)
{
	struct pmp_lock lock;

	*number = PMP_LOCK_NONE;
	if (!pmp_sample_locks_get(&live->sample_locks, i, &lock))
		return true;
	lock.holder_is = lock.holder_stack = 0;
	lock.free_as = 0;
	lock.holder = 0;
	lock.holder_name = "";
	/* Each file has a row of its own; of other outsides, each kind has one. */
	if (lock.kind == PMP_WAIT_FILE)
		lock.address = live->sample_locks.sample->threads[i].wait.object;
	*number = pmp_locks_add(live->locks, &lock);
	return *number != PMP_LOCK_NONE;
}

/* What several samples tell about the wait of thread i. */
static void infer(struct pmp_live *live, struct pmp_counted_thread *thread, size_t i,
		  uint64_t time)
{
	const struct pmp_past_wait *past =
		pmp_wait_history_near(live->history, thread->tid, i);
	const struct pmp_taken_lock *taken =
		pmp_wait_history_taken(live->history, thread->tid);

	thread->found_since = past && past->kind ? past->since : time;
	thread->taker = taken ? taken->taker : 0;
	thread->taken_after = taken ? taken->after : 0;
}

bool pmp_live_take_wait(struct pmp_live *live, uint32_t row, size_t i, uint64_t time)
{
	struct pmp_counted_thread *thread = &live->threads[row];
	const struct pmp_thread *now = &live->sample_locks.sample->threads[i];
	uint32_t outside = now->wait.outside;

	if (keeps_waiting(live, thread, now)) {
		thread->runs = now->runs;
		thread->behind = 0;
		return true;
	}
	if (waits_on(thread, now)) {
		outside = live->sample_locks.sample->outside_count ? now->wait.outside
								   : thread->wait.outside;
	} else {
		if (!find_lock(live, i, &thread->lock))
			return false;
		/* It may have been asleep long before this sample. */
		thread->wait_since = now->asleep_since && now->asleep_since < time
					     ? now->asleep_since
					     : time;
	}
	thread->wait = now->wait;
	thread->wait.outside = outside;
	thread->runs = now->runs;
	thread->holder = PMP_INTERN_NONE;
	thread->behind = 0;
	infer(live, thread, i, time);
	return true;
}

void pmp_live_count_wait(struct pmp_live *live, const struct pmp_counted_counter *counter,
			 uint64_t passed, uint64_t time)
{
	const struct pmp_counted_thread *thread = &live->threads[counter->thread];
	struct pmp_live_wait_times *wait;
	uint64_t waited = time - thread->wait_since, found = time - thread->found_since;

	if (counter->wait == PMP_INTERN_NONE)
		return;
	wait = &live->waits[counter->wait];
	if (wait->longest < waited)
		wait->longest = waited;
	if (wait->longest_found < found)
		wait->longest_found = found;
	wait->delay += passed;
	for (int i = PMP_WINDOW_MINUTE; i < PMP_WINDOW_COUNT; i++) {
		pmp_longest_add(&wait->longest_of[i], pmp_live_window_times[i], time,
				waited);
		pmp_longest_add(&wait->longest_found_of[i], pmp_live_window_times[i],
				time, found);
	}
}

/* The row of the thread that thread i of the sample waits for, or PMP_INTERN_NONE. */
static uint32_t find_holder(const struct pmp_live *live, size_t i)
{
	size_t holder = pmp_sample_locks_holder(&live->sample_locks, i);

	return holder == PMP_NO_HOLDER ? PMP_INTERN_NONE : live->rows[holder];
}

static bool is_deadlocked(const struct pmp_live *live, uint32_t row)
{
	return live->threads[row].wait.flags & PMP_WAIT_DEADLOCK;
}

/* Count a thread as behind all threads on its way to the root, or to the first thread of a
 * cycle. */
static void count_behind(struct pmp_live *live, uint32_t row)
{
	uint32_t at = live->threads[row].holder;

	for (int i = 0; i < CHAIN_MAX && at != PMP_INTERN_NONE && at != row; i++) {
		live->threads[at].behind++;
		if (is_deadlocked(live, at))
			return;
		at = live->threads[at].holder;
	}
}

/* The number of threads in the cycle in which this row is the lowest; else 0. */
static uint32_t circle_from(const struct pmp_live *live, uint32_t row)
{
	uint32_t at = row;

	for (uint32_t i = 1; i <= CIRCLE_MAX && is_deadlocked(live, at); i++) {
		at = live->threads[at].holder;
		if (at == PMP_INTERN_NONE || at < row)
			return 0;
		if (at == row)
			return i;
	}
	return 0;
}

/* Threads in a cycle wait for each other, and so for themselves; a thread that waits for
 * one of them waits for all. */
static void join_circle(struct pmp_live *live, uint32_t first, uint32_t count)
{
	uint32_t behind = count, at = first;

	for (uint32_t i = 0; i < count; i++, at = live->threads[at].holder)
		behind += live->threads[at].behind;
	for (uint32_t i = 0; i < count; i++, at = live->threads[at].holder)
		live->threads[at].behind = behind;
}

size_t pmp_live_connect(struct pmp_live *live, const struct pmp_sample *sample)
{
	size_t deadlocks = 0;

	for (size_t i = 0; i < sample->thread_count; i++)
		if (sample->threads[i].wait.kind)
			live->threads[live->rows[i]].holder = find_holder(live, i);
	for (size_t i = 0; i < sample->thread_count; i++)
		if (!is_deadlocked(live, live->rows[i]))
			count_behind(live, live->rows[i]);
	for (size_t i = 0; i < sample->thread_count; i++) {
		uint32_t count = circle_from(live, live->rows[i]);

		if (count)
			join_circle(live, live->rows[i], count);
		deadlocks += count > 0;
	}
	return deadlocks;
}
