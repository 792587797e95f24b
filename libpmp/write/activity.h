/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What threads did while they had a stack: the first of these that applies.
 *
 *     run     found running; in times, what the kernel counted as CPU time
 *     ready   found running, but without a CPU: the rest of that time
 *     lock    waits for a lock, as its bytes or function names tell
 *     disk    uninterruptible, or in a system call that waits for a file's data
 *     sleep   everything else; a part of it is idle
 *
 * The times of a thread add up to the time between its snapshots: CPU time that it had
 * while it was not found running is taken off the other times.
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

/* The activities of one path. */
struct pmp_activities {
	enum pmp_activity most; /* the one found */
	bool idle;
	uint64_t times[PMP_ACTIVITY_COUNT]; /* ns; all 0 if times are unknown */
};

struct pmp_thread_times;
struct pmp_intern;

struct pmp_activity_table {
	const struct pmp_report *report;
	const struct pmp_paths *paths;
	bool timed;	  /* times are known */
	bool has_threads; /* names of threads are known */
	pmp_marks *marks; /* by function */
	pmp_marks *stack; /* of the current path */
	struct pmp_intern *threads;
	struct pmp_thread_times *times; /* by thread number */
};

/* paths: made from the report with .apart. Must be freed even on failure.
 * 0 or PMP_ENOMEM. */
int pmp_activity_make(struct pmp_activity_table *table, const struct pmp_report *report,
		      const struct pmp_paths *paths);
void pmp_activity_get(struct pmp_activity_table *table, const struct pmp_path *path,
		      struct pmp_activities *activities);
/* The number of threads, and the index of an entry's thread. If threads are not kept
 * apart, these are groups or processes. */
size_t pmp_activity_threads(const struct pmp_activity_table *table);
uint32_t pmp_activity_thread(const struct pmp_activity_table *table,
			     const struct pmp_entry *entry);
void pmp_activity_free(struct pmp_activity_table *table);

#endif
