/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known of the targets of a run; written only by its source. */
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
	uint64_t snapshots, threads; /* threads: in the last snapshot */
	uint64_t batches;	     /* of records of its recorder */
	uint64_t first, last;	     /* CLOCK_MONOTONIC of snapshots */
	bool child;		     /* of another target; removed when it ends */
	bool ended;		     /* its pid may have been reused */
	bool told_unstoppable;	     /* reported a thread in uninterruptible sleep */
};

/* The sampler, and what it has done so far. */
struct sampling_progress {
	pid_t pid; /* 0: it has ended */
	struct event_done done;
};

#define TARGETS_CRASH_SIZE 160

struct targets {
	bool cores;			/* all files are core files */
	char crash[TARGETS_CRASH_SIZE]; /* how the process of the last core ended */
	struct process *processes;
	size_t count;
	const struct found_processes *found; /* by --name; borrowed */
	struct sampler_targets wanted;	     /* neither opened nor refused yet */
	uint64_t snapshots, batches;	     /* received */
	bool told_hidden;		     /* reported that some processes are hidden */
	bool told_mixed;		     /* reported memory that is only counted */
	uint64_t taken;			     /* by the sampler, known once it is closed */
	uint64_t skipped;		     /* unwanted threads, summed over snapshots */
	bool owned;			     /* something was counted: owner is valid */
	uid_t owner;	 /* the user who may look at all of it; PMP_OWNERS: none may */
	uint64_t unseen; /* children that ended before their first snapshot */
	bool lost;	 /* a target that killed the sampler was given up */
	int refusal;	 /* why there are no samples: a status, or 0 */
	struct event_done done;
};

/* NULL: not a target, or not opened yet. */
struct process *targets_find(const struct targets *targets, pid_t pid);

/* Is it a target that was neither opened nor refused yet? */
bool targets_wants(const struct targets *targets, pid_t pid);

/* The sampler has opened or refused this target. */
void targets_answered(struct targets *targets, pid_t pid);

/* Remove a target; that invalidates pointers to those after it. */
void targets_remove(struct targets *targets, struct process *process);

/* The number of targets that have not ended. */
static inline size_t targets_living(const struct targets *targets)
{
	size_t living = 0;

	for (size_t i = 0; i < targets->count; i++)
		living += !targets->processes[i].ended;
	return living;
}

/* Has anything been counted? */
static inline bool targets_counted(const struct targets *targets)
{
	return targets->snapshots || targets->batches;
}

static inline bool process_counted(const struct process *process)
{
	return process->snapshots || process->batches;
}

#endif
