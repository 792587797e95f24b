/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each process has two lists, both in the order of a sample's threads, which is that of
 * their ids: that of the last sample, through which a position moves, and that of the new
 * one. A sample in another order finds fewer threads; the others are counted as if they
 * were new. As long as a process stands still it has the same threads, and one list serves
 * as both.
 *
 * Processes are found by their ids. Those that have ended keep their places until they
 * outnumber the others.
 */
#include "tally/thread-cache.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/intern.h"

#define ENDED_MIN 64 /* places of ended processes that are always allowed */

struct cached_thread {
	pid_t tid;
	uint32_t entry;
	uint64_t number; /* of the stack */
};

struct cached_wait {
	struct pmp_wait wait;
	uint64_t runs; /* its run count as long as it does not run; 0: unknown */
};

struct thread_list {
	struct cached_thread *items;
	size_t count, capacity;
	struct cached_wait *waits; /* of the same threads, or NULL */
	size_t wait_capacity;
};

struct cached_process {
	bool ended;
	bool still;	     /* the current sample is in the same standstill as .now */
	uint64_t standstill; /* of .now, or 0 */
	struct thread_list last, now;
	size_t position;	     /* in .last, or in .now if .still */
	struct pmp_counted *counted; /* what .now is counted in; made on demand */
	size_t counted_count, counted_capacity;
};

struct pmp_thread_cache {
	struct pmp_intern *pids; /* id: index of processes */
	struct cached_process *processes;
	size_t count, capacity;
	size_t ended_count; /* of these */
	uint32_t current;   /* the place of the process that was looked up last */
	pid_t current_pid;  /* its pid, unless current is PMP_INTERN_NONE */
	uint64_t list_size; /* bytes of all lists */
	bool waits;
};

struct pmp_thread_cache *pmp_thread_cache_new(bool waits)
{
	struct pmp_thread_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return NULL;
	cache->waits = waits;
	cache->current = PMP_INTERN_NONE;
	cache->pids = pmp_intern_new();
	if (cache->pids)
		return cache;
	free(cache);
	return NULL;
}

static uint64_t size_of(const struct thread_list *list)
{
	return list->capacity * sizeof(*list->items) +
	       list->wait_capacity * sizeof(*list->waits);
}

/* Free the lists of a process that has ended; its place is kept. */
static void free_lists(struct pmp_thread_cache *cache, struct cached_process *process)
{
	cache->list_size -= size_of(&process->last) + size_of(&process->now) +
			    process->counted_capacity * sizeof(*process->counted);
	free(process->last.items);
	free(process->last.waits);
	free(process->now.items);
	free(process->now.waits);
	free(process->counted);
	*process = (struct cached_process){ .ended = true };
}

void pmp_thread_cache_free(struct pmp_thread_cache *cache)
{
	if (!cache)
		return;
	for (size_t i = 0; i < cache->count; i++)
		free_lists(cache, &cache->processes[i]);
	pmp_intern_free(cache->pids);
	free(cache->processes);
	free(cache);
}

uint64_t pmp_thread_cache_size(const struct pmp_thread_cache *cache)
{
	return pmp_intern_size(cache->pids) + cache->list_size +
	       cache->capacity * sizeof(*cache->processes);
}

/* ---- processes -------------------------------------------------------------------- */

/* Remove the places of ended processes. Without memory for that they stay. */
static void drop_ended(struct pmp_thread_cache *cache)
{
	struct pmp_intern *pids = pmp_intern_new();
	size_t count = 0;

	for (uint32_t i = 0; pids && i < cache->count; i++) {
		size_t length;
		const void *pid = pmp_intern_data(cache->pids, i, &length);

		if (!cache->processes[i].ended &&
		    pmp_intern(pids, pid, length) == PMP_INTERN_NONE) {
			pmp_intern_free(pids);
			pids = NULL;
		}
	}
	if (!pids)
		return;
	for (size_t i = 0; i < cache->count; i++)
		if (!cache->processes[i].ended)
			cache->processes[count++] = cache->processes[i];
	pmp_intern_free(cache->pids);
	cache->pids = pids;
	cache->count = count;
	cache->ended_count = 0;
	cache->current = PMP_INTERN_NONE;
}

/* Each sample asks for its process several times, so the last result is kept. */
static uint32_t place_of(struct pmp_thread_cache *cache, pid_t pid)
{
	if (cache->current == PMP_INTERN_NONE || cache->current_pid != pid) {
		cache->current = pmp_intern_find(cache->pids, &pid, sizeof(pid));
		cache->current_pid = pid;
	}
	return cache->current;
}

static struct cached_process *find_process(struct pmp_thread_cache *cache, pid_t pid)
{
	struct cached_process *process;
	uint32_t id;

	if (PMP_RESERVE(&cache->processes, &cache->capacity, cache->count + 1))
		return NULL;
	id = place_of(cache, pid);
	if (id == PMP_INTERN_NONE)
		id = cache->current = pmp_intern(cache->pids, &pid, sizeof(pid));
	if (id == PMP_INTERN_NONE)
		return NULL;
	process = &cache->processes[id];
	if (id == cache->count) {
		cache->count++;
		*process = (struct cached_process){ 0 };
	}
	/* A new process may have the pid of one that has ended. */
	cache->ended_count -= process->ended;
	process->ended = false;
	return process;
}

void pmp_thread_cache_forget(struct pmp_thread_cache *cache, pid_t pid)
{
	uint32_t id = pmp_intern_find(cache->pids, &pid, sizeof(pid));

	if (id == PMP_INTERN_NONE || cache->processes[id].ended)
		return;
	free_lists(cache, &cache->processes[id]);
	cache->ended_count++;
	if (cache->ended_count > cache->count / 2 + ENDED_MIN)
		drop_ended(cache);
}

