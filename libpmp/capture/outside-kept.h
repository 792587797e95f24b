/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the last look for waits outside a process found. A look takes long, compared with a
 * capture, and at 10 Hz it would be repeated ten times a second for connections that have
 * been idle for hours: so its results are reused for a while for threads that have not
 * run.
 */
#ifndef PMP_CAPTURE_OUTSIDE_KEPT_H
#define PMP_CAPTURE_OUTSIDE_KEPT_H

#include "capture/watch.h"
#include "sample.h"

struct pmp_kept_wait {
	pid_t tid;
	uint64_t run_count;
	struct pmp_wait wait; /* .outside: index + 1 in outsides */
};

/* All zero: nothing is kept. */
struct pmp_outside_kept {
	uint64_t until;		     /* when the next look is due; 0: now */
	struct pmp_kept_wait *waits; /* sorted by tid */
	size_t wait_count, wait_capacity;
	struct pmp_outside *outsides;
	size_t outside_count, outside_capacity;
	struct pmp_other *others;
	size_t other_count, other_capacity;
	size_t hidden;
	bool walk_cut;
};

/* Keep what a look found, from a sample, except file locks, which change hands. began:
 * when the look began (CLOCK_MONOTONIC, ns). 0 or PMP_ENOMEM: nothing is kept. */
int pmp_outside_keep(struct pmp_outside_kept *kept, const struct pmp_sample *sample,
		     struct pmp_watches *watches, uint64_t began);
/* Apply it to threads of a later sample that have not run since. 0 or PMP_ENOMEM. */
int pmp_outside_recall(const struct pmp_outside_kept *kept, struct pmp_sample *sample,
		       struct pmp_watches *watches, const struct pmp_process *process);
void pmp_outside_kept_free(struct pmp_outside_kept *kept);

#endif
