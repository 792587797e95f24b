/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For how long threads have waited for locks: by the stacks that waited, or by those that
 * made them wait. The formats contention and mutex are the two, each as text or as what
 * `go tool pprof` calls a profile.
 */
#ifndef PMP_WRITE_DELAYS_H
#define PMP_WRITE_DELAYS_H

#include "write/writer.h"

enum pmp_delays_of { PMP_DELAYS_OF_WAITERS, PMP_DELAYS_OF_HOLDERS };

/* One stack. */
struct pmp_delay {
	const pmp_location *locations; /* innermost first; none: */
	size_t location_count;
	const char *mark; /* what stands for an unknown holder, "[no holder]"; else "" */
	uint64_t contentions; /* that were found, at least 1 */
	uint64_t delay;	      /* ns */
	uint64_t samples;     /* of waiting threads; of holders 0 */
};

struct pmp_delays {
	struct pmp_delay *items; /* the longest first */
	size_t count, capacity;
	uint64_t samples;	 /* of all that have waited */
	struct pmp_intern *keys; /* of items */
	const struct pmp_report *report;
};

/* To be freed also after a failure. 0 or PMP_ENOMEM. */
int pmp_delays_make(struct pmp_delays *delays, const struct pmp_report *report,
		    enum pmp_delays_of of);
void pmp_delays_free(struct pmp_delays *delays);

#endif
