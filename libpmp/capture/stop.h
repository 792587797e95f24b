/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The only place that stops threads. PTRACE_SEIZE and PTRACE_INTERRUPT, never
 * ATTACH, never a SIGSTOP, no options, never CONT: whatever happens to us, the
 * kernel lets a seized thread run on (ptrace(2); tested by killing pmp at each
 * of its system calls).
 *
 * While a thread is held: registers, one copy of its stack, a lock, release. Nothing is
 * opened, allocated, unwound or logged, and every wait has a deadline. A thread
 * that does not stop in time goes to the list of pending stops and is released the moment
 * it stops.
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

#define PMP_REQUEST_MAX 16   /* threads seized at a time, but for PMP_STOP_ALL */
#define PMP_REQUEST_RANGES 3 /* pieces of stack copied from one thread */

enum pmp_request_result {
	PMP_REQUEST_DONE,    /* registers and copies are there */
	PMP_REQUEST_GONE,    /* the thread has ended */
	PMP_REQUEST_REFUSED, /* ptrace said no: sys_errno */
	PMP_REQUEST_LATE,    /* did not stop in time: the stop is pending */
	PMP_REQUEST_FAILED,  /* stopped, but could not be read: sys_errno */
};

/* A piece of memory to be copied while the thread is held. */
struct pmp_range {
	uint64_t address;    /* in, but for the first: that begins at the stack pointer */
	size_t want;	     /* in: bytes */
	unsigned char *data; /* in: room for them, touched before */
	size_t got;	     /* out */
};

/* One thread to stop, and what was read of it. */
struct pmp_stop_request {
	pid_t tid;
	bool running; /* in: it was seen running, so its stop takes a moment */
	struct pmp_range ranges[PMP_REQUEST_RANGES];
	size_t range_count;    /* at least 1 */
	bool cut;	       /* more of its stack is wanted than there is room for */
	struct pmp_range lock; /* that it seems to hold; want 0: none */

	enum pmp_request_result result;
	int sys_errno;
	union pmp_user_regs user;
	struct pmp_syscall_file call; /* right before the stop; number -1: not known */
	uint64_t tls;
	uint64_t stopped; /* ns from stop to release */

	/* state of stop.c */
	int phase;
	int status; /* of waitpid */
	int signal; /* to be handed on at release */
	uint64_t start;
};

struct pmp_stopper;

/* Both are borrowed. NULL: no memory. */
struct pmp_stopper *pmp_stopper_new(const struct pmp_process *process,
				    const struct pmp_target_options *options);
/* Release the threads of pending stops, waiting a little for them;
 * pmp_stopper_reap_closed(), called by the same thread, releases the rest, or the
 * kernel does when that thread ends. */
void pmp_stopper_free(struct pmp_stopper *stopper);

/*
 * Stop each thread, read it, release it; one after the other where they are
 * blocked, overlapping where they have to come to a stop first.
 * count <= PMP_REQUEST_MAX. The lengths of the copies are cut by maps.
 * Returns the ns during which any of them was held.
 */
uint64_t pmp_stop_each(struct pmp_stopper *stopper, const struct pmp_maps *maps,
		       struct pmp_stop_request *requests, size_t count);
/* Stop all, then read all, then release all: one instant. Any count. */
uint64_t pmp_stop_together(struct pmp_stopper *stopper, const struct pmp_maps *maps,
			   struct pmp_stop_request *requests, size_t count);
/* Release those threads of pending stops that have stopped by now; returns how many are
 * left. */
size_t pmp_stopper_reap(struct pmp_stopper *stopper);
/* The same for those that pmp_stopper_free() has left, of all stoppers that the calling
 * thread has freed. */
size_t pmp_stopper_reap_closed(void);
/* The ns that threads with pending stops were held at most since this was last asked:
 * when one stopped is known only to lie between two polls of it. */
uint64_t pmp_stopper_pending_time(struct pmp_stopper *stopper);
/* Is the stop of this thread still pending, or on that of a stopper freed before? */
bool pmp_stopper_is_pending(const struct pmp_stopper *stopper, pid_t tid);

#endif
