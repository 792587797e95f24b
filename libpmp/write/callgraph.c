/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call graph as in gprof: a block for each function, with its callers above it and
 * the functions it calls below. The numbers in brackets refer to other blocks.
 *
 *     index  total%      self  children  name
 *                           0       120      update_table [7]
 *     [4]     40.00         0       120  pthread_mutex_lock [4]
 *                         120         0      __lll_lock_wait [2]
 *
 * In the function's own line, self counts stacks that end in it, children those that end
 * in functions called from it. A caller's line counts the same for the stacks in which it
 * made the call; a callee's line counts the callee in the stacks in which it was called
 * from here. Counts are samples, or the values of a saved profile. A function counts once
 * per stack.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/intern.h"
#include "write/paths.h"
#include "write/table.h"
#include "write/writer.h"

struct node {
	uint32_t function;
	uint32_t index; /* number of its block, from 1; 0: none */
	uint64_t self, total;
	size_t last;	       /* last path counted, plus 1 */
	size_t callers, calls; /* its first edges in the sorted lists */
};

struct edge_key {
	uint32_t caller, called;
};

struct edge {
	struct edge_key key;
	uint64_t self, total; /* self: the called function ends the stack */
	size_t last;
};

struct graph {
	struct pmp_paths paths;
	struct node *nodes; /* by function number */
	struct pmp_intern *keys;
	struct edge *edges;
	size_t edge_count, edge_capacity;
	struct edge *by_called; /* copy, sorted by called function */
	uint32_t *order;	/* functions in the order of blocks */
	uint32_t blocks;
};

static const char legend[] =
	"A block for each function, callers above it, what it calls below. self: stacks that end\n"
	"in the function; children: stacks that end in what it has called. Of a caller, the part\n"
	"of both for which it is the caller; of a called function, its part in calls from here.\n\n";

/* ---- adding up ------------------------------------------------------------------- */

static struct edge *find_edge(struct graph *graph, uint32_t caller, uint32_t called)
{
	const struct edge_key key = { caller, called };
	uint32_t id;

	if (PMP_RESERVE(&graph->edges, &graph->edge_capacity, graph->edge_count + 1))
		return NULL;
	id = pmp_intern(graph->keys, &key, sizeof(key));
	if (id == PMP_INTERN_NONE)
		return NULL;
	if (id == graph->edge_count)
		graph->edges[graph->edge_count++] = (struct edge){ .key = key };
	return &graph->edges[id];
}

static int add_path(struct graph *graph, const struct pmp_path *path, size_t number)
{
	uint64_t count = path->entry->count;

	for (size_t i = 0; i < path->length; i++) {
		struct node *node = &graph->nodes[path->functions[i]];
		bool last = i + 1 == path->length;
		struct edge *edge;

		if (node->last != number)
			node->total += count;
		node->last = number;
		if (last)
			node->self += count;
		if (i == 0)
			continue;
		edge = find_edge(graph, path->functions[i - 1], path->functions[i]);
		if (!edge)
			return PMP_ENOMEM;
		if (edge->last != number)
			edge->total += count;
		edge->last = number;
		if (last)
			edge->self += count;
	}
	return 0;
}

/* ---- order ------------------------------------------------------------------------- */

static int compare_nodes(const void *a, const void *b, void *arg)
{
	const struct node *nodes = arg;
	const struct node *one = &nodes[*(const uint32_t *)a];
	const struct node *other = &nodes[*(const uint32_t *)b];

	if (one->total != other->total)
		return one->total < other->total ? 1 : -1;
	return (one->function > other->function) - (one->function < other->function);
}

static int compare_counts(const struct edge *one, const struct edge *other, uint32_t a,
			  uint32_t b)
{
	if (one->total != other->total)
		return one->total < other->total ? 1 : -1;
	return (a > b) - (a < b);
}

/* Callers in ascending order, so that the greatest is next to the function. */
static int compare_called(const void *a, const void *b)
{
	const struct edge *one = a, *other = b;

	if (one->key.called != other->key.called)
		return one->key.called < other->key.called ? -1 : 1;
	return compare_counts(other, one, other->key.caller, one->key.caller);
}

static int compare_callers(const void *a, const void *b)
{
	const struct edge *one = a, *other = b;

	if (one->key.caller != other->key.caller)
		return one->key.caller < other->key.caller ? -1 : 1;
	return compare_counts(one, other, one->key.called, other->key.called);
}

