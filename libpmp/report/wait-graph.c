/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/wait-graph.h"

#include <stdlib.h>

/* Rows are in the order of their ids. */
static size_t find_thread(const struct pmp_snapshot *snapshot, pid_t tid)
{
	size_t low = 0, high = snapshot->row_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (snapshot->rows[middle].thread->tid < tid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < snapshot->row_count && snapshot->rows[low].thread->tid == tid
		       ? low
		       : PMP_NO_THREAD;
}

static bool has_thread(const struct pmp_wait *wait)
{
	return wait->holder_is == PMP_HOLDER_THREAD || wait->holder_is == PMP_HOLDER_SELF;
}

static void count_wait(struct pmp_wait_graph *graph, const struct pmp_wait_node *node)
{
	const struct pmp_wait *wait = node->wait;

	if (!node->named.lock)
		return;
	graph->waiting++;
	graph->known += wait->holder != 0;
	graph->deadlocked += (wait->flags & PMP_WAIT_DEADLOCK) != 0;
}

/* It waits for all on its way to the root, and each of those on a circle for itself: that
 * is not counted. */
static void count_behind(struct pmp_wait_graph *graph, size_t waiter)
{
	size_t node = graph->nodes[waiter].holder;

	for (int i = 0; i < PMP_WAIT_CHAIN_MAX && node != PMP_NO_THREAD && node != waiter;
	     i++) {
		graph->nodes[node].behind++;
		if (graph->nodes[node].wait->flags & PMP_WAIT_DEADLOCK)
			return;
		node = graph->nodes[node].holder;
	}
}

int pmp_wait_graph_make(struct pmp_wait_graph *graph, const struct pmp_report *report)
{
	const struct pmp_snapshot *snapshot = report->snapshot;

	*graph = (struct pmp_wait_graph){ .report = report };
	graph->nodes = calloc(snapshot->row_count + 1, sizeof(*graph->nodes));
	if (!graph->nodes)
		return PMP_ENOMEM;
	graph->count = snapshot->row_count;
	for (size_t i = 0; i < graph->count; i++) {
		struct pmp_wait_node *node = &graph->nodes[i];

		node->row = i;
		pmp_report_name_row(report, &snapshot->rows[i], &node->named);
		node->wait = &node->named.wait;
		node->holder = has_thread(node->wait)
				       ? find_thread(snapshot, node->wait->holder)
				       : PMP_NO_THREAD;
		count_wait(graph, node);
	}
	for (size_t i = 0; i < graph->count; i++)
		if (graph->nodes[i].holder != PMP_NO_THREAD &&
		    !(graph->nodes[i].wait->flags & PMP_WAIT_DEADLOCK))
			count_behind(graph, i);
	return 0;
}

void pmp_wait_graph_free(struct pmp_wait_graph *graph)
{
	free(graph->nodes);
	*graph = (struct pmp_wait_graph){ 0 };
}
