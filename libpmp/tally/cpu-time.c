/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each thread that was seen has a record, found by its ids, and each process one with
 * tid 0. When there are many records of threads and processes that have ended, these are
 * settled and forgotten.
 *
 * All threads of a sample share one time, that of its start, but their CPU times are read
 * one after the other. So a busy thread may seem to have used more CPU time than has
 * passed; the excess is left for its next sample.
 */
#include "tally/cpu-time.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "base/intern.h"

#define RECORDS_MIN 16384 /* always allowed */

struct cpu_time_key {
	pid_t pid, tid;
};

struct cpu_time_record {
	struct cpu_time_key key;
	uint64_t time; /* of its last sample; 0: a process that has ended */
	union {
		uint64_t cpu;	/* thread: CPU time that is accounted for */
		uint64_t start; /* process: time of its first sample */
	};
	uint64_t undivided; /* CPU time that is not settled */
	uint64_t taken;	    /* process: time of the last sample with threads taken */
	uint32_t entry;	    /* that it was last counted in, or PMP_ENTRY_NONE */
	bool idle;	    /* process: no thread ran then, or has time to account for */
};

/* Weights of a thread's running finds: of all, and of those in entries before this one. */
struct finds {
	uint64_t all, before;
};

struct pmp_cpu_time {
	bool by_thread;
	struct pmp_intern *keys; /* id: index of records */
	struct cpu_time_record *records;
	size_t count, capacity;
	size_t guess;	       /* next index: threads mostly come in the same order */
	size_t limit;	       /* number of records at which ended ones are dropped */
	pid_t pid;	       /* of the current sample */
	size_t process, owner; /* records: of its process; that gets the thread's time */
	uint64_t time, before; /* of this sample; of the process's last, 0: none */
	uint64_t taken;	       /* before this sample, see cpu_time_record */
};

struct pmp_cpu_time *pmp_cpu_time_new(bool by_thread)
{
	struct pmp_cpu_time *times = calloc(1, sizeof(*times));

	if (!times)
		return NULL;
	times->by_thread = by_thread;
	times->limit = RECORDS_MIN;
	times->keys = pmp_intern_new();
	if (!times->keys) {
		free(times);
		return NULL;
	}
	return times;
}

void pmp_cpu_time_free(struct pmp_cpu_time *times)
{
	if (!times)
		return;
	pmp_intern_free(times->keys);
	free(times->records);
	free(times);
}

uint64_t pmp_cpu_time_size(const struct pmp_cpu_time *times)
{
	return pmp_intern_size(times->keys) + times->capacity * sizeof(*times->records);
}

/* ---- records ------------------------------------------------------------------ */

/* Find a record, or add one that is zero but for its key. NULL: out of memory. */
static struct cpu_time_record *find_record(struct pmp_cpu_time *times, pid_t pid,
					   pid_t tid)
{
	const struct cpu_time_key key = { pid, tid };
	uint32_t id;

	if (times->guess < times->count &&
	    memcmp(&times->records[times->guess].key, &key, sizeof(key)) == 0)
		return &times->records[times->guess++];
	if (PMP_RESERVE(&times->records, &times->capacity, times->count + 1))
		return NULL;
	id = pmp_intern(times->keys, &key, sizeof(key));
	if (id == PMP_INTERN_NONE)
		return NULL;
	if (id == times->count)
		times->records[times->count++] =
			(struct cpu_time_record){ .key = key, .entry = PMP_ENTRY_NONE };
	times->guess = id + 1;
	return &times->records[id];
}

/* Is it a process that has not ended, or a thread in the last sample of its process?
 * Samples given to pmp_cpu_time_pass() have the same threads as the one taken before. */
static bool is_there(const struct pmp_cpu_time *times,
		     const struct cpu_time_record *record)
{
	const struct cpu_time_key process = { record->key.pid, 0 };
	uint32_t id;

	if (!record->key.tid)
		return record->time > 0;
	id = pmp_intern_find(times->keys, &process, sizeof(process));
	return id != PMP_INTERN_NONE && times->records[id].taken == record->time;
}

/* Copy the records of processes and the threads of their last samples. */
static int copy_present(const struct pmp_cpu_time *times, struct pmp_cpu_time *new)
{
	for (size_t i = 0; i < times->count; i++) {
		const struct cpu_time_record *record = &times->records[i];
		struct cpu_time_record *copy;

		if (!is_there(times, record))
			continue;
		copy = find_record(new, record->key.pid, record->key.tid);
		if (!copy)
			return PMP_ENOMEM;
		*copy = *record;
	}
	return 0;
}

/* ---- dividing CPU time ---------------------------------------------------------- */

/* The index of the record with the time of an entry's threads, or PMP_INTERN_NONE. */
static uint32_t owner_of(const struct pmp_cpu_time *times, const struct pmp_entry *entry)
{
	const struct cpu_time_key key = { entry->pid, times->by_thread ? entry->tid : 0 };

	return pmp_intern_find(times->keys, &key, sizeof(key));
}

