/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which threads wait for work. A thread is idle if it sleeps (state S) in a system call
 * that threads use to wait for something to do: poll, accept, read, nanosleep. A futex
 * counts only if the functions that made the call belong to a condition variable, a
 * semaphore or thread parking. Not idle are threads that wait for a mutex or rwlock, or
 * in an unknown futex, or for a lock of the program's own that is recognised by its
 * functions.
 */
#ifndef PMP_REPORT_IDLE_H
#define PMP_REPORT_IDLE_H

#include <stdbool.h>

enum {
	PMP_IDLE_LOCKS = 1,	   /* waits for a lock */
	PMP_IDLE_WAITS = 2,	   /* waits for work */
	PMP_IDLE_OWN_LOCKS = 4096, /* waits for a lock of the program's own, see
				    * wait-functions.h; no filter uses this bit */
};

#define PMP_IDLE_LOCK_DEPTH 5 /* in functions from the leaf */
#define PMP_IDLE_WAIT_DEPTH 3
#define PMP_IDLE_OWN_DEPTH 12

/* PMP_IDLE_ flags of a function, by its demangled name. */
unsigned pmp_idle_function(const char *name, const char *module);
/* Do threads wait for work in this system call, no matter which function made it? */
bool pmp_idle_call(const char *syscall);
/* The call may wait for work or for a lock: look at the functions. */
bool pmp_idle_is_ambiguous(const char *syscall);

#endif
