/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A thread that waits for something outside its process, while that is being
 * determined. */
#ifndef PMP_CAPTURE_OUTSIDER_H
#define PMP_CAPTURE_OUTSIDER_H

#include "capture/outside-call.h"
#include "capture/watch.h"
#include "proc/descriptors.h"

/* One waiting thread; at first all is zero except thread, call and what.fd. */
struct pmp_outsider {
	struct pmp_thread *thread;
	struct pmp_watch *watch;
	uint64_t run_count; /* before anything was read */
	struct pmp_outside_call call;
	struct pmp_wait wait; /* kind 0: it does not wait for anything outside */
	struct pmp_outside what;
	struct pmp_file_lock lock; /* a file lock: the kernel's entry of the waiter */
	struct pmp_descriptor descriptor;
	uint64_t seek; /* inode of the other end of a socket; 0: none */
	pid_t taker;   /* of the first conflicting flock in the kernel's list; or 0 */
	bool accepts;  /* seek is not connected yet, but listens */
	size_t record; /* number shared by all waiters for the same thing */
};

#endif
