/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known of the targets of a run: its source writes it, all others read. */
#ifndef PMP_SOURCE_TARGETS_H
#define PMP_SOURCE_TARGETS_H

#include "sampler/sampler.h"
#include "source/processes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct process {
	pid_t pid;
	uint64_t started; /* as in struct pmp_target_options */
	char name[EVENT_NAME_SIZE];
	uint64_t snapshots, threads; /* of the last one */
	uint64_t batches;	     /* of what its recorder has written down */
	uint64_t first, last;	     /* CLOCK_MONOTONIC of them */
	bool child;		     /* of another one; forgotten when it ends */
	bool ended;		     /* its id may be another process's by now */
	bool told_unstoppable;	     /* that a thread sleeps where nothing can stop it */
};

/* The process that samples, and what it has done so far. */
struct sampling_progress {
	pid_t pid; /* 0: there is none any more */
	struct event_done done;
};

#define TARGETS_CRASH_SIZE 160

struct targets {
	bool cores;			/* all of them are core files */
	char crash[TARGETS_CRASH_SIZE]; /* how the process of the last one ended */
	struct process *processes;
	size_t count;
	const struct found_processes *found; /* by --name; borrowed */
	struct sampler_targets wanted; /* that have not been opened, nor refused, yet */
	uint64_t snapshots, batches;   /* received */
	bool told_hidden;	       /* that some processes cannot be looked at */
	bool told_mixed;	       /* that memory of one is only counted */
	uint64_t taken;		       /* by the sampler, known once it is closed */
	uint64_t skipped;	       /* threads not wanted, summed over snapshots */
	bool owned;		       /* something has been counted, of processes */
	uid_t owner; /* that this user may look at; PMP_OWNERS: no user at all of them */
	uint64_t unseen; /* children that ended before their first snapshot */
	bool lost;	 /* one of them, with the sampler that died on it */
	int refusal;	 /* why there are no samples: a status, or 0 */
	struct event_done done;
};

/* NULL: it is not one of them, or not opened yet. */
struct process *targets_find(const struct targets *targets, pid_t pid);

/* Is it one that has not been opened yet? */
bool targets_wants(const struct targets *targets, pid_t pid);

/* The sampler has answered for it: it has been opened, or will not be. */
void targets_answered(struct targets *targets, pid_t pid);

/* It is none of them any more: pointers to those after it are no longer valid. */
void targets_remove(struct targets *targets, struct process *process);

/* How many have not ended. */
static inline size_t targets_living(const struct targets *targets)
{
	size_t living = 0;

	for (size_t i = 0; i < targets->count; i++)
		living += !targets->processes[i].ended;
	return living;
}

/* Has anything of them been counted? */
static inline bool targets_counted(const struct targets *targets)
{
	return targets->snapshots || targets->batches;
}

static inline bool process_counted(const struct process *process)
{
	return process->snapshots || process->batches;
}

#endif
