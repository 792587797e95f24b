/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tree of calls as JSON, for the page: all stacks with the same beginning are one
 * branch, and each node has what was found at the end of such stacks. Branches that are
 * too narrow to be seen, or one too many, are put together.
 *
 *     {"unit":"us","states":["run","ready","lock","disk","sleep"],"split":"group",
 *     "names":["all","[unknown]","main","mariadbd","poll"],
 *     "modules":["mariadbd","libc.so.6"],"module":[-1,-1,0,-1,1],
 *     "files":["sql/main.cc"],"file":[-1,-1,0,-1,-1],
 *     "depth":[0,1,2,3],"name":[0,3,2,4],
 *     "v":[[-3,17],...],"idle":[...],"samples":[...],"idle_samples":[...],
 *     "base":[...],"base_idle":[...]}
 *
 * module, file      by name: numbers, -1 of what is no function, or where none is known
 * depth, name       by node, in preorder, siblings in the order of their names. A negative
 *                   name is the last sibling: so many that were put together
 * v                 by state and node; idle is a part of the last state
 * unit              of v: us; samples, if times are not known; or what is counted instead
 *                   of stacks, which then has one state only, "value"; or heap: what lives and
 *                   was allocated, with the states inuse_space and alloc_space (bytes),
 *                   inuse_objects and alloc_objects
 * samples           with us only: how often stacks were found; idle_samples: of these idle
 * base              with a base only: how often it has them, not scaled; base_idle
 * heaps             with the unit heap only, of each process that was recorded: its exact
 *                   totals, in usable bytes
 * split             "group" or "thread": what follows the process; "": functions
 *
 * The numbers from v on are of stacks that end in the node: with its branches, it has their
 * sum. A negative one stands for so many times 0, and what is not there at the end is 0.
 */
#ifndef PMP_WRITE_TREE_H
#define PMP_WRITE_TREE_H

#include "libpmp-program.h"
#include "write/activity.h"
#include "write/paths.h"

struct pmp_out;

/* Paths as a tree has them, and what threads did in each. */
struct pmp_tree_paths {
	struct pmp_paths paths;
	struct pmp_activity_table activities;
	const char *split;
};

/* To be freed with pmp_tree_paths_free() also after a failure. 0 or PMP_ENOMEM. */
int pmp_tree_paths_make(struct pmp_tree_paths *paths, const struct pmp_report *report,
			const struct pmp_tree_options *options);
void pmp_tree_paths_free(struct pmp_tree_paths *paths);
/* Append the object; nothing that is in it ends an element of HTML. */
void pmp_tree_add(struct pmp_out *out, struct pmp_tree_paths *paths,
		  const struct pmp_tree_options *options);
/* Append an array with a row for each thread: [pid, tid, name, group, samples, times or samples
 * by state, its most frequent stack]. Returns how many were left out, being too many. */
size_t pmp_tree_add_threads(struct pmp_out *out, struct pmp_tree_paths *paths);
/* Append an array with a row for each lock that was waited for, those with most samples
 * first, at most 500: [its kind and name, meaning, time (us; samples, if times are not known),
 * samples, threads that waited, its most frequent holder, samples in which it was that, the
 * most frequent stack that waited, that which the holder had for longest meanwhile]. */
void pmp_tree_add_locks(struct pmp_out *out, struct pmp_tree_paths *paths);
/* Append a string of JSON that ends no element of HTML. */
void pmp_tree_add_string(struct pmp_buf *buf, const char *text);
/* Append "poll<vio_io_wait<do_command", so many functions at most, without the innermost ones
 * that are to be left out; NULL: all are shown. */
void pmp_tree_add_stack(struct pmp_buf *buf, const struct pmp_paths *paths,
			const struct pmp_path *path,
			bool (*is_left_out)(const char *function), size_t most);

#endif
