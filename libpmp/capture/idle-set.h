/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Most threads of most processes are idle: they have not run for many captures. That none
 * of them has run since is proven for all at once, by the runs that the kernel counts of
 * the whole process (taskstats.c):
 *
 *	sum of the process = runs of the idle threads, as they were when they were read,
 *			     + runs of the active ones, read before the sum
 *			     + others: of threads that have ended
 *
 * All numbers only grow, and what stands on the right was read earlier: if both sides are
 * equal each number is still the same. `others' is learned by the same equation the
 * other way round, from numbers that were read after the sum: it is never too large.
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
	uint64_t proofs; /* captures so far in which none of them had run */
	unsigned misses; /* questions in a row that have proven nothing */
	uint64_t next;	 /* number of the capture from which on it is asked again */
	/* Of the current capture. */
	size_t count;	  /* threads that are idle */
	uint64_t version; /* of the watches that were divided into idle and active ones */
	uint64_t runs;	  /* of these, as they were when they were read */
	bool leader_idle;
	uint64_t sum;	 /* 0: not asked */
	uint64_t active; /* runs of the active ones, read after the sum */
};

void pmp_idle_set_close(struct pmp_idle_set *set);
/*
 * At the beginning of a capture with this number, of just these threads: says which of
 * them are idle (watch->idle). True: none of these has run since its stack was proven.
 * After questions in vain some captures pass until the next one.
 */
bool pmp_idle_set_prove(struct pmp_idle_set *set, struct pmp_watches *watches,
			const struct pmp_process *process, uint64_t number,
			const struct pmp_log *log);
/* Later in a capture for which that was proven: true if it is so still. */
bool pmp_idle_set_prove_again(struct pmp_idle_set *set, struct pmp_watches *watches,
			      const struct pmp_process *process,
			      const struct pmp_log *log);
/* At the end of one for which that was not proven, when each run count was read. */
void pmp_idle_set_learn(struct pmp_idle_set *set, const struct pmp_watches *watches);
/* The threads are others now, or their run counts could not be read. */
void pmp_idle_set_forget(struct pmp_idle_set *set);

#endif
