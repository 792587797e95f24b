/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --children: which processes descend from those that are sampled. A process is one of
 * theirs if its parent is, also one that has ended while it was being opened, if its session
 * was begun by one of them, or if it was left to the adopter, who gets those of a command
 * whose parents have ended.
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
	pid_t helpers[CHILDREN_HELPERS]; /* children of it that are none of the command's;
					  * 0: none */
	const struct own_processes *own; /* likewise, that are started later; or NULL */
	struct sampler_targets left_out; /* never given, nor what they start; borrowed */
	struct pmp_new_process *list;	 /* of the last scan, pid 0: done with */
	size_t count, next;
	bool again;
	pid_t given[PMP_CHILDREN_GIVEN]; /* the last ones of this scan */
	size_t given_count;
	pid_t past[PMP_CHILDREN_PAST]; /* the last ones that have ended */
	size_t past_count;
};

int children_open(struct children *children, pid_t adopter, struct pmp_error *err);
/** What is new? For children_next(); if the scan fails, nothing. */
void children_scan(struct children *children);
/**
 * The next one that is to be sampled, or 0. Each is given once. samples: is that process
 * sampled, as one that was given before may be by now?
 */
pid_t children_next(struct children *children, bool (*samples)(void *arg, pid_t pid),
		    void *arg);
/** A process that was sampled has ended. Its session may live on. */
void children_ended(struct children *children, pid_t pid);

#endif
