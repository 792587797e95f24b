/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a process has used so far. */
#ifndef PMP_SINK_PROCESS_USE_H
#define PMP_SINK_PROCESS_USE_H

#include <stdint.h>
#include <sys/types.h>

struct process_use {
	uint64_t cpu;	 /* ns on a processor, all threads, in steps of a clock tick */
	uint64_t memory; /* resident bytes */
};

/** All 0 if there is no such process. */
struct process_use process_use(pid_t pid);

#endif
