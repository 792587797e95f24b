/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What all threads of the targets did in each of the last seconds: what a page draws along
 * its time line. A second goes from the first snapshot in it to the first one after it, so
 * that it costs one look at the sums that the profile keeps anyway; of each process it is
 * scaled by the time between its own snapshots.
 */
#ifndef PMP_SINK_TIMELINE_H
#define PMP_SINK_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pmp_profile;
struct targets;
struct timeline;

enum {
	TIMELINE_RUN,
	TIMELINE_READY,
	TIMELINE_LOCK,
	TIMELINE_DISK,
	TIMELINE_SLEEP,
	TIMELINE_STATES
};

struct timeline_second {
	bool sampled;
	uint32_t times[TIMELINE_STATES]; /* thread-ms */
	uint64_t heap;			 /* bytes that were allocated and not freed */
};

/** start: when second 0 begins, CLOCK_MONOTONIC, ns, as all times. NULL: no memory. */
struct timeline *timeline_new(uint64_t start);
void timeline_free(struct timeline *timeline);
/** Is a second complete? Then it is to be added, once names have told which threads wait for
 * locks (pmp_profile_name_locks()). */
bool timeline_is_due(const struct timeline *timeline, const struct targets *targets);
/** A second may be complete; the next snapshot is to come after the interval. */
void timeline_add(struct timeline *timeline, const struct pmp_profile *profile,
		  const struct targets *targets, uint64_t interval);
/** Seconds that are complete: from *first on, up to the returned number. */
int64_t timeline_range(const struct timeline *timeline, int64_t *first);
/** A second of that range, of one process or, with 0, of all. Of the 64th process and those
 * after it none is known. */
struct timeline_second timeline_get(const struct timeline *timeline, pid_t pid,
				    int64_t second);

#endif
