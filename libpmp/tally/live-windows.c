/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A window has what was counted since the start minus what was counted before the window.
 * The latter comes from the history, whose oldest samples leave a window one by one. A
 * thread is counted when it leaves a counter, for all samples until then, so a thread that
 * stays in its counter costs nothing.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/intern.h"
#include "tally/live-tables.h"

static struct pmp_counted_process *owner_of(const struct pmp_live *live,
					    const struct pmp_counted_counter *counter)
{
	return &live->processes[live->threads[counter->thread].process];
}

/* ---- what is in a window --------------------------------------------------------- */

uint64_t pmp_live_samples(const struct pmp_live *live, uint32_t process,
			  enum pmp_window window)
{
	const struct pmp_counted_process *counted = &live->processes[process];

	if (window == PMP_WINDOW_START)
		return counted->samples;
	return live->saved ? 0 : counted->samples - counted->before[window].samples;
}

uint64_t pmp_live_finds(const struct pmp_live *live, uint32_t counter,
			enum pmp_window window)
{
	const struct pmp_counted_counter *counted = &live->counters[counter];
	const struct pmp_counted_before *before = &counted->before[window];
	uint32_t samples;

	if (window == PMP_WINDOW_START)
		return counted->count;
	if (live->saved)
		return 0;
	/* 32 bits are enough for the finds in a window. */
	samples = (uint32_t)owner_of(live, counted)->before[window].samples;
	return (uint32_t)counted->count - before->count - before->threads * samples;
}

uint64_t pmp_live_delay(const struct pmp_live *live, uint32_t counter,
			enum pmp_window window)
{
	const struct pmp_counted_counter *counted = &live->counters[counter];
	const struct pmp_live_wait_times *wait = &live->waits[counted->wait];

	if (window == PMP_WINDOW_START)
		return wait->delay;
	return live->saved ? 0
			   : wait->delay - wait->before[window] -
				     counted->before[window].threads *
					     owner_of(live, counted)->before[window].time;
}

/* ---- samples leave it --------------------------------------------------------------- */

/* From now on a thread is no longer counted in this counter. */
static void leave_counter(struct pmp_live *live, uint32_t counter, enum pmp_window window)
{
	struct pmp_counted_counter *counted = &live->counters[counter];
	const struct pmp_counted_process *owner = owner_of(live, counted);

	counted->before[window].threads--;
	counted->before[window].count += (uint32_t)owner->before[window].samples;
	if (counted->wait != PMP_INTERN_NONE)
		live->waits[counted->wait].before[window] += owner->before[window].time;
}

void pmp_live_enter(struct pmp_live *live, uint32_t counter, enum pmp_window window,
		    uint32_t threads)
{
	struct pmp_counted_counter *counted = &live->counters[counter];
	const struct pmp_counted_process *owner = owner_of(live, counted);

	counted->before[window].threads += threads;
	counted->before[window].count -=
		threads * (uint32_t)owner->before[window].samples;
	if (counted->wait != PMP_INTERN_NONE)
		live->waits[counted->wait].before[window] -=
			threads * owner->before[window].time;
}

/* Move a thread to the counter `to`; PMP_INTERN_NONE: the thread has ended. */
static void move_thread(struct pmp_live *live, enum pmp_window window, uint32_t *thread,
			uint32_t to)
{
	if (*thread == to)
		return;
	if (*thread != PMP_INTERN_NONE)
		leave_counter(live, *thread, window);
	if (to != PMP_INTERN_NONE)
		pmp_live_enter(live, to, window, 1);
	*thread = to;
}

static void apply(struct pmp_live *live, enum pmp_window window,
		  const struct pmp_change *changes, size_t count)
{
	uint32_t *threads = live->tails[window].threads;

	for (size_t i = 0; i < count; i++) {
		const struct pmp_change *change = &changes[i];
		uint32_t wait;

		switch (pmp_change_kind(change)) {
		case PMP_CHANGE_THREAD:
			move_thread(live, window, &threads[change->thread],
				    change->entry);
			break;
		case PMP_CHANGE_GONE:
			move_thread(live, window, &threads[change->thread],
				    PMP_INTERN_NONE);
			break;
		case PMP_CHANGE_MORE:
			wait = live->counters[change[-1].entry].wait;
			if (wait != PMP_INTERN_NONE)
				live->waits[wait].before[window] +=
					pmp_change_wall(change);
			break;
		default: break;
		}
	}
}

