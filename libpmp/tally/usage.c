/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPU and wall-clock time between samples. A record for each thread that was seen, and
 * one with tid 0 for its process, are found by their ids. When there are many of threads
 * that are not there any more these are forgotten.
 *
 * All threads of a sample share one time, that of its begin, while their CPU times
 * were read one after the other. So a busy thread may seem to have used more CPU
 * than there was time; the excess is left for its next sample.
 */
#include "tally/usage.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/intern.h"

#define RECORDS_MIN 16384	/* are kept in any case */

struct key {
	pid_t pid, tid;
};

struct record {
	struct key key;
	uint64_t time;	/* of the last sample */
	uint64_t cpu;	/* so much of it is accounted for */
};

struct pmp_usage {
	struct pmp_intern *keys;	/* id: index of records */
	struct record *records;
	size_t count, capacity;
	size_t guess;		/* index: samples have their threads in the same order */
	size_t limit;		/* records at which those of ended threads go */
	pid_t pid;		/* of the sample at hand */
	uint64_t time, before;	/* its time, and that of the process's last; 0: none */
};

struct pmp_usage *pmp_usage_new(void)
{
	struct pmp_usage *usage = calloc(1, sizeof(*usage));

	if (!usage)
		return NULL;
	usage->limit = RECORDS_MIN;
	usage->keys = pmp_intern_new();
	if (!usage->keys) {
		free(usage);
		return NULL;
	}
	return usage;
}

void pmp_usage_free(struct pmp_usage *usage)
{
	if (!usage)
		return;
	pmp_intern_free(usage->keys);
	free(usage->records);
	free(usage);
}

/* NULL: no memory. A new one is all zero but for its key. */
static struct record *find_record(struct pmp_usage *usage, pid_t pid, pid_t tid)
{
	const struct key key = { pid, tid };
	uint32_t id;

	if (usage->guess < usage->count &&
	    memcmp(&usage->records[usage->guess].key, &key, sizeof(key)) == 0)
		return &usage->records[usage->guess++];
	if (PMP_RESERVE(&usage->records, &usage->capacity, usage->count + 1))
		return NULL;
	id = pmp_intern(usage->keys, &key, sizeof(key));
	if (id == PMP_INTERN_NONE)
		return NULL;
	if (id == usage->count)
		usage->records[usage->count++] = (struct record){ .key = key };
	usage->guess = id + 1;
	return &usage->records[id];
}

/* Was the thread in the last sample of its process? */
static bool is_there(struct pmp_usage *usage, const struct key *key, uint64_t time)
{
	const struct record *process = find_record(usage, key->pid, 0);

	return !key->tid || (process && process->time == time);
}

/* Keep processes and the threads of their last samples. On failure all is as before. */
static int forget_ended(struct pmp_usage *usage)
{
	struct pmp_usage new = { .keys = pmp_intern_new() };
	int code = new.keys ? 0 : PMP_ENOMEM;

	for (size_t i = 0; i < usage->count && !code; i++) {
		const struct record record = usage->records[i];
		const struct key *key = pmp_intern_data(usage->keys, (uint32_t)i, NULL);
		struct record *kept;

		if (!is_there(usage, key, record.time))
			continue;
		kept = find_record(&new, key->pid, key->tid);
		if (kept)
			*kept = record;
		else
			code = PMP_ENOMEM;
	}
	new.limit = 2 * new.count + RECORDS_MIN;
	if (code) {
		pmp_intern_free(new.keys);
		free(new.records);
		return code;
	}
	pmp_intern_free(usage->keys);
	free(usage->records);
	*usage = new;
	return 0;
}

int pmp_usage_begin(struct pmp_usage *usage, const struct pmp_sample *sample)
{
	struct record *process;

	if (usage->count > usage->limit && forget_ended(usage))
		return PMP_ENOMEM;
	process = find_record(usage, sample->pid, 0);
	if (!process)
		return PMP_ENOMEM;
	usage->pid = sample->pid;
	usage->time = sample->time;
	usage->before = process->time;
	process->time = sample->time;
	return 0;
}

/* The CPU time to account for; without schedstat the state has to do. */
static uint64_t used(const struct pmp_thread *thread, const struct record *record,
		     uint64_t wall)
{
	uint64_t cpu = thread->cpu > record->cpu ? thread->cpu - record->cpu : 0;

	/* Not seen before, and older than the last sample: what it has used since is
	 * not known. */
	if (!thread->cpu || (!record->time && cpu > wall))
		cpu = thread->state == 'R' ? wall : 0;
	return cpu < wall ? cpu : wall;
}

int pmp_usage_take(struct pmp_usage *usage, const struct pmp_thread *thread,
		   uint64_t *cpu, uint64_t *wall)
{
	struct record *record = find_record(usage, usage->pid, thread->tid);
	uint64_t since;

	if (!record)
		return PMP_ENOMEM;
	*cpu = *wall = 0;
	since = record->time ? record->time : usage->before;
	if (since && usage->time > since) {
		*wall = usage->time - since;
		*cpu = used(thread, record, *wall);
	}
	/* A smaller figure is a new thread's with an old id. */
	if (!record->time || thread->cpu < record->cpu)
		record->cpu = thread->cpu;
	else
		record->cpu += *cpu;
	record->time = usage->time;
	return 0;
}
