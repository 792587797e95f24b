/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults that are planted into the recorder which pmp-faulty and some tests carry: each is a
 * hazard that a test has to see. The environment's PMP_FAULT lists those that are wanted, as
 * base/fault.h has it; it is read once, at the start. In every other build they are false.
 */
#ifndef PMP_HEAP_RECORDER_FAULT_H
#define PMP_HEAP_RECORDER_FAULT_H

#ifdef PMP_FAULTS
#include <stddef.h>
#include <stdint.h>
#include <time.h>

typedef int recorder_clock(clockid_t clock, struct timespec *time);

#define RECORDER_FAULTS(X) \
	X(LOCKS, "recorder-locks") /* a lock, which handlers of signals wait for */ \
	X(ALLOCATES, "recorder-allocates") /* memory of the program's allocator */ \
	X(CALLS, "recorder-calls")   /* a system call for each block that is chosen */ \
	X(SIZE, "recorder-size")     /* another usable size */ \
	X(MISSES, "recorder-misses") /* that some blocks are freed */ \
	X(FILTER, "recorder-filter") /* a filter that forgets */ \
	X(REENTERS, "recorder-reenters") /* handlers of signals come in between */ \
	X(STACK, "recorder-stack")	 /* kilobytes of the stack */ \
	X(LOADER, "recorder-loader")	 /* the loader's lock in a child */ \
	X(HURRIES, "recorder-hurries")	 /* does not wait to be known */ \
	X(TIMES, "recorder-times") /* none: says at the end what samples have taken */

enum recorder_fault {
#define RECORDER_FAULT_NUMBER(name, text) RECORDER_FAULT_##name,
	RECORDER_FAULTS(RECORDER_FAULT_NUMBER)
};

extern uint32_t recorder_faults __attribute__((visibility("hidden")));

/* Find out which are wanted. */
void recorder_fault_read(char **environment);
/* What they do; allocate, release: of the program's allocator. clock: may be NULL. */
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
