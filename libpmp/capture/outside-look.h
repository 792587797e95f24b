/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a call waits for outside the process, and which processes are involved: read from
 * /proc and the kernel, once for all waiters. */
#ifndef PMP_CAPTURE_OUTSIDE_LOOK_H
#define PMP_CAPTURE_OUTSIDE_LOOK_H

#include "base/buf.h"
#include "capture/outsider.h"
#include "capture/target.h"
#include "proc/sockets.h"

/* A process that has one of the objects open, or is one. */
struct pmp_outside_found {
	size_t record;
	struct pmp_other other;
	uint32_t order; /* in which it was found */
};

struct pmp_look_child {
	pid_t pid;
	pid_t own; /* its pid in the process's own namespace; 0: not read yet, -1:
		    * unknown */
};

/* What has been read so far, each when first needed. */
struct pmp_look {
	struct pmp_target *target;
	struct pmp_outside_found *found;
	size_t found_count, found_capacity;
	struct pmp_seek *seeks;
	size_t seek_count, seek_capacity;
	bool has_locks, has_tcp, has_unix, has_unix_table, own_network, own_ipc;
	bool locks_cut; /* there are more */
	struct pmp_file_locks locks;
	struct pmp_tcp_table tcp;
	struct pmp_buf unix_table;
	int unix_fd; /* -1: not opened, or none */
	struct pmp_look_child *children;
	size_t child_count, child_capacity;
	bool has_children; /* children of all threads */
};

void pmp_look_begin(struct pmp_look *look, struct pmp_target *target);
void pmp_look_end(struct pmp_look *look);
/* Fill wait and what of a waiter, except whom it waits for. 0 or PMP_ENOMEM. */
int pmp_look_at(struct pmp_look *look, struct pmp_outsider *outsider);
/* For the first waiter for a thing: puts processes that are already known into found, and
 * what must be searched for among all descriptors into seeks. 0 or PMP_ENOMEM. */
int pmp_look_for_others(struct pmp_look *look, struct pmp_outsider *outsider);
/* fd -1: none. 0 or PMP_ENOMEM. */
int pmp_look_add(struct pmp_look *look, size_t record, pid_t pid, int fd,
		 enum pmp_role role);

#endif
