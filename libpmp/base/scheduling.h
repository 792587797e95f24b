/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the kernel schedules the calling thread. */
#ifndef PMP_BASE_SCHEDULING_H
#define PMP_BASE_SCHEDULING_H

#include <stdint.h>

/* struct sched_attr of sched_getattr(2), which glibc has only since 2.41. */
struct pmp_scheduling {
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime; /* ns; for ordinary threads the time slice, since Linux 6.12 */
	uint64_t deadline, period;
};

/* 0 or a negative errno. */
int pmp_scheduling_get(struct pmp_scheduling *scheduling);
int pmp_scheduling_set(const struct pmp_scheduling *scheduling);

#endif
