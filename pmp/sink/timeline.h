/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the threads of all targets did in each of the last seconds, for the time line of the
 * page. A second lasts from the first snapshot in it to the first one after it: so it only
 * costs one look at sums that the profile keeps anyway. The sums of each process are scaled
 * by the time between its own snapshots.
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
	uint64_t heap;			 /* bytes allocated and not freed */
};

/** start: the beginning of second 0; all times are CLOCK_MONOTONIC, ns. NULL: no memory. */
struct timeline *timeline_new(uint64_t start);
void timeline_free(struct timeline *timeline);
/** Is a second complete? Then call timeline_add(), once pmp_profile_name_locks() has found
 * out which threads wait for locks. */
bool timeline_is_due(const struct timeline *timeline, const struct targets *targets);
/** Add a second if it is complete. interval: the expected time between snapshots. */
void timeline_add(struct timeline *timeline, const struct pmp_profile *profile,
		  const struct targets *targets, uint64_t interval);
/** The complete seconds: from *first to before the returned one. */
int64_t timeline_range(const struct timeline *timeline, int64_t *first);
/** A second of that range, for one process, or for all with pid 0. From the 64th process on
 * nothing is known. */
struct timeline_second timeline_get(const struct timeline *timeline, pid_t pid,
				    int64_t second);

#endif
