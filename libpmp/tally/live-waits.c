/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the threads of a view wait for, for how long, and who waits for whom. */
#include "tally/live-tables.h"

#define CHAIN_MAX 32 /* threads from one that waits to the one that has to finish first */
#define CIRCLE_MAX 64 /* threads in a deadlock */

/* The same wait as in its last sample: it has not run since. A stop adds two runs. */
static bool waits_on(const struct pmp_counted_thread *thread,
		     const struct pmp_thread *now)
{
	uint64_t stopped = thread->obtained == PMP_STOPPED ? 2 : 0;

	if (thread->lock == PMP_LOCK_NONE || thread->wait.kind != now->wait.kind ||
	    thread->wait.object != now->wait.object)
		return false;
	return now->obtained == PMP_UNCHANGED ||
	       (now->runs && now->runs == thread->runs + stopped);
}

/* What it waits for, whoever holds that. False: no memory. */
static bool find_lock(struct pmp_live *live, size_t i, uint32_t *number)
{
	struct pmp_lock lock;

	*number = PMP_LOCK_NONE;
	if (!pmp_sample_locks_get(&live->sample_locks, i, &lock))
		return true;
	lock.holder_is = lock.absent = 0;
	lock.holder = 0;
	lock.holder_name = "";
	*number = pmp_locks_add(live->locks, &lock);
	return *number != PMP_LOCK_NONE;
}

bool pmp_live_take_wait(struct pmp_live *live, uint32_t row, size_t i, uint64_t time)
{
	struct pmp_counted_thread *thread = &live->threads[row];
	const struct pmp_thread *now = &live->sample_locks.sample->threads[i];

	if (!waits_on(thread, now)) {
		if (!find_lock(live, i, &thread->lock))
			return false;
		/* It may have slept there for long before. */
		thread->wait_since = now->asleep_since && now->asleep_since < time
					     ? now->asleep_since
					     : time;
	}
	thread->wait = now->wait;
	thread->runs = now->runs;
	thread->holder = PMP_INTERN_NONE;
	thread->behind = 0;
	return true;
}

void pmp_live_count_wait(struct pmp_live *live, const struct pmp_counted_counter *counter,
			 uint64_t passed, uint64_t time)
{
	struct pmp_live_wait_times *wait;
	uint64_t waited = time - live->threads[counter->thread].wait_since;

	if (counter->wait == PMP_INTERN_NONE)
		return;
	wait = &live->waits[counter->wait];
	if (wait->longest < waited)
		wait->longest = waited;
	for (int i = 0; i < PMP_WINDOW_COUNT; i++) {
		wait->delays[i] += passed;
		if (i != PMP_WINDOW_START)
			pmp_longest_add(&wait->longest_of[i], pmp_live_window_times[i],
					time, waited);
	}
}

/* The thread that thread i of the sample waits for. */
static uint32_t find_holder(const struct pmp_live *live, size_t i)
{
	size_t holder = pmp_sample_locks_holder(&live->sample_locks, i);

	return holder == PMP_NO_HOLDER ? PMP_INTERN_NONE : live->rows[holder];
}

static bool is_deadlocked(const struct pmp_live *live, uint32_t row)
{
	return live->threads[row].wait.flags & PMP_WAIT_DEADLOCK;
}

/* It waits for all on its way to the root, or to the first of a circle. */
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

/* How many threads are in the circle of which it is the first one; else 0. */
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

/* All of them wait for each other, and so for themselves; who waits for one does for all. */
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
