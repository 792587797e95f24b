/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/wait-graph.h"

#include <stdlib.h>

#include "base/syscalls.h"
#include "tally/group.h"

/* Rows are sorted by thread id. */
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
	graph->known += wait->holder != 0 && !node->named.inferred;
	graph->inferred += node->named.inferred;
}

/* A core may be cut off, omit memory, or come from a machine whose system calls are
 * unknown here. For a live thread the wait can always be read. */
static bool is_unread(const struct pmp_thread *thread, const struct pmp_wait_node *node)
{
	if (thread->obtained != PMP_OBTAINED_UNKNOWN)
		return false;
	if (thread->syscall == PMP_SYSCALL_UNKNOWN)
		return true;
	if (node->wait->kind != PMP_WAIT_FUTEX || node->named.lock)
		return false;
	/* The functions tell what other futexes are. */
	if (thread->end == PMP_END_UNREADABLE)
		return true;
	/* For a wait on several futexes only the address of the first is kept. */
	return thread->syscall == PMP_SYSCALL_FUTEX_WAITV
		       ? !node->wait->object
		       : !(node->wait->words.flags & PMP_WORD_AT);
}

/* A waiter counts for every thread on its way to the root, but of a circle only for the
 * first member that it reaches. */
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

/* Is the deadlock still there? Not if the names of one thread say that it waits for
 * something else. *hidden: a filter hides one of the threads. */
static bool is_circle(const struct pmp_wait_graph *graph, size_t first, bool *hidden)
{
	size_t node = first;

	*hidden = false;
	for (size_t i = 0; i < graph->count; i++) {
		if (!(graph->nodes[node].wait->flags & PMP_WAIT_DEADLOCK))
			return false;
		node = graph->nodes[node].holder;
		*hidden = node == PMP_NO_THREAD;
		if (node == first || *hidden)
			break;
	}
	return node == first;
}

/* Count threads in deadlocks, even if some members are hidden, and clear the flag of
 * others. 0 or PMP_ENOMEM. */
static int check_deadlocks(struct pmp_wait_graph *graph)
{
	bool *broken = calloc(graph->count + 1, sizeof(*broken));
	bool hidden;

	if (!broken)
		return PMP_ENOMEM;
	for (size_t i = 0; i < graph->count; i++) {
		if (!(graph->nodes[i].wait->flags & PMP_WAIT_DEADLOCK))
			continue;
		broken[i] = !is_circle(graph, i, &hidden);
		graph->deadlocked += !broken[i] || hidden;
	}
	for (size_t i = 0; i < graph->count; i++)
		if (broken[i])
			graph->nodes[i].named.wait.flags &= (uint16_t)~PMP_WAIT_DEADLOCK;
	free(broken);
	return 0;
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
		pmp_group_fold(snapshot->rows[i].thread->name, node->group,
			       sizeof(node->group));
		pmp_report_name_row(report, &snapshot->rows[i], &node->named);
		node->wait = &node->named.wait;
		node->holder = has_thread(node->wait)
				       ? find_thread(snapshot, node->wait->holder)
				       : PMP_NO_THREAD;
	}
	if (check_deadlocks(graph))
		return PMP_ENOMEM;
	for (size_t i = 0; i < graph->count; i++) {
		count_wait(graph, &graph->nodes[i]);
		graph->unread += is_unread(snapshot->rows[i].thread, &graph->nodes[i]);
	}
	for (size_t i = 0; i < graph->count; i++)
		if (graph->nodes[i].holder != PMP_NO_THREAD &&
		    !(graph->nodes[i].wait->flags & PMP_WAIT_DEADLOCK))
			count_behind(graph, i);
	return 0;
}

size_t pmp_wait_graph_thread(const struct pmp_wait_graph *graph, pid_t tid)
{
	return find_thread(graph->report->snapshot, tid);
}

void pmp_wait_graph_free(struct pmp_wait_graph *graph)
{
	free(graph->nodes);
	free(graph->held);
	*graph = (struct pmp_wait_graph){ 0 };
}

/* The holder of a queue is the next writer, and a thread that is joined holds nothing. */
static bool is_held(const struct pmp_wait_node *node)
{
	return node->holder != PMP_NO_THREAD && !node->named.inferred &&
	       node->wait->kind != PMP_WAIT_JOIN &&
	       !(node->wait->flags & PMP_WAIT_QUEUED);
}

static int compare_held(const void *a, const void *b, void *arg)
{
	const struct pmp_wait_graph *graph = arg;
	const struct pmp_held_lock *x = a, *y = b;
	uint64_t one = graph->nodes[x->waiter].wait->object;
	uint64_t other = graph->nodes[y->waiter].wait->object;

	if (x->holder != y->holder)
		return x->holder < y->holder ? -1 : 1;
	if (one != other)
		return one < other ? -1 : 1;
	return (x->waiter > y->waiter) - (x->waiter < y->waiter);
}

/* Merge the waits for the same lock. */
static void merge_held(struct pmp_wait_graph *graph, size_t waits)
{
	struct pmp_held_lock *held = graph->held, *last = NULL;

	graph->held_count = 0;
	for (size_t i = 0; i < waits; i++) {
		if (last && last->holder == held[i].holder &&
		    graph->nodes[last->waiter].wait->object ==
			    graph->nodes[held[i].waiter].wait->object) {
			last->count++;
			continue;
		}
		last = &held[graph->held_count++];
		*last = held[i];
	}
}

int pmp_wait_graph_find_held(struct pmp_wait_graph *graph)
{
	size_t waits = 0;

	graph->held = malloc((graph->count + 1) * sizeof(*graph->held));
	if (!graph->held)
		return PMP_ENOMEM;
	for (size_t i = 0; i < graph->count; i++)
		if (is_held(&graph->nodes[i]))
			graph->held[waits++] = (struct pmp_held_lock){
				.holder = graph->nodes[i].holder,
				.waiter = i,
				.count = 1,
			};
	qsort_r(graph->held, waits, sizeof(*graph->held), compare_held, graph);
	merge_held(graph, waits);
	return 0;
}

const struct pmp_held_lock *pmp_wait_graph_held(const struct pmp_wait_graph *graph,
						size_t node, size_t *count)
{
	size_t low = 0, high = graph->held_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (graph->held[middle].holder < node)
			low = middle + 1;
		else
			high = middle;
	}
	for (high = low; high < graph->held_count && graph->held[high].holder == node;)
		high++;
	*count = high - low;
	return *count ? &graph->held[low] : NULL;
}

size_t pmp_wait_graph_circle(const struct pmp_wait_graph *graph, size_t node)
{
	size_t at = node, count = 0;

	do {
		if (!(graph->nodes[at].wait->flags & PMP_WAIT_DEADLOCK))
			return 0;
		count++;
		at = graph->nodes[at].holder;
		if (at == PMP_NO_THREAD || at < node || count > graph->count)
			return 0;
	} while (at != node);
	return count;
}
