/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Most threads of most processes are idle: they have not run for many captures. That none
 * of them has run since is proven for all at once, by the number of runs that the kernel
 * counts for the whole process (taskstats.c):
 *
 *	sum of the process = runs of the idle threads, as they were when they were read,
 *			     + runs of the active ones, read before the sum
 *			     + others: of threads that have ended
 *
 * All numbers only increase, and those on the right were read earlier: if both sides are
 * equal, each number is still the same. `others' is derived from the same equation, from
 * numbers read after the sum: so it is never too large.
 */
#ifndef PMP_CAPTURE_IDLE_SET_H
#define PMP_CAPTURE_IDLE_SET_H

#include "base/log.h"
#include "capture/watch.h"
#include "proc/process.h"
#include "proc/taskstats.h"

struct pmp_idle_set {
	struct pmp_taskstats stats;
	bool opened, unusable;
	bool has_others;
	int64_t others;
	uint64_t proofs; /* captures so far in which no idle thread had run */
	unsigned misses; /* failed proofs in a row */
	uint64_t next;	 /* number of the capture in which to try again */
	/* Of the current capture. */
	size_t count;	  /* threads that are idle */
	uint64_t version; /* of the watches, when divided into idle and active ones */
	uint64_t runs;	  /* of idle threads, when they were read */
	bool leader_idle;
	uint64_t sum;	 /* 0: not asked */
	uint64_t active; /* runs of active threads, read after the sum */
};

void pmp_idle_set_close(struct pmp_idle_set *set);
/*
 * Call it at the beginning of the capture with this number, with its threads: sets
 * watch->idle of each. True: no idle thread has run since its stack was proven. After
 * failed proofs it skips some captures.
 */
bool pmp_idle_set_prove(struct pmp_idle_set *set, struct pmp_watches *watches,
			const struct pmp_process *process, uint64_t number,
			const struct pmp_log *log);
/* Later in a capture for which that was proven: true if it still holds. */
bool pmp_idle_set_prove_again(struct pmp_idle_set *set, struct pmp_watches *watches,
			      const struct pmp_process *process,
			      const struct pmp_log *log);
/* Call it at the end of a capture for which that was not proven, after reading all run
 * counts. */
void pmp_idle_set_learn(struct pmp_idle_set *set, const struct pmp_watches *watches);
/* Call it if the threads have changed, or their run counts could not be read. */
void pmp_idle_set_forget(struct pmp_idle_set *set);

#endif
