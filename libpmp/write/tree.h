/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call tree as JSON, for the page. Stacks with the same beginning share a branch, and
 * each node has the values of the stacks that end in it. Branches that are too narrow to
 * be seen, or beyond the limit, are merged.
 *
 *     {"unit":"us","states":["run","ready","lock","disk","sleep"],"split":"group",
 *     "names":["all","[unknown]","main","mariadbd","poll"],
 *     "modules":["mariadbd","libc.so.6"],"module":[-1,-1,0,-1,1],
 *     "files":["sql/main.cc"],"file":[-1,-1,0,-1,-1],
 *     "depth":[0,1,2,3],"name":[0,3,2,4],
 *     "v":[[-3,17],...],"idle":[...],"samples":[...],"idle_samples":[...],
 *     "base":[...],"base_idle":[...]}
 *
 * module, file      by name: numbers; -1: not a function, or unknown
 * depth, name       by node, in preorder, siblings sorted by name. A negative name is the
 *                   last sibling and stands for that many merged ones
 * v                 by state and node; idle is a part of the last state
 * unit              of v: us; samples, if times are unknown; what is counted instead of
 *                   stacks, with a single state, "value"; or heap: live and allocated
 *                   memory, with the states inuse_space and alloc_space (bytes),
 *                   inuse_objects and alloc_objects
 * samples           only with us: how often stacks were found; idle_samples: idle ones
 * base              only with a base: how often the base has them, unscaled; base_idle
 * heaps             only with the unit heap: exact totals of each recorded process, in
 *                   usable bytes
 * split             "group" or "thread": what follows the process; "": functions
 *
 * The numbers from v on are those of stacks that end in the node; the page adds up
 * branches. A negative number stands for that many zeros, and zeros at the end are
 * omitted.
 */
#ifndef PMP_WRITE_TREE_H
#define PMP_WRITE_TREE_H

#include "libpmp-program.h"
#include "write/activity.h"
#include "write/paths.h"

struct pmp_out;

/* The paths of a tree, and what threads did in each. */
struct pmp_tree_paths {
	struct pmp_paths paths;
	struct pmp_activity_table activities;
	const char *split;
};

/* Must be freed with pmp_tree_paths_free() even on failure. 0 or PMP_ENOMEM. */
int pmp_tree_paths_make(struct pmp_tree_paths *paths, const struct pmp_report *report,
			const struct pmp_tree_options *options);
void pmp_tree_paths_free(struct pmp_tree_paths *paths);
/* Append the object. It contains nothing that could end an HTML element. */
void pmp_tree_add(struct pmp_out *out, struct pmp_tree_paths *paths,
		  const struct pmp_tree_options *options);
/* Append an array with a row for each thread: [pid, tid, name, group, samples, times or
 * samples by state, most frequent stack]. Returns how many rows beyond the limit were
 * left out. */
size_t pmp_tree_add_threads(struct pmp_out *out, struct pmp_tree_paths *paths);
/* Append an array with a row for each lock that was waited for, the most samples first,
 * at most 500: [kind and name, meaning, time (us; samples, if times are unknown),
 * samples, waiting threads, most frequent holder, samples with this holder, most frequent
 * stack of waiters, the stack with which the holder delayed others longest]. */
void pmp_tree_add_locks(struct pmp_out *out, struct pmp_tree_paths *paths);
/* Append a JSON string that cannot end an HTML element. */
void pmp_tree_add_string(struct pmp_buf *buf, const char *text);
/* Append "poll<vio_io_wait<do_command", at most that many functions, without innermost
 * ones for which is_left_out() is true; NULL: skip none. */
void pmp_tree_add_stack(struct pmp_buf *buf, const struct pmp_paths *paths,
			const struct pmp_path *path,
			bool (*is_left_out)(const char *function), size_t most);

#endif
