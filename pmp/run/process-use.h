/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPU time and memory of a process. */
#ifndef PMP_RUN_PROCESS_USE_H
#define PMP_RUN_PROCESS_USE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct process_use {
	uint64_t cpu;	 /* ns, all threads, in units of a clock tick */
	uint64_t memory; /* resident bytes */
};

/** All 0 if the process does not exist. */
struct process_use process_use(pid_t pid);

/* Bytes, from /proc/PID/status. */
struct process_memory {
	uint64_t resident;	/* now, VmRSS */
	uint64_t resident_peak; /* VmHWM */
	uint64_t data;		/* private and writable, resident or not, VmData */
};

/** Get the memory of a process. False: it has none, or is gone. */
bool process_memory(pid_t pid, struct process_memory *memory);

#endif