/* time * part / whole; whole is not 0. */
static uint64_t share(uint64_t time, uint64_t part, uint64_t whole)
{
	return (uint64_t)((unsigned __int128)time * part / whole);
}

static void count_finds(const struct pmp_cpu_time *times,
			const struct pmp_entries *entries, struct finds *finds)
{
	for (size_t i = 0; i < entries->count; i++) {
		const struct pmp_entry *entry = &entries->all[i];
		uint32_t owner =
			entry->running ? owner_of(times, entry) : PMP_INTERN_NONE;

		if (owner != PMP_INTERN_NONE)
			finds[owner].all += entry->running;
	}
}

/* Each entry gets the difference of two cumulative shares, so the parts add up exactly. */
static void give_shares(const struct pmp_cpu_time *times, struct pmp_entries *entries,
			struct finds *finds)
{
	for (size_t i = 0; i < entries->count; i++) {
		struct pmp_entry *entry = &entries->all[i];
		uint32_t owner =
			entry->running ? owner_of(times, entry) : PMP_INTERN_NONE;
		uint64_t time, all, before;

		entry->cpu = entry->settled_cpu;
		if (owner == PMP_INTERN_NONE)
			continue;
		time = times->records[owner].undivided;
		all = finds[owner].all;
		before = finds[owner].before;
		finds[owner].before += entry->running;
		entry->cpu +=
			share(time, finds[owner].before, all) - share(time, before, all);
	}
}

/* The PMP_END_BETWEEN entry for the thread that is counted in `like`. */
static struct pmp_entry *find_between(struct pmp_entries *entries, uint32_t like)
{
	const struct pmp_entry *thread = &entries->all[like];
	const struct pmp_entry between = {
		.pid = thread->pid,
		.process = thread->process,
		.tid = thread->tid,
		.thread = thread->thread,
		.state = '?',
		.syscall = "",
		.wchan = "",
		.end = PMP_END_BETWEEN,
		.reason = "",
	};
	uint32_t id = pmp_entries_count(entries, &between);

	return id == PMP_ENTRY_NONE ? NULL : &entries->all[id];
}

/* Give the time of threads that were never found running. */
static int give_rest(const struct pmp_cpu_time *times, struct pmp_entries *entries,
		     const struct finds *finds)
{
	for (size_t i = 0; i < times->count; i++) {
		const struct cpu_time_record *record = &times->records[i];
		struct pmp_entry *entry;

		if (!record->undivided || finds[i].all || record->entry == PMP_ENTRY_NONE)
			continue;
		entry = find_between(entries, record->entry);
		if (!entry)
			return PMP_ENOMEM;
		entry->cpu += record->undivided;
	}
	return 0;
}

/* finds: one for each record, zeroed. */
static int divide(const struct pmp_cpu_time *times, struct pmp_entries *entries,
		  struct finds *finds)
{
	count_finds(times, entries, finds);
	give_shares(times, entries, finds);
	return give_rest(times, entries, finds);
}

int pmp_cpu_time_divide(const struct pmp_cpu_time *times, struct pmp_entries *entries)
{
	struct finds *finds = calloc(times->count + 1, sizeof(*finds));
	int code = finds ? divide(times, entries, finds) : PMP_ENOMEM;

	free(finds);
	return code;
}

static int settle(struct pmp_cpu_time *times, struct pmp_entries *entries)
{
	struct finds *finds = calloc(times->count + 1, sizeof(*finds));
	int code = finds ? divide(times, entries, finds) : PMP_ENOMEM;

	for (size_t i = 0; i < entries->count && !code; i++) {
		struct pmp_entry *entry = &entries->all[i];

		if (entry->running)
			entry->settled_cpu = entry->cpu;
		entry->running = 0;
	}
	for (size_t i = 0; i < times->count && !code; i++)
		if (finds[i].all)
			times->records[i].undivided = 0;
	free(finds);
	return code;
}

/* Settle what is left of a thread that has ended. */
static int settle_rest(struct cpu_time_record *record, struct pmp_entries *entries)
{
	struct pmp_entry *entry;

	if (!record->undivided || record->entry == PMP_ENTRY_NONE)
		return 0;
	entry = find_between(entries, record->entry);
	if (!entry)
		return PMP_ENOMEM;
	entry->settled_cpu += record->undivided;
	record->undivided = 0;
	return 0;
}

void pmp_cpu_time_renumber(struct pmp_cpu_time *times, const uint32_t *new)
{
	for (size_t i = 0; i < times->count; i++)
		if (times->records[i].entry != PMP_ENTRY_NONE)
			times->records[i].entry = new[times->records[i].entry];
}

/* ---- threads that have ended ----------------------------------------------------- */

static int settle_ended(struct pmp_cpu_time *times, struct pmp_entries *entries)
{
	if (settle(times, entries))
		return PMP_ENOMEM;
	for (size_t i = 0; i < times->count; i++)
		if (!is_there(times, &times->records[i]) &&
		    settle_rest(&times->records[i], entries))
			return PMP_ENOMEM;
	return 0;
}

