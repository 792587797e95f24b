/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The only place that stops threads. PTRACE_SEIZE and PTRACE_INTERRUPT, never ATTACH,
 * never a SIGSTOP, no options, never CONT: whatever happens to pmp, the kernel resumes a
 * seized thread (ptrace(2); tested by killing pmp at each of its system calls).
 *
 * While a thread is held: registers, one copy of its stack, a lock, release. Nothing is
 * opened, allocated, unwound or logged, and every wait has a deadline. A thread that does
 * not stop in time is put on the list of pending stops and released as soon as it stops.
 */
#ifndef PMP_CAPTURE_STOP_H
#define PMP_CAPTURE_STOP_H

#include "libpmp.h"
#include "proc/process.h"
#include "sample.h"
#include "capture/user-regs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PMP_REQUEST_MAX 16   /* threads seized at a time, except with PMP_STOP_ALL */
#define PMP_REQUEST_RANGES 3 /* pieces of stack copied from one thread */

enum pmp_request_result {
	PMP_REQUEST_DONE,    /* registers and copies have been read */
	PMP_REQUEST_GONE,    /* the thread has exited */
	PMP_REQUEST_REFUSED, /* ptrace refused: sys_errno */
	PMP_REQUEST_LATE,    /* did not stop in time: the stop is pending */
	PMP_REQUEST_FAILED,  /* stopped, but could not be read: sys_errno */
};

/* A piece of memory to copy while the thread is held. */
struct pmp_range {
	uint64_t address;    /* in; the first range begins at the stack pointer instead */
	size_t want;	     /* in: bytes */
	unsigned char *data; /* in: buffer of that size, already faulted in */
	size_t got;	     /* out */
};

/* One thread to stop, and what was read from it. */
struct pmp_stop_request {
	pid_t tid;
	bool running; /* in: it was seen running, so stopping it takes a moment */
	struct pmp_range ranges[PMP_REQUEST_RANGES];
	size_t range_count;    /* at least 1 */
	bool cut;	       /* more of its stack is wanted than fits */
	struct pmp_range lock; /* a lock that it seems to hold; want 0: none */

	enum pmp_request_result result;
	int sys_errno;
	union pmp_user_regs user;
	struct pmp_syscall_file call; /* right before the stop; number -1: unknown */
	uint64_t tls;
	uint64_t stopped; /* ns from stop to release */
	bool restarted;	  /* the call that the stop interrupted starts over */

	/* state of stop.c */
	int phase;
	int status; /* of waitpid */
	int signal; /* to deliver at release */
	uint64_t start;
};

struct pmp_stopper;

/* Both are borrowed. NULL: no memory. */
struct pmp_stopper *pmp_stopper_new(const struct pmp_process *process,
				    const struct pmp_target_options *options);
/* Release the threads of pending stops, waiting briefly for them; the rest is
 * released by pmp_stopper_reap_closed(), called by the same thread, or by the
 * kernel when that thread exits. */
void pmp_stopper_free(struct pmp_stopper *stopper);

/*
 * Stop each thread, read it, release it; blocked threads one after another,
 * running ones overlapping, because they take a moment to stop. count <=
 * PMP_REQUEST_MAX. Copies are limited to what maps contains. Returns the ns
 * during which any of them was held.
 */
uint64_t pmp_stop_each(struct pmp_stopper *stopper, const struct pmp_maps *maps,
		       struct pmp_stop_request *requests, size_t count);
/* Stop all, then read all, then release all: one instant. Any count. */
uint64_t pmp_stop_together(struct pmp_stopper *stopper, const struct pmp_maps *maps,
			   struct pmp_stop_request *requests, size_t count);
/* Release threads of pending stops that have stopped by now; returns how many are left. */
size_t pmp_stopper_reap(struct pmp_stopper *stopper);
/* The same for those left by pmp_stopper_free(), of all stoppers that the calling thread
 * has freed. */
size_t pmp_stopper_reap_closed(void);
/* The maximum ns that threads with pending stops were held since the last call: the time
 * of a stop is only known to lie between two polls. */
uint64_t pmp_stopper_pending_time(struct pmp_stopper *stopper);
/* Is the stop of this thread still pending, here or in a stopper freed before? */
bool pmp_stopper_is_pending(const struct pmp_stopper *stopper, pid_t tid);

#endif
