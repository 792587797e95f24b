/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --children: which processes descend from the targets. A process does if its parent is a
 * target, or was one that ended while it was being opened; if a target started its session;
 * or if it was reparented to the adopter, the subreaper for orphans of a command.
 */
#ifndef PMP_SAMPLER_CHILDREN_H
#define PMP_SAMPLER_CHILDREN_H

#include "libpmp-program.h"
#include "sampler/protocol.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define PMP_CHILDREN_PAST 1024
#define PMP_CHILDREN_GIVEN 64
#define CHILDREN_HELPERS 2

struct own_processes;

struct children {
	struct pmp_procwatch *watch;	 /* NULL: children are not wanted */
	pid_t adopter;			 /* 0: none */
	pid_t helpers[CHILDREN_HELPERS]; /* its children that are not the command's;
					  * 0: none */
	const struct own_processes *own; /* those that are started later; or NULL */
	struct sampler_targets left_out; /* never given, nor what they start; borrowed */
	struct pmp_new_process *list;	 /* of the last scan; pid 0: dealt with */
	size_t count, next;
	bool again;
	pid_t given[PMP_CHILDREN_GIVEN]; /* ring of the last ones of this scan */
	size_t given_count;
	pid_t past[PMP_CHILDREN_PAST]; /* ring of the last ones that have ended */
	size_t past_count;
};

int children_open(struct children *children, pid_t adopter, struct pmp_error *err);
/** Find new processes for children_next(); none if the scan fails. */
void children_scan(struct children *children);
/**
 * The next process to sample, or 0. Each is given once. samples(): is pid being sampled by
 * now? Asked for each relative, also for those that were given before.
 */
pid_t children_next(struct children *children, bool (*samples)(void *arg, pid_t pid),
		    void *arg);
/** A process that was sampled has ended. Its session may live on. */
void children_ended(struct children *children, pid_t pid);

#endif
