/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs of equal stacks, and for each thread which run is its last. */
#include "tally/timeline.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/intern.h"
#include "libpmp.h"

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

/* The number of a thread or a process; new: it was not known. PMP_INTERN_NONE: no
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

int pmp_timeline_add(struct pmp_timeline *timeline, pid_t tid, uint32_t entry)
{
	struct pmp_run *last = NULL;
	bool new, absent;
	uint32_t thread;

	if (timeline->full)
		return 0;
	if (PMP_RESERVE(&timeline->runs, &timeline->capacity, timeline->count + 1))
		return PMP_ENOMEM;
	thread = number_of(timeline, tid, &new);
	if (thread == PMP_INTERN_NONE)
		return PMP_ENOMEM;
	if (!new)
		last = &timeline->runs[timeline->latest[thread]];
	absent = last && timeline->sample - last->sample > 1;
	if (last && last->entry == entry && !absent) {
		last->last = timeline->time;
		last->sample = timeline->sample;
		return 0;
	}
	if (timeline->count >= RUNS_MAX) {
		timeline->full = true;
		return 0;
	}
	timeline->latest[thread] = (uint32_t)timeline->count;
	timeline->runs[timeline->count++] = (struct pmp_run){
		.entry = entry,
		.thread = thread,
		.first = timeline->time,
		.last = timeline->time,
		.sample = timeline->sample,
		.absent = absent,
	};
	return 0;
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