/* Find a process. They are sampled in turn, so it is mostly that of the last sample or the
 * next one. NULL: it is no longer known. */
static struct pmp_counted_process *find_process(struct pmp_live *live,
						struct pmp_live_tail *tail, pid_t pid)
{
	const struct pmp_process_key key = { .pid = pid };

	for (uint32_t i = 0; i < 2 && tail->process < live->process_count; i++) {
		if (live->processes[tail->process].pid == pid)
			return &live->processes[tail->process];
		tail->process++;
	}
	tail->process = pmp_intern_find(live->process_keys, &key, sizeof(key));
	return tail->process == PMP_INTERN_NONE ? NULL : &live->processes[tail->process];
}

/* The oldest sample leaves a window. */
static void leave(struct pmp_live *live, enum pmp_window window,
		  const struct pmp_past_sample *sample, const struct pmp_change *changes)
{
	struct pmp_live_tail *tail = &live->tails[window];
	struct pmp_counted_process *process;

	if (pmp_history_is_after_gap(live->past, &tail->at))
		for (size_t i = 0; i < tail->thread_count; i++)
			move_thread(live, window, &tail->threads[i], PMP_INTERN_NONE);
	apply(live, window, changes, sample->changes);
	if (!sample->ended) {
		process = find_process(live, tail, sample->pid);
		if (process) {
			process->before[window].samples++;
			process->before[window].time += sample->passed;
		}
		live->windows[window].samples--;
		live->windows[window].stacks -= sample->stacks;
	}
	pmp_history_go_on(&tail->at, sample);
}

static void expire(struct pmp_live *live, enum pmp_window window, uint64_t now,
		   uint64_t segment)
{
	struct pmp_live_tail *tail = &live->tails[window];
	const struct pmp_past_sample *sample;
	const struct pmp_change *changes;

	while ((sample = pmp_history_at(live->past, &tail->at, &changes)) &&
	       (tail->at.segment < segment ||
		(now > sample->time &&
		 now - sample->time > pmp_live_window_times[window])))
		leave(live, window, sample, changes);
	live->windows[window].span = sample ? now - sample->time : 0;
}

int pmp_live_make_room(struct pmp_live *live, const struct pmp_sample *sample)
{
	int code = pmp_history_begin(live->past, sample);
	const size_t most = pmp_history_thread_count(live->past) + sample->thread_count;
	const uint64_t kept = pmp_history_kept(live->past, sample->time);

	for (int i = PMP_WINDOW_MINUTE; i < PMP_WINDOW_COUNT && !code; i++) {
		struct pmp_live_tail *tail = &live->tails[i];

		code = PMP_RESERVE(&tail->threads, &tail->thread_capacity, most);
		while (!code && tail->thread_count < most)
			tail->threads[tail->thread_count++] = PMP_INTERN_NONE;
	}
	if (code)
		return PMP_ENOMEM;
	/* What the history cannot keep leaves the windows, too: their .span shows that. */
	for (int i = PMP_WINDOW_MINUTE; i < PMP_WINDOW_COUNT; i++)
		expire(live, (enum pmp_window)i, sample->time, kept);
	pmp_history_drop(live->past, kept);
	return 0;
}

void pmp_live_renumber_windows(struct pmp_live *live, const uint32_t *counters)
{
	pmp_history_renumber(live->past, counters);
	for (int i = PMP_WINDOW_MINUTE; i < PMP_WINDOW_COUNT; i++)
		for (size_t k = 0; k < live->tails[i].thread_count; k++) {
			uint32_t *thread = &live->tails[i].threads[k];

			if (*thread != PMP_INTERN_NONE)
				*thread = counters[*thread];
		}
}
