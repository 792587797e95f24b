/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Per process two lists, both in the order of the samples' threads, which is that of
 * their ids: the last sample's, through which a mark moves, and the new one's. A sample
 * in another order finds less and is counted as if it were new.
 */
#include "tally/readings.h"

#include <stdlib.h>

#include "base/alloc.h"

struct reading {
	pid_t tid;
	uint32_t entry;
	uint64_t number;
};

struct list {
	struct reading *items;
	size_t count, capacity;
};

struct process {
	pid_t pid;
	struct list last, now;
	size_t mark;		/* in last */
};

struct pmp_readings {
	struct process *processes;
	size_t count, capacity;
	size_t current;
};

struct pmp_readings *pmp_readings_new(void)
{
	return calloc(1, sizeof(struct pmp_readings));
}

void pmp_readings_free(struct pmp_readings *readings)
{
	if (!readings)
		return;
	for (size_t i = 0; i < readings->count; i++) {
		free(readings->processes[i].last.items);
		free(readings->processes[i].now.items);
	}
	free(readings->processes);
	free(readings);
}

static struct process *find_process(struct pmp_readings *readings, pid_t pid)
{
	for (size_t i = 0; i < readings->count; i++) {
		readings->current = i;
		if (readings->processes[i].pid == pid)
			return &readings->processes[i];
	}
	if (PMP_RESERVE(&readings->processes, &readings->capacity, readings->count + 1))
		return NULL;
	readings->current = readings->count++;
	readings->processes[readings->current] = (struct process){ .pid = pid };
	return &readings->processes[readings->current];
}

int pmp_readings_begin(struct pmp_readings *readings, const struct pmp_sample *sample)
{
	struct process *process = find_process(readings, sample->pid);
	struct list last;

	if (!process)
		return PMP_ENOMEM;
	last = process->last;
	process->last = process->now;
	process->now = last;
	process->now.count = 0;
	process->mark = 0;
	return PMP_RESERVE(&process->now.items, &process->now.capacity, sample->thread_count);
}

bool pmp_readings_find(struct pmp_readings *readings, const struct pmp_thread *thread,
		       uint32_t *entry)
{
	struct process *process = &readings->processes[readings->current];
	const struct list *last = &process->last;

	while (process->mark < last->count && last->items[process->mark].tid < thread->tid)
		process->mark++;
	if (thread->obtained != PMP_UNCHANGED || !thread->reading ||
	    process->mark == last->count ||
	    last->items[process->mark].tid != thread->tid ||
	    last->items[process->mark].number != thread->reading)
		return false;
	*entry = last->items[process->mark].entry;
	return true;
}

void pmp_readings_renumber(struct pmp_readings *readings, const uint32_t *new)
{
	for (size_t i = 0; i < readings->count; i++) {
		struct list *now = &readings->processes[i].now;

		/* The list before this one is not asked any more. */
		readings->processes[i].last.count = 0;
		for (size_t k = 0; k < now->count; k++)
			now->items[k].entry = new[now->items[k].entry];
	}
}

void pmp_readings_put(struct pmp_readings *readings, const struct pmp_thread *thread,
		      uint32_t entry)
{
	struct list *now = &readings->processes[readings->current].now;

	now->items[now->count++] = (struct reading){ thread->tid, entry, thread->reading };
}
