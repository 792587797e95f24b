/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who waits for whom in a snapshot. Each thread waits for at most one other, so threads
 * form trees, whose roots wait for no known holder (and have to finish first), and
 * circles, which are deadlocks.
 */
#ifndef PMP_REPORT_WAIT_GRAPH_H
#define PMP_REPORT_WAIT_GRAPH_H

#include "report/stacks.h"
#include "report/wait-kinds.h"

#define PMP_NO_THREAD SIZE_MAX
#define PMP_WAIT_CHAIN_MAX 32 /* longest chain from a waiter to its root */

struct pmp_wait_node {
	struct pmp_named_wait named;
	const struct pmp_wait *wait; /* points into named */
	size_t row;		     /* of the snapshot */
	size_t holder;		   /* node of the thread it waits for, or PMP_NO_THREAD */
	size_t behind;		   /* threads that wait for this one, directly or not */
	char group[PMP_NAME_SIZE]; /* its thread's: conn-17 and conn-18 are conn-N */
	bool shown;		   /* scratch for code that walks the graph */
};

/* A lock that a thread holds and others wait for, with one waiter and their number. */
struct pmp_held_lock {
	size_t holder, waiter; /* nodes */
	size_t count;
};

struct pmp_wait_graph {
	const struct pmp_report *report;
	struct pmp_wait_node *nodes; /* one per row, in the same order */
	size_t count;
	size_t waiting;	   /* threads that wait for locks */
	size_t known;	   /* of these, whose holder is known */
	size_t inferred;   /* of these, whose holder was inferred */
	size_t deadlocked; /* threads in deadlocks */
	size_t unread;	   /* threads of a core that lacks what they wait for */
	struct pmp_held_lock
		*held; /* sorted by holder, after pmp_wait_graph_find_held() */
	size_t held_count;
};

/* Make the graph of a snapshot's report. Must be freed with pmp_wait_graph_free() even on
 * failure. 0 or PMP_ENOMEM. */
int pmp_wait_graph_make(struct pmp_wait_graph *graph, const struct pmp_report *report);
void pmp_wait_graph_free(struct pmp_wait_graph *graph);
/* The node of a thread, or PMP_NO_THREAD. */
size_t pmp_wait_graph_thread(const struct pmp_wait_graph *graph, pid_t tid);
/* Fill in graph->held. 0 or PMP_ENOMEM. */
int pmp_wait_graph_find_held(struct pmp_wait_graph *graph);
/* The first of the *count locks that a thread holds and others wait for; NULL: none. */
const struct pmp_held_lock *pmp_wait_graph_held(const struct pmp_wait_graph *graph,
						size_t node, size_t *count);
/* The number of threads in a deadlock, if node is its first thread by row; else 0. Also 0
 * if the filter hides one of them. */
size_t pmp_wait_graph_circle(const struct pmp_wait_graph *graph, size_t node);

#endif
