/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a process has used so far. */
#ifndef PMP_SINK_PROCESS_USE_H
#define PMP_SINK_PROCESS_USE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct process_use {
	uint64_t cpu;	 /* ns on a processor, all threads, in steps of a clock tick */
	uint64_t memory; /* resident bytes */
};

/** All 0 if there is no such process. */
struct process_use process_use(pid_t pid);

/* Bytes, by /proc/PID/status. */
struct process_memory {
	uint64_t resident;	/* now, VmRSS */
	uint64_t resident_peak; /* the most so far, VmHWM */
	uint64_t data;		/* private and writable, VmData: resident or not */
};

/** Of a process. False: it has none, or has gone. */
bool process_memory(pid_t pid, struct process_memory *memory);

#endif
