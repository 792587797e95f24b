/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults planted into the recorder that pmp-faulty and some tests carry: each is a hazard
 * that a test has to detect. PMP_FAULT in the environment lists those that are wanted, as
 * in base/fault.h; it is read once, at the start. In every other build all are false.
 */
#ifndef PMP_HEAP_RECORDER_FAULT_H
#define PMP_HEAP_RECORDER_FAULT_H

#ifdef PMP_FAULTS
#include <stddef.h>
#include <stdint.h>
#include <time.h>

typedef int recorder_clock(clockid_t clock, struct timespec *time);

#define RECORDER_FAULTS(X) \
	X(LOCKS, "recorder-locks")	   /* takes a lock, also in signal handlers */ \
	X(ALLOCATES, "recorder-allocates") /* calls the program's allocator */ \
	X(CALLS, "recorder-calls")	   /* makes a system call for each sample */ \
	X(SIZE, "recorder-size")	   /* reports wrong usable sizes */ \
	X(MISSES, "recorder-misses")	   /* misses frees of some blocks */ \
	X(FILTER, "recorder-filter")	   /* its filter forgets blocks */ \
	X(REENTERS, "recorder-reenters")   /* lets signal handlers interrupt it */ \
	X(STACK, "recorder-stack")	   /* uses kilobytes of stack */ \
	X(LOADER, "recorder-loader")	   /* takes the loader's lock in a child */ \
	X(HURRIES, \
	  "recorder-hurries")	   /* does not wait for pmp, at first and before exec */ \
	X(TIMES, "recorder-times") /* no fault: prints times of samples at the end */

enum recorder_fault {
#define RECORDER_FAULT_NUMBER(name, text) RECORDER_FAULT_##name,
	RECORDER_FAULTS(RECORDER_FAULT_NUMBER)
};

extern uint32_t recorder_faults __attribute__((visibility("hidden")));

/* Read which faults are wanted. */
void recorder_fault_read(char **environment);
/* Act on the faults: before a sample, after it, and where a signal handler shall interrupt.
 * allocate, release: of the program's allocator. clock: may be NULL. */
void recorder_fault_sample(void *(*allocate)(size_t size), void (*release)(void *block),
			   recorder_clock *clock);
void recorder_fault_sampled(recorder_clock *clock);
void recorder_fault_wait(void);

#define RECORDER_FAULT(name) (recorder_faults & 1u << RECORDER_FAULT_##name)
#else
#define RECORDER_FAULT(name) 0
#define recorder_fault_read(environment) ((void)(environment))
#define recorder_fault_sample(allocate, release, clock) ((void)0)
#define recorder_fault_sampled(clock) ((void)0)
#define recorder_fault_wait() ((void)0)
#endif

#endif
