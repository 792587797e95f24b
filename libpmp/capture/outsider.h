/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A thread that waits for something outside of its process, while that is found out. */
#ifndef PMP_CAPTURE_OUTSIDER_H
#define PMP_CAPTURE_OUTSIDER_H

#include "capture/outside-call.h"
#include "capture/watch.h"
#include "proc/descriptors.h"

/* One thread that waits; when it is looked at it is zero but for thread, call and
 * what.fd. */
struct pmp_outsider {
	struct pmp_thread *thread;
	struct pmp_watch *watch;
	uint64_t run_count; /* before all of this */
	struct pmp_outside_call call;
	struct pmp_wait wait; /* kind 0: it is nothing of this kind after all */
	struct pmp_outside what;
	struct pmp_file_lock lock; /* of a file: as the kernel lists the waiter */
	struct pmp_descriptor descriptor;
	uint64_t seek; /* inode of the other end of a socket; 0: none */
	pid_t taker;   /* of the first flock in its way, as the kernel lists it; or 0 */
	bool accepts;  /* that is no end yet, but listens */
	size_t record; /* all waiters for the same thing have the same */
};

#endif
