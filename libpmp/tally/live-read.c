/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a view reads; see libpmp-program.h. */
#include <string.h>

#include "libpmp-program.h"
#include "base/sized.h"
#include "base/syscalls.h"
#include "tally/live-tables.h"
#include "tally/live.h"

void pmp_live_info(const struct pmp_live *live, struct pmp_live_info *info)
{
	pmp_sized_give(info, &live->info, sizeof(*info));
}

void pmp_live_window(const struct pmp_live *live, enum pmp_window window,
		     struct pmp_live_window *counted)
{
	pmp_sized_give(counted, &live->windows[window], sizeof(*counted));
}

size_t pmp_live_process_count(const struct pmp_live *live)
{
	return live->process_count;
}

size_t pmp_live_thread_count(const struct pmp_live *live)
{
	return live->thread_count;
}

size_t pmp_live_stack_count(const struct pmp_live *live)
{
	return pmp_intern_count(live->stack_keys);
}

size_t pmp_live_counter_count(const struct pmp_live *live)
{
	return live->counter_count;
}

void pmp_live_process(const struct pmp_live *live, size_t i, enum pmp_window window,
		      struct pmp_live_process *process)
{
	const struct pmp_counted_process *row = &live->processes[i];
	struct pmp_live_process all = { .pid = row->pid,
					.name = row->name,
					.samples = pmp_live_samples(live, (uint32_t)i,
								    window),
					.last = &row->last,
					.deadlocks = row->deadlocks };

	pmp_sized_give(process, &all, sizeof(all));
}

static const char *call_name(const struct pmp_live *live, int number)
{
	const char *name;

	if (number >= PMP_LIVE_CALLS && live->calls)
		name = pmp_intern_data(live->calls, (uint32_t)(number - PMP_LIVE_CALLS),
				       NULL);
	else
		name = pmp_syscall_name(number);

	return name ? name : "";
}

/* Does it wait for a lock, rather than for the end of a thread or an event? */
static bool waits_for_lock(const struct pmp_live *live, uint32_t lock)
{
	return lock != PMP_LOCK_NONE &&
	       pmp_lock_is_contended(pmp_locks_get(live->locks, lock));
}

static unsigned kind_of(const struct pmp_live *live, uint32_t lock)
{
	return lock == PMP_LOCK_NONE ? PMP_WAIT_NONE
				     : pmp_locks_get(live->locks, lock)->kind;
}

static enum pmp_held held_as(const struct pmp_counted_thread *thread)
{
	switch ((enum pmp_holder_is)thread->wait.holder_is) {
	case PMP_HOLDER_FREE: return PMP_HELD_FREE;
	case PMP_HOLDER_THREAD: return PMP_HELD_BY_THREAD;
	case PMP_HOLDER_SELF: return PMP_HELD_BY_ITSELF;
	case PMP_HOLDER_PROCESS: return PMP_HELD_BY_PROCESS;
	case PMP_HOLDER_BEFORE_FORK: return PMP_HELD_BEFORE_FORK;
	case PMP_HOLDER_ENDED: return PMP_HELD_BY_ENDED;
	default: return PMP_HELD_UNKNOWN;
	}
}

/* The row of the thread that has taken what a thread waits for, or SIZE_MAX. */
static size_t taker_of(const struct pmp_live *live, const struct pmp_counted_thread *row)
{
	const struct pmp_thread_key key = { .process = row->process, .tid = row->taker };
	uint32_t id = PMP_INTERN_NONE;

	if (row->taker && row->wait.holder_is == PMP_HOLDER_NONE)
		id = pmp_intern_find(live->thread_keys, &key, sizeof(key));
	return id == PMP_INTERN_NONE ? SIZE_MAX : id;
}

/* The time from `since` to the end of the process's last sample; since 0: 0. */
static uint64_t time_since(const struct pmp_counted_process *process, uint64_t since)
{
	uint64_t now = process->last.time + process->last.duration;

	return since && since < now ? now - since : 0;
}

