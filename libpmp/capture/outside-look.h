/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What lies behind a call that waits for something outside of the process, and who has
 * to do with that: by /proc and the kernel's answers, once for all waiters. */
#ifndef PMP_CAPTURE_OUTSIDE_LOOK_H
#define PMP_CAPTURE_OUTSIDE_LOOK_H

#include "base/buf.h"
#include "capture/outside-call.h"
#include "capture/target.h"
#include "proc/descriptors.h"
#include "proc/sockets.h"

/* One thread that waits; it is zero but for thread and call when it is looked at. */
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

/* A process that has one of the objects open, or is one of them. */
struct pmp_outside_found {
	size_t record;
	struct pmp_other other;
	uint32_t order; /* in which they were found */
};

/* What has been read, each when it was first needed. */
struct pmp_look {
	struct pmp_target *target;
	struct pmp_outside_found *found;
	size_t found_count, found_capacity;
	struct pmp_seek *seeks;
	size_t seek_count, seek_capacity;
	bool has_locks, has_tables, own_network, own_ipc;
	struct pmp_file_locks locks;
	struct pmp_buf tcp, tcp6, unix_table;
	int unix_fd; /* -1: not opened, or there is none */
	pid_t *children;
	size_t child_count, child_capacity;
	bool has_children; /* those of all threads */
};

void pmp_look_begin(struct pmp_look *look, struct pmp_target *target);
void pmp_look_end(struct pmp_look *look);
/* Fill wait and what of a waiter, but for who it waits for. 0 or PMP_ENOMEM. */
int pmp_look_at(struct pmp_look *look, struct pmp_outsider *outsider);
/* Of the first waiter for a thing: who is known already goes to found, what has to be
 * looked for among all descriptors to seeks. 0 or PMP_ENOMEM. */
int pmp_look_for_others(struct pmp_look *look, struct pmp_outsider *outsider);
/* fd -1: none. 0 or PMP_ENOMEM. */
int pmp_look_add(struct pmp_look *look, size_t record, pid_t pid, int fd,
		 enum pmp_role role);

#endif
