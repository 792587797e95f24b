/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What threads did while they had a stack: the first of these that applies.
 *
 *     run     found running; of times what the kernel has counted as CPU time
 *     ready   found so, but without a processor: the rest of that time
 *     lock    waits for a lock, as its bytes or the names of functions say
 *     disk    uninterruptible, or in a system call that waits for a file's data
 *     sleep   everything else; a part of it is idle
 *
 * The times of a thread add up to the time between its snapshots: CPU time that it had
 * while it was not found running is not counted as sleep as well.
 */
#ifndef PMP_WRITE_ACTIVITY_H
#define PMP_WRITE_ACTIVITY_H

#include <stdbool.h>
#include <stdint.h>

#include "libpmp-program.h"
#include "write/paths.h"

enum pmp_activity {
	PMP_ACTIVITY_RUN,
	PMP_ACTIVITY_READY,
	PMP_ACTIVITY_LOCK,
	PMP_ACTIVITY_DISK,
	PMP_ACTIVITY_SLEEP,
	PMP_ACTIVITY_COUNT
};

/* Of one path. */
struct pmp_activities {
	enum pmp_activity most; /* that it was found in */
	bool idle;
	uint64_t times[PMP_ACTIVITY_COUNT]; /* ns; all 0 unless times are known */
};

struct pmp_thread_times;
struct pmp_intern;

struct pmp_activity_table {
	const struct pmp_report *report;
	const struct pmp_paths *paths;
	bool timed;	  /* times are known */
	bool has_threads; /* so are names of threads */
	pmp_marks *marks; /* by function */
	pmp_marks *stack; /* of the current path */
	struct pmp_intern *threads;
	struct pmp_thread_times *times; /* by thread */
};

/* Of paths that were made of the report, .apart. To be freed also after a failure. 0 or
 * PMP_ENOMEM. */
int pmp_activity_make(struct pmp_activity_table *table, const struct pmp_report *report,
		      const struct pmp_paths *paths);
void pmp_activity_get(struct pmp_activity_table *table, const struct pmp_path *path,
		      struct pmp_activities *activities);
/* How many threads the report's entries are of, and the number of one's thread; where
 * threads are not kept apart they are those of a group or a process. */
size_t pmp_activity_threads(const struct pmp_activity_table *table);
uint32_t pmp_activity_thread(const struct pmp_activity_table *table,
			     const struct pmp_entry *entry);
void pmp_activity_free(struct pmp_activity_table *table);

#endif