static int sort_graph(struct graph *graph)
{
	size_t functions = graph->paths.function_count, edges = graph->edge_count;

	graph->order = calloc(functions + 1, sizeof(*graph->order));
	graph->by_called = calloc(edges + 1, sizeof(*graph->by_called));
	if (!graph->order || !graph->by_called)
		return PMP_ENOMEM;
	if (edges) {
		memcpy(graph->by_called, graph->edges, edges * sizeof(*graph->edges));
		qsort(graph->by_called, edges, sizeof(*graph->edges), compare_called);
		qsort(graph->edges, edges, sizeof(*graph->edges), compare_callers);
	}
	for (size_t i = edges; i-- > 0;) {
		graph->nodes[graph->edges[i].key.caller].calls = i;
		graph->nodes[graph->by_called[i].key.called].callers = i;
	}
	for (uint32_t i = 0; i < functions; i++)
		graph->order[i] = i;
	qsort_r(graph->order, functions, sizeof(*graph->order), compare_nodes,
		graph->nodes);
	for (uint32_t i = 0; i < functions; i++)
		graph->nodes[graph->order[i]].index = i + 1;
	return 0;
}

/* ---- writing -------------------------------------------------------------------------- */

static void add_name(struct pmp_buf *buf, const struct graph *graph, uint32_t function)
{
	pmp_buf_printf(buf, "%s [%u]\n", graph->paths.functions[function].name,
		       graph->nodes[function].index);
}

static void add_edge(struct pmp_buf *buf, const struct graph *graph,
		     const struct edge *edge, uint32_t shown)
{
	pmp_buf_printf(buf, "%16s", "");
	pmp_table_value(buf, 10, edge->self, &graph->paths.sample_type);
	pmp_table_value(buf, 10, edge->total - edge->self, &graph->paths.sample_type);
	pmp_buf_puts(buf, "      ");
	add_name(buf, graph, shown);
}

static void add_block(struct pmp_out *out, const struct graph *graph,
		      const struct node *node)
{
	struct pmp_buf *buf = &out->buf;
	char index[16];

	for (size_t i = node->callers;
	     i < graph->edge_count && graph->by_called[i].key.called == node->function;
	     i++)
		add_edge(buf, graph, &graph->by_called[i],
			 graph->by_called[i].key.caller);
	snprintf(index, sizeof(index), "[%u]", node->index);
	pmp_buf_printf(buf, "%-8s", index);
	pmp_table_percent(buf, 8, node->total, graph->paths.samples);
	pmp_table_value(buf, 10, node->self, &graph->paths.sample_type);
	pmp_table_value(buf, 10, node->total - node->self, &graph->paths.sample_type);
	pmp_buf_puts(buf, "  ");
	add_name(buf, graph, node->function);
	for (size_t i = node->calls;
	     i < graph->edge_count && graph->edges[i].key.caller == node->function; i++)
		add_edge(buf, graph, &graph->edges[i], graph->edges[i].key.called);
	pmp_buf_puts(
		buf,
		"----------------------------------------------------------------\n");
	pmp_out_maybe_flush(out);
}

static int make_graph(struct graph *graph, const struct pmp_report *report,
		      const struct pmp_write_options *options)
{
	const struct pmp_path_style style = pmp_paths_style(options);

	if (pmp_paths_make(&graph->paths, report, &style))
		return PMP_ENOMEM;
	graph->keys = pmp_intern_new();
	graph->nodes = calloc(graph->paths.function_count + 1, sizeof(*graph->nodes));
	if (!graph->keys || !graph->nodes)
		return PMP_ENOMEM;
	for (uint32_t i = 0; i < graph->paths.function_count; i++) {
		graph->nodes[i].function = i;
		graph->nodes[i].callers = graph->nodes[i].calls = SIZE_MAX;
	}
	for (size_t i = 0; i < graph->paths.path_count; i++)
		if (add_path(graph, &graph->paths.paths[i], i + 1))
			return PMP_ENOMEM;
	return sort_graph(graph);
}

static void write_callgraph(struct pmp_out *out, const struct pmp_report *report,
			    const struct pmp_write_options *options)
{
	struct graph graph = { .keys = NULL };

	if (make_graph(&graph, report, options)) {
		pmp_buf_fail(&out->buf);
		goto out;
	}
	pmp_table_title(&out->buf, "call graph", report, graph.paths.samples);
	if (options->legend)
		pmp_buf_puts(&out->buf, legend);
	pmp_buf_puts(&out->buf, "index     total%      self  children  name\n");
	for (size_t i = 0; i < graph.paths.function_count; i++)
		add_block(out, &graph, &graph.nodes[graph.order[i]]);
out:
	pmp_paths_free(&graph.paths);
	pmp_intern_free(graph.keys);
	free(graph.nodes);
	free(graph.edges);
	free(graph.by_called);
	free(graph.order);
}

const struct pmp_writer pmp_writer_callgraph = {
	.format = {
		.name = "callgraph",
		.help = "callers and callees of each function, as in gprof",
		.extension = "callgraph",
		.mime = "text/plain; charset=utf-8",
	},
	.write = write_callgraph,
};
