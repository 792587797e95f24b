/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Most threads of most processes rest: they have not run for many captures. That none of
 * them has run since is proven for all at once, by the runs that the kernel counts of the
 * whole process (taskstats.c):
 *
 *	sum of the process = runs of the resting threads, as they were when they were read,
 *			     + runs of the active ones, read before the sum
 *			     + others: of threads that have ended
 *
 * All numbers only grow, and what stands on the right was read earlier: if both sides are
 * equal each number is still the same. `others' is learned by the same equation the
 * other way round, from numbers that were read after the sum: it is never too large.
 */
#ifndef PMP_CAPTURE_RESTING_H
#define PMP_CAPTURE_RESTING_H

#include "base/log.h"
#include "capture/process.h"
#include "capture/taskstats.h"
#include "capture/watch.h"

struct pmp_resting {
	struct pmp_taskstats stats;
	bool opened, unusable;
	bool has_others;
	int64_t others;
	/* Of the capture at hand. */
	size_t count;		/* threads that rest */
	bool leader_rests;
	uint64_t sum;		/* 0: not asked */
	uint64_t active;	/* runs of the active ones, read after the sum */
};

void pmp_resting_close(struct pmp_resting *resting);
/*
 * At the beginning of a capture with this number, of just these threads: says which of them
 * rest (watch->rests). True: none of these has run since its stack was proven.
 */
bool pmp_resting_prove(struct pmp_resting *resting, struct pmp_watches *watches,
		       const struct pmp_process *process, uint64_t number,
		       const struct pmp_log *log);
/* At the end of one for which that was not proven, when the mark of each was read. */
void pmp_resting_learn(struct pmp_resting *resting, const struct pmp_watches *watches);
/* The threads are others now, or their marks could not be read. */
void pmp_resting_forget(struct pmp_resting *resting);

#endif
