/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who waits for whom in a snapshot: each thread waits for one other at most, so threads
 * form trees whose roots wait for no known holder (they have to finish first), and
 * circles, the deadlocks.
 */
#ifndef PMP_REPORT_WAIT_GRAPH_H
#define PMP_REPORT_WAIT_GRAPH_H

#include "report/stacks.h"
#include "report/wait-kinds.h"

#define PMP_NO_THREAD SIZE_MAX
#define PMP_WAIT_CHAIN_MAX 32 /* threads from a waiter to its root */

struct pmp_wait_node {
	struct pmp_named_wait named;
	const struct pmp_wait *wait; /* of named */
	size_t row;		     /* of the snapshot */
	size_t holder; /* node of the thread that it waits for, or PMP_NO_THREAD */
	size_t behind; /* threads that wait for this one, directly or not */
	char group[PMP_NAME_SIZE]; /* of its thread: conn-17 and conn-18 are conn-N */
	bool shown;		   /* for those who walk the graph */
};

/* A lock that a thread holds and others wait for: one of these and their number. */
struct pmp_held_lock {
	size_t holder, waiter; /* nodes */
	size_t count;
};

struct pmp_wait_graph {
	const struct pmp_report *report;
	struct pmp_wait_node *nodes; /* one for each row, in their order */
	size_t count;
	size_t waiting;	   /* threads that wait for locks */
	size_t known;	   /* of these, with a holder that is known */
	size_t inferred;   /* of these, with one that was inferred */
	size_t deadlocked; /* threads in deadlocks */
	size_t unread;	   /* threads of a core that lacks what they wait for */
	struct pmp_held_lock
		*held; /* by their holders, after pmp_wait_graph_find_held() */
	size_t held_count;
};

/* Of the report of a snapshot; to be freed with pmp_wait_graph_free() also after a
 * failure. 0 or PMP_ENOMEM. */
int pmp_wait_graph_make(struct pmp_wait_graph *graph, const struct pmp_report *report);
void pmp_wait_graph_free(struct pmp_wait_graph *graph);
/* The node of a thread, or PMP_NO_THREAD. */
size_t pmp_wait_graph_thread(const struct pmp_wait_graph *graph, pid_t tid);
/* Which locks are held by which threads. 0 or PMP_ENOMEM. */
int pmp_wait_graph_find_held(struct pmp_wait_graph *graph);
/* The first lock that a thread holds, of *count; NULL: no thread waits for one. */
const struct pmp_held_lock *pmp_wait_graph_held(const struct pmp_wait_graph *graph,
						size_t node, size_t *count);
/* How many threads are in the deadlock whose first thread, in the order of rows, this is;
 * 0: it is in none, or not its first. What a filter hides of one ends it. */
size_t pmp_wait_graph_circle(const struct pmp_wait_graph *graph, size_t node);

#endif
