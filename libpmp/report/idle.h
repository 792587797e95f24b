/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which threads wait for work. A thread is idle when it sleeps (state S) in a system
 * call in which threads wait to be given something to do: poll, accept, read,
 * nanosleep. A futex is that only where the functions that made the call are those of
 * a condition variable, a semaphore or a parking place: one that waits for a mutex or
 * a reader-writer lock is not idle, and neither is one of which nothing is known. Nor is
 * one that waits for a lock of the program's own, of which its functions are known.
 */
#ifndef PMP_REPORT_IDLE_H
#define PMP_REPORT_IDLE_H

#include <stdbool.h>

enum {
	PMP_IDLE_LOCKS = 1,	   /* a function that waits for a lock */
	PMP_IDLE_WAITS = 2,	   /* one in which threads wait for work */
	PMP_IDLE_OWN_LOCKS = 4096, /* that waits for a lock in whatever way, see
				    * wait-functions.h; no other mark of a filter */
};

#define PMP_IDLE_LOCK_DEPTH 5 /* functions from the leaf: as near a lock is */
#define PMP_IDLE_WAIT_DEPTH 3
#define PMP_IDLE_OWN_DEPTH 12

/* What is known of a function by its name: PMP_IDLE_ flags. */
unsigned pmp_idle_function(const char *name, const char *module);
/* Is that a system call in which threads wait for work, whatever function made it? */
bool pmp_idle_call(const char *syscall);
/* A call that is one or the other: its functions tell. */
bool pmp_idle_is_ambiguous(const char *syscall);

#endif