int pmp_cpu_time_settle(struct pmp_cpu_time *times, struct pmp_entries *entries)
{
	struct pmp_cpu_time new = { .by_thread = times->by_thread };

	if (settle_ended(times, entries))
		return PMP_ENOMEM;
	new.keys = pmp_intern_new();
	if (!new.keys || copy_present(times, &new)) {
		pmp_intern_free(new.keys);
		free(new.records);
		return PMP_ENOMEM;
	}
	new.limit = 2 * new.count + RECORDS_MIN;
	pmp_intern_free(times->keys);
	free(times->records);
	*times = new;
	return 0;
}

void pmp_cpu_time_forget(struct pmp_cpu_time *times, pid_t pid)
{
	const struct cpu_time_key key = { pid, 0 };
	uint32_t id = pmp_intern_find(times->keys, &key, sizeof(key));

	if (id != PMP_INTERN_NONE)
		times->records[id].time = times->records[id].taken = 0;
}

/* ---- a sample -------------------------------------------------------------------- */

int pmp_cpu_time_begin(struct pmp_cpu_time *times, struct pmp_entries *entries,
		       const struct pmp_sample *sample)
{
	struct cpu_time_record *process;

	if (times->count > times->limit && pmp_cpu_time_settle(times, entries))
		return PMP_ENOMEM;
	process = find_record(times, sample->pid, 0);
	if (!process)
		return PMP_ENOMEM;
	times->pid = sample->pid;
	times->process = (size_t)(process - times->records);
	times->time = sample->time;
	times->before = process->time;
	times->taken = process->taken;
	if (!process->time)
		process->start = sample->time;
	process->time = process->taken = sample->time;
	process->idle = true;
	return 0;
}

bool pmp_cpu_time_pass(struct pmp_cpu_time *times, const struct pmp_sample *sample,
		       uint64_t *wall)
{
	const struct cpu_time_key key = { sample->pid, 0 };
	const uint32_t id = pmp_intern_find(times->keys, &key, sizeof(key));
	struct cpu_time_record *process;

	if (id == PMP_INTERN_NONE)
		return false;
	process = &times->records[id];
	if (!process->idle || !process->time || sample->time <= process->time)
		return false;
	times->time = sample->time;
	times->before = process->time;
	*wall = times->time - times->before;
	process->time = sample->time;
	return true;
}

uint64_t pmp_cpu_time_before(const struct pmp_cpu_time *times)
{
	return times->before;
}

/* The CPU time to account for; without schedstat it is inferred from the state. known: the
 * thread has been seen before. */
static uint64_t used(const struct pmp_cpu_time *times, const struct pmp_thread *thread,
		     const struct cpu_time_record *record, uint64_t wall, bool known)
{
	uint64_t cpu = thread->cpu > record->cpu ? thread->cpu - record->cpu : 0;

	/* A new record of an older thread: what it has used since the last sample is not
	 * known. */
	if (!thread->cpu || (!known && cpu > wall))
		cpu = thread->state == 'R' ? wall : 0;
	/* If it was not in the last sample, it may have used the time since then, too. */
	if (known && record->time != times->taken)
		wall = times->time - times->records[times->process].start;
	return cpu < wall ? cpu : wall;
}

int pmp_cpu_time_take(struct pmp_cpu_time *times, const struct pmp_thread *thread,
		      uint64_t *wall, uint64_t *cpu)
{
	struct cpu_time_record *record = find_record(times, times->pid, thread->tid);
	bool known;

	if (!record)
		return PMP_ENOMEM;
	*wall = *cpu = 0;
	/* The record may be of an earlier process with the same pid. */
	known = record->time && record->time >= times->records[times->process].start;
	if (!known)
		record->cpu = 0;
	if (times->before && times->time > times->before) {
		*wall = times->time - times->before;
		*cpu = used(times, thread, record, *wall, known);
	}
	/* Less than before: a new thread with a reused tid. */
	if (!known || thread->cpu < record->cpu)
		record->cpu = thread->cpu;
	else
		record->cpu += *cpu;
	if (*cpu || thread->cpu > record->cpu || pmp_cpu_time_weight(thread))
		times->records[times->process].idle = false;
	record->time = times->time;
	times->owner =
		times->by_thread ? (size_t)(record - times->records) : times->process;
	times->records[times->owner].undivided += *cpu;
	return 0;
}

uint64_t pmp_cpu_time_weight(const struct pmp_thread *thread)
{
	if (PMP_FAULT("cpu-anywhere"))
		return 1;
	if (thread->state != 'R')
		return 0;
	return thread->ready ? 1 : PMP_ON_PROCESSOR;
}

void pmp_cpu_time_found(struct pmp_cpu_time *times, uint32_t entry)
{
	times->records[times->owner].entry = entry;
}

int pmp_cpu_time_give(struct pmp_cpu_time *times, const struct pmp_entries *entries,
		      uint32_t entry, uint64_t cpu)
{
	const struct pmp_entry *thread = &entries->all[entry];
	struct cpu_time_record *record =
		find_record(times, thread->pid, times->by_thread ? thread->tid : 0);

	if (!record)
		return PMP_ENOMEM;
	record->undivided += cpu;
	record->entry = entry;
	return 0;
}
