/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A saved profile for a view. It consists of entries, which have no times, so there is no
 * history and no window but that since the start.
 */
#include <limits.h>
#include <string.h>

#include "libpmp-program.h"
#include "base/alloc.h"
#include "tally/live-tables.h"
#include "tally/live.h"

#define PROCESSES_MAX 256	       /* further ones are merged */
#define SAVED_THREADS_MAX (64u * 1024) /* likewise */

static void cut_text(char *to, const char *from, size_t size)
{
	size_t length = strnlen(from, size - 1);

	memcpy(to, from, length);
	memset(to + length, 0, size - length);
}

/* Processes are the same if both pid and name are. */
static uint32_t find_saved_process(struct pmp_live *live, const struct pmp_entry *entry)
{
	struct pmp_process_key key = { .pid = entry->pid };

	cut_text(key.name, entry->process, sizeof(key.name));
	if (live->process_count >= PROCESSES_MAX - 1 &&
	    pmp_intern_find(live->process_keys, &key, sizeof(key)) == PMP_INTERN_NONE)
		key = (struct pmp_process_key){ .name = "[others]" };
	return pmp_live_find_process(live, &key);
}

static uint32_t find_saved_thread(struct pmp_live *live, const struct pmp_entry *entry,
				  uint32_t process)
{
	struct pmp_thread_key key = { .process = process, .tid = entry->tid };

	cut_text(key.name, entry->thread, sizeof(key.name));
	if (live->thread_count >= SAVED_THREADS_MAX &&
	    pmp_intern_find(live->thread_keys, &key, sizeof(key)) == PMP_INTERN_NONE) {
		live->info.merged++;
		key = (struct pmp_thread_key){ .process = process, .name = "[others]" };
	}
	return pmp_live_find_thread(live, &key);
}

static int number_of_call(struct pmp_live *live, const char *name)
{
	uint32_t id;

	if (!*name)
		return PMP_SYSCALL_UNKNOWN;
	if (!live->calls)
		live->calls = pmp_intern_new();
	if (!live->calls)
		return PMP_SYSCALL_UNKNOWN;
	id = pmp_intern(live->calls, name, strlen(name));
	return id < INT_MAX - PMP_LIVE_CALLS ? PMP_LIVE_CALLS + (int)id
					     : PMP_SYSCALL_UNKNOWN;
}

static void add_times(struct pmp_counted_thread *thread, const struct pmp_entry *entry)
{
	thread->cpu = pmp_count_sum(thread->cpu, entry->cpu);
	thread->wall = pmp_count_sum(thread->wall, entry->wall);
	if (thread->wall)
		thread->cpu_share = (double)thread->cpu / (double)thread->wall;
	thread->obtained = PMP_OBTAINED_UNKNOWN;
}

/* A thread is shown with what it was found doing most often. */
static void count_saved(struct pmp_live *live, uint32_t row, uint32_t id,
			const struct pmp_entry *entry)
{
	struct pmp_counted_thread *thread = &live->threads[row];
	struct pmp_counted_counter *counter = &live->counters[id];

	counter->count = pmp_count_sum(counter->count, entry->count);
	counter->syscall = number_of_call(live, entry->syscall);
	if (thread->counter != PMP_INTERN_NONE && thread->counter != id &&
	    counter->count <= live->counters[thread->counter].count)
		return;
	thread->counter = id;
	thread->state = entry->state;
	thread->lock = counter->lock;
	thread->syscall = counter->syscall;
	cut_text(thread->wchan, entry->wchan, sizeof(thread->wchan));
	cut_text(thread->reason, entry->reason, sizeof(thread->reason));
}

/* Find the lock of an entry, together with its holder, as a thread is shown only with its
 * most frequent wait. False: out of memory. */
static bool find_saved_lock(struct pmp_live *live, const struct pmp_entry *entry,
			    uint32_t *number)
{
	struct pmp_lock lock;

	*number = PMP_LOCK_NONE;
	if (!entry->waits || !entry->waits->lock)
		return true;
	lock = *entry->waits->lock;
	lock.holder_stack = PMP_HOLDER_STACK_KNOWN;
	*number = pmp_locks_add(live->locks, &lock);
	return *number != PMP_LOCK_NONE;
}

int pmp_live_count(struct pmp_live *live, const struct pmp_entry *entry)
{
	const struct pmp_thread stack = { .end = entry->end,
					  .frame_count = entry->location_count };
	uint32_t process = find_saved_process(live, entry), id;
	struct pmp_counted_counter like = { .state = entry->state };
	struct pmp_live_wait_times *wait;

	if (process == PMP_INTERN_NONE)
		return PMP_ENOMEM;
	live->saved = true;
	like.thread = find_saved_thread(live, entry, process);
	if (like.thread == PMP_INTERN_NONE)
		return PMP_ENOMEM;
	add_times(&live->threads[like.thread], entry);
	/* Without a count it matters only as what the thread did, if nothing better is known. */
	if (!entry->count && live->threads[like.thread].counter != PMP_INTERN_NONE)
		return 0;
	like.stack = pmp_live_find_stack(live, &stack, entry->locations);
	if (like.stack == PMP_INTERN_NONE)
		return PMP_ENOMEM;
	if (!find_saved_lock(live, entry, &like.lock))
		return PMP_ENOMEM;
	id = pmp_live_find_counter(live, &like);
	if (id == PMP_INTERN_NONE)
		return PMP_ENOMEM;
	count_saved(live, like.thread, id, entry);
	wait = live->counters[id].wait == PMP_INTERN_NONE
		       ? NULL
		       : &live->waits[live->counters[id].wait];
	if (wait)
		wait->delay = pmp_count_sum(wait->delay, entry->wall);
	live->windows[PMP_WINDOW_START].stacks =
		pmp_count_sum(live->windows[PMP_WINDOW_START].stacks, entry->count);
	return 0;
}

/* Of a value there are only the stacks that have it: their time is not the thread's. */
static void share_duration(struct pmp_live *live)
{
	const uint64_t span = live->windows[PMP_WINDOW_START].span;

	for (size_t i = 0; i < live->thread_count; i++)
		live->threads[i].cpu_share =
			span ? (double)live->threads[i].cpu / (double)span : -1;
}

void pmp_live_join(struct pmp_live *live, uint64_t samples, uint64_t duration,
		   bool partial)
{
	live->windows[PMP_WINDOW_START].samples += samples;
	live->windows[PMP_WINDOW_START].span += duration;
	/* A snapshot is of one process; assume the same number for each process. */
	for (size_t i = 0; i < live->process_count; i++)
		live->processes[i].samples =
			live->windows[PMP_WINDOW_START].samples / live->process_count;
	if (partial)
		share_duration(live);
}
