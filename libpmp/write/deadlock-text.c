/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A deadlock in one line, for callers that check for deadlocks. */
#include <stdio.h>
#include <string.h>

#include "libpmp-program.h"
#include "base/buf.h"
#include "base/escape.h"
#include "report/wait-graph.h"
#include "write/wait-names.h"

/* 12984 "worker-1" */
static void add_thread(struct pmp_buf *buf, const struct pmp_thread *thread)
{
	pmp_buf_printf(buf, "%d \"", (int)thread->tid);
	pmp_escape_buf(buf, thread->name, strlen(thread->name));
	pmp_buf_putc(buf, '"');
}

/* 12984 "worker-1" waits for mutex A held by 12985 "worker-2" */
static void add_member(struct pmp_buf *buf, const struct pmp_wait_graph *graph,
		       size_t node)
{
	const struct pmp_row *rows = graph->report->snapshot->rows;
	const struct pmp_wait *wait = graph->nodes[node].wait;
	size_t holder = graph->nodes[node].holder;

	add_thread(buf, rows[node].thread);
	pmp_buf_puts(buf, " waits for ");
	if (wait->kind == PMP_WAIT_JOIN) {
		pmp_buf_puts(buf, "the end of ");
	} else {
		pmp_wait_object(buf, graph, node);
		pmp_buf_puts(buf, " held by ");
	}
	if (holder == node)
		pmp_buf_puts(buf, "itself");
	else
		add_thread(buf, rows[holder].thread);
	if (wait->flags & PMP_WAIT_TIMED)
		pmp_buf_puts(buf, " until a timeout");
}

/* Append the deadlock with this number. Returns how many threads are in it; 0: there is
 * no such deadlock, or no memory. */
static size_t add_deadlock(struct pmp_buf *buf, const struct pmp_wait_graph *graph,
			   size_t number)
{
	const struct pmp_sample_info *info = &graph->report->snapshot->info;
	size_t count = 0, node = 0;

	for (; node < graph->count; node++) {
		count = pmp_wait_graph_circle(graph, node);
		if (count && !number--)
			break;
	}
	if (node == graph->count)
		return 0;
	pmp_escape_buf(buf, info->name, strlen(info->name));
	pmp_buf_printf(buf, " [%d]", (int)info->pid);
	for (size_t i = 0; i < count; i++) {
		pmp_buf_puts(buf, i ? ", " : ": ");
		add_member(buf, graph, node);
		node = graph->nodes[node].holder;
	}
	return count;
}

size_t pmp_report_deadlock(const struct pmp_report *report, size_t i, char *text,
			   size_t size)
{
	struct pmp_wait_graph graph = { 0 };
	struct pmp_buf buf = { 0 };
	size_t count = 0;

	if (report->snapshot && pmp_wait_graph_make(&graph, report) == 0)
		count = add_deadlock(&buf, &graph, i);
	snprintf(text, size, "%s", count && buf.data ? buf.data : "");
	pmp_wait_graph_free(&graph);
	pmp_buf_free(&buf);
	return count;
}

size_t pmp_report_unread_waits(const struct pmp_report *report)
{
	struct pmp_wait_graph graph = { 0 };
	size_t count = 0;

	if (report->snapshot && pmp_wait_graph_make(&graph, report) == 0)
		count = graph.unread;
	pmp_wait_graph_free(&graph);
	return count;
}