/* ---- threads ---------------------------------------------------------------------- */

static bool is_still(const struct cached_process *process,
		     const struct pmp_sample *sample)
{
	return sample->standstill.number &&
	       sample->standstill.number == process->standstill &&
	       sample->thread_count == process->now.count;
}

bool pmp_thread_cache_is_still(struct pmp_thread_cache *cache,
			       const struct pmp_sample *sample)
{
	const uint32_t id = place_of(cache, sample->pid);

	return id != PMP_INTERN_NONE && is_still(&cache->processes[id], sample);
}

int pmp_thread_cache_begin(struct pmp_thread_cache *cache,
			   const struct pmp_sample *sample)
{
	struct cached_process *process = find_process(cache, sample->pid);
	struct thread_list last;
	uint64_t before;
	int code;

	if (!process)
		return PMP_ENOMEM;
	process->position = 0;
	process->still = is_still(process, sample);
	if (process->still) {
		process->now.count = process->counted_count = 0;
		return 0;
	}
	process->standstill = sample->standstill.number;
	process->counted_count = 0;
	last = process->last;
	process->last = process->now;
	process->now = last;
	process->now.count = 0;
	before = size_of(&process->now);
	code = PMP_RESERVE(&process->now.items, &process->now.capacity,
			   sample->thread_count);
	if (!code && cache->waits)
		code = PMP_RESERVE(&process->now.waits, &process->now.wait_capacity,
				   sample->thread_count);
	cache->list_size += size_of(&process->now) - before;
	return code;
}

static int by_entry(const void *a, const void *b)
{
	const uint32_t one = ((const struct pmp_counted *)a)->entry;
	const uint32_t two = ((const struct pmp_counted *)b)->entry;

	return (one > two) - (one < two);
}

/* 0 or PMP_ENOMEM. */
static int sum_up(struct cached_process *process)
{
	const struct thread_list *now = &process->now;
	struct pmp_counted *counted;
	size_t kept = 0;

	if (PMP_RESERVE(&process->counted, &process->counted_capacity, now->count))
		return PMP_ENOMEM;
	counted = process->counted;
	for (size_t i = 0; i < now->count; i++)
		counted[i] = (struct pmp_counted){ now->items[i].entry, 1 };
	qsort(counted, now->count, sizeof(*counted), by_entry);
	for (size_t i = 1; i < now->count; i++) {
		if (counted[i].entry == counted[kept].entry)
			counted[kept].threads++;
		else
			counted[++kept] = counted[i];
	}
	process->counted_count = now->count ? kept + 1 : 0;
	return 0;
}

const struct pmp_counted *pmp_thread_cache_counted(struct pmp_thread_cache *cache,
						   pid_t pid, size_t *count)
{
	struct cached_process *process = &cache->processes[place_of(cache, pid)];
	const size_t before = process->counted_capacity;
	const int code = process->counted_count ? 0 : sum_up(process);

	cache->list_size +=
		(process->counted_capacity - before) * sizeof(*process->counted);
	*count = process->counted_count;
	return code ? NULL : process->counted;
}

bool pmp_thread_cache_find(struct pmp_thread_cache *cache,
			   const struct pmp_thread *thread, uint32_t *entry)
{
	struct cached_process *process = &cache->processes[cache->current];
	const struct thread_list *last = &process->last;

	if (process->still) {
		*entry = process->now.items[process->position++].entry;
		return true;
	}
	while (process->position < last->count &&
	       last->items[process->position].tid < thread->tid)
		process->position++;
	if (thread->obtained != PMP_UNCHANGED || !thread->reading ||
	    process->position == last->count ||
	    last->items[process->position].tid != thread->tid ||
	    last->items[process->position].number != thread->reading)
		return false;
	if (cache->waits &&
	    !pmp_wait_same(&last->waits[process->position].wait, &thread->wait))
		return false;
	*entry = last->items[process->position].entry;
	return true;
}

bool pmp_thread_cache_is_waiting(const struct pmp_thread_cache *cache,
				 const struct pmp_thread *thread)
{
	const struct cached_process *process = &cache->processes[cache->current];
	const struct thread_list *last = &process->last;
	const struct cached_wait *before;

	if (process->still)
		return true;
	if (process->position == last->count ||
	    last->items[process->position].tid != thread->tid)
		return false;
	before = &last->waits[process->position];
	if (before->wait.kind != thread->wait.kind ||
	    before->wait.object != thread->wait.object)
		return false;
	/* Without run counts, compare the numbers of readings. */
	if (thread->runs)
		return before->runs == thread->runs;
	return thread->reading &&
	       last->items[process->position].number == thread->reading;
}

static struct cached_wait cache_wait(const struct pmp_thread *thread)
{
	struct cached_wait wait = { thread->wait, thread->runs };

	if (thread->runs && thread->obtained == PMP_STOPPED)
		wait.runs += PMP_STOP_RUNS;
	return wait;
}

void pmp_thread_cache_put(struct pmp_thread_cache *cache, const struct pmp_thread *thread,
			  uint32_t entry)
{
	struct thread_list *now = &cache->processes[cache->current].now;

	if (cache->waits)
		now->waits[now->count] = cache_wait(thread);
	now->items[now->count++] =
		(struct cached_thread){ thread->tid, entry, thread->reading };
}

void pmp_thread_cache_renumber(struct pmp_thread_cache *cache, const uint32_t *new)
{
	for (size_t i = 0; i < cache->count; i++) {
		struct thread_list *now = &cache->processes[i].now;

		/* The next sample reads only .now. */
		cache->processes[i].last.count = 0;
		cache->processes[i].counted_count = 0;
		for (size_t k = 0; k < now->count; k++)
			now->items[k].entry = new[now->items[k].entry];
	}
}
