/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long threads waited for locks: by the stacks that waited (format contention), or by
 * those that made them wait (format mutex). Each can be text or what `go tool pprof`
 * calls a profile.
 */
#ifndef PMP_WRITE_DELAYS_H
#define PMP_WRITE_DELAYS_H

#include "write/writer.h"

enum pmp_delays_of { PMP_DELAYS_OF_WAITERS, PMP_DELAYS_OF_HOLDERS };

/* The waits of one stack. */
struct pmp_delay {
	const pmp_location *locations; /* innermost first; none: see mark */
	size_t location_count;
	const char *mark;     /* stands for an unknown holder, "[no holder]"; else "";
			       * of a saved profile any text */
	uint64_t contentions; /* waits that were found, at least 1 */
	uint64_t delay;	      /* ns */
	uint64_t samples;     /* of waiting threads; 0 for holders */
};

struct pmp_delays {
	struct pmp_delay *items; /* longest delay first */
	size_t count, capacity;
	uint64_t samples;	 /* of all waiting threads */
	struct pmp_intern *keys; /* finds items */
	const struct pmp_report *report;
};

/* Must be freed even on failure. 0 or PMP_ENOMEM. */
int pmp_delays_make(struct pmp_delays *delays, const struct pmp_report *report,
		    enum pmp_delays_of of);
void pmp_delays_free(struct pmp_delays *delays);

#endif
