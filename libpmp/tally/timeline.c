/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs of equal stacks, and the index of each thread's last run. */
#include "tally/timeline.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/intern.h"
#include "libpmp.h"

#define NO_RUN UINT32_MAX
#define RUNS_MAX ((size_t)4 << 20) /* 160 MiB */

struct timeline_key {
	pid_t pid, tid; /* tid 0: the process */
};

struct pmp_timeline {
	struct pmp_intern *keys;
	uint32_t
		*latest; /* by number of a key: a thread's last run, a process's sample */
	size_t key_count, key_capacity;
	struct pmp_run *runs;
	size_t count, capacity;
	bool full;
	pid_t pid; /* of the current sample */
	uint64_t time;
	uint32_t sample;
};

struct pmp_timeline *pmp_timeline_new(void)
{
	struct pmp_timeline *timeline = calloc(1, sizeof(*timeline));

	if (!timeline)
		return NULL;
	timeline->keys = pmp_intern_new();
	if (!timeline->keys) {
		free(timeline);
		return NULL;
	}
	return timeline;
}

void pmp_timeline_free(struct pmp_timeline *timeline)
{
	if (!timeline)
		return;
	pmp_intern_free(timeline->keys);
	free(timeline->latest);
	free(timeline->runs);
	free(timeline);
}

/* The number of a thread or a process. *new: it was not known. PMP_INTERN_NONE: out of
 * memory. */
static uint32_t number_of(struct pmp_timeline *timeline, pid_t tid, bool *new)
{
	const struct timeline_key key = { timeline->pid, tid };
	uint32_t number;

	if (PMP_RESERVE(&timeline->latest, &timeline->key_capacity,
			timeline->key_count + 1))
		return PMP_INTERN_NONE;
	number = pmp_intern(timeline->keys, &key, sizeof(key));
	*new = number == timeline->key_count;
	if (*new)
		timeline->latest[timeline->key_count++] = 0;
	return number;
}

int pmp_timeline_begin(struct pmp_timeline *timeline, pid_t pid, uint64_t time)
{
	uint32_t number;
	bool new;

	timeline->pid = pid;
	timeline->time = time;
	number = number_of(timeline, 0, &new);
	if (number == PMP_INTERN_NONE)
		return PMP_ENOMEM;
	timeline->sample = ++timeline->latest[number];
	return 0;
}

/* Append a run, for which there is room. */
static int append(struct pmp_timeline *timeline, uint32_t thread,
		  const struct pmp_run *run, bool absent)
{
	if (timeline->count >= RUNS_MAX) {
		timeline->full = true;
		return 0;
	}
	timeline->latest[thread] = (uint32_t)timeline->count;
	timeline->runs[timeline->count] = *run;
	timeline->runs[timeline->count].thread = thread;
	timeline->runs[timeline->count++].absent = absent;
	return 0;
}

/* The number of a thread; PMP_INTERN_NONE: out of memory. */
static uint32_t number_of_thread(struct pmp_timeline *timeline, pid_t pid, pid_t tid)
{
	uint32_t thread;
	bool new;

	timeline->pid = pid;
	thread = number_of(timeline, tid, &new);
	if (new &&thread != PMP_INTERN_NONE)
		timeline->latest[thread] = NO_RUN;
	return thread;
}

int pmp_timeline_know(struct pmp_timeline *timeline, pid_t pid, pid_t tid)
{
	return number_of_thread(timeline, pid, tid) == PMP_INTERN_NONE ? PMP_ENOMEM : 0;
}

int pmp_timeline_put(struct pmp_timeline *timeline, pid_t pid, pid_t tid,
		     const struct pmp_run *run, uint32_t samples)
{
	struct pmp_run *last = NULL;
	uint32_t thread;
	bool absent;

	if (timeline->full)
		return 0;
	if (PMP_RESERVE(&timeline->runs, &timeline->capacity, timeline->count + 1))
		return PMP_ENOMEM;
	thread = number_of_thread(timeline, pid, tid);
	if (thread == PMP_INTERN_NONE)
		return PMP_ENOMEM;
	if (timeline->latest[thread] != NO_RUN)
		last = &timeline->runs[timeline->latest[thread]];
	absent = last && run->sample - last->sample > samples;
	if (!last || last->entry != run->entry || absent)
		return append(timeline, thread, run, absent);
	last->last = run->last;
	last->sample = run->sample;
	return 0;
}

int pmp_timeline_add(struct pmp_timeline *timeline, pid_t tid, uint32_t entry)
{
	const struct pmp_run run = {
		.entry = entry,
		.first = timeline->time,
		.last = timeline->time,
		.sample = timeline->sample,
	};

	return pmp_timeline_put(timeline, timeline->pid, tid, &run, 1);
}

const struct pmp_run *pmp_timeline_runs(const struct pmp_timeline *timeline,
					size_t *count)
{
	*count = timeline->count;
	return timeline->full ? NULL : timeline->runs;
}

void pmp_timeline_renumber(struct pmp_timeline *timeline, const uint32_t *new)
{
	for (size_t i = 0; i < timeline->count; i++)
		timeline->runs[i].entry = new[timeline->runs[i].entry];
}