void pmp_live_thread(const struct pmp_live *live, size_t i,
		     struct pmp_live_thread *thread)
{
	const struct pmp_counted_thread *row = &live->threads[i];
	const struct pmp_counted_process *process = &live->processes[row->process];
	struct pmp_live_thread all = {
		.process = row->process,
		.tid = row->tid,
		.name = row->name,
		.present = live->saved || (row->tid && row->seen == process->last.time),
		.state = row->state ? row->state : '?',
		.obtained = row->obtained,
		.stack = row->counter < live->counter_count
				 ? live->counters[row->counter].stack
				 : 0,
		.reason = row->reason,
		.syscall = call_name(live, row->syscall),
		.waits_for_lock = waits_for_lock(live, row->lock),
		.wchan = row->wchan,
		.cpu = row->cpu,
		.cpu_share = row->cpu_share,
		.switches = row->switches,
		.lock = row->lock == PMP_LOCK_NONE ? SIZE_MAX : row->lock,
		.kind = kind_of(live, row->lock),
		.object = row->wait.object,
		.holder = row->holder == PMP_INTERN_NONE ? SIZE_MAX : row->holder,
		.holder_tid = row->wait.holder,
		.outside = row->wait.outside ? i : SIZE_MAX,
		.held = held_as(row),
		.readers = row->wait.count,
		.behind = row->behind,
		.queued = row->wait.flags & PMP_WAIT_QUEUED,
		.timed = row->wait.flags & PMP_WAIT_TIMED,
		.deadlocked = row->wait.flags & PMP_WAIT_DEADLOCK,
		.moved_on = row->wait.flags & PMP_WAIT_MOVED_ON,
		.waited = row->lock == PMP_LOCK_NONE ? 0 : row->seen - row->wait_since,
		.found = row->lock == PMP_LOCK_NONE ? 0 : row->seen - row->found_since,
		.taker = taker_of(live, row),
		.taken = time_since(process, row->taken_after),
	};

	memcpy(all.args, row->args, sizeof(all.args));
	pmp_sized_give(thread, &all, sizeof(all));
}

void pmp_live_stack(const struct pmp_live *live, size_t i, struct pmp_live_stack *stack)
{
	size_t length;
	const uint32_t *words = pmp_intern_data(live->stack_keys, (uint32_t)i, &length);
	struct pmp_live_stack all = {
		.locations = words + 1,
		.count = length / sizeof(*words) - 1,
		.end = "",
	};

	if (words[0] != PMP_END_ROOT)
		all.end = pmp_end_text(words[0]);
	pmp_sized_give(stack, &all, sizeof(all));
}

void pmp_live_counter(const struct pmp_live *live, size_t i, enum pmp_window window,
		      struct pmp_live_counter *counter)
{
	const struct pmp_counted_counter *row = &live->counters[i];
	struct pmp_live_counter all = {
		.thread = row->thread,
		.stack = row->stack,
		.state = row->state,
		.waits_for_lock = waits_for_lock(live, row->lock),
		.syscall = call_name(live, row->syscall),
		.count = pmp_live_finds(live, (uint32_t)i, window),
		.lock = row->lock == PMP_LOCK_NONE ? SIZE_MAX : row->lock,
		.kind = kind_of(live, row->lock),
	};

	if (row->wait != PMP_INTERN_NONE) {
		all.delay = pmp_live_delay(live, (uint32_t)i, window);
		all.longest = pmp_live_longest(live, row->wait, window, false);
		all.longest_found = pmp_live_longest(live, row->wait, window, true);
	}
	pmp_sized_give(counter, &all, sizeof(all));
}

/* ---- locks --------------------------------------------------------------------- */

size_t pmp_live_lock_count(const struct pmp_live *live)
{
	return pmp_locks_count(live->locks);
}

const struct pmp_lock *pmp_live_get_lock(const struct pmp_live *live, size_t i)
{
	return pmp_locks_get(live->locks, (uint32_t)i);
}
