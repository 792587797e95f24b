/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The paths are sorted, so one walk over them makes all nodes in preorder; the nodes of
 * the last path are open. A node that is closed and too narrow is removed at once. When
 * there are four times as many nodes as wanted, the narrowest are removed. So even a
 * profile with a million stacks takes little memory beyond its paths.
 */
#include "write/tree.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/escape.h"
#include "base/intern.h"
#include "base/sized.h"
#include "write/writer.h"

#define NODES 20000	/* unless the options set a number */
#define QUARTER 4	/* of a pixel: narrower nodes are not visible */
#define ROOT UINT32_MAX /* function of the root node */
#define NO_CUT UINT32_MAX
#define OPEN 2 /* share of the root and of open nodes: more than any other */

/* The numbers of a node. */
enum tree_column {
	COLUMN_SAMPLES,
	COLUMN_IDLE_SAMPLES,
	COLUMN_BASE,
	COLUMN_BASE_IDLE,
	COLUMN_IDLE,
	COLUMN_STATES,
	COLUMN_COUNT = COLUMN_STATES + PMP_ACTIVITY_COUNT
};

struct column_sums {
	uint64_t of[COLUMN_COUNT];
};

/* Merged branches. */
struct cut_branches {
	uint32_t count;
	struct column_sums sums;
};

struct tree_node {
	uint32_t function, depth;
	uint32_t cut; /* its merged branches, or NO_CUT */
	double share; /* of all samples, including its branches */
	struct column_sums self;
};

/* A node of the last path. */
struct open_node {
	size_t node;
	struct column_sums sums; /* including its branches so far */
};

struct call_tree {
	struct pmp_tree_paths *paths;
	size_t limit; /* on the number of nodes */
	const char *under;
	double threshold; /* nodes up to this share are removed */
	struct column_sums all;
	struct tree_node *nodes;
	size_t node_count, node_capacity;
	struct cut_branches *cuts;
	size_t cut_count, cut_capacity;
	uint32_t
		free_cut; /* first unused cut, whose count is the number of the next one */
	struct open_node *open;
	size_t open_count;
	size_t *last; /* by depth: the last node kept */
};

/* A row of the arrays. */
struct tree_row {
	int64_t name;
	uint32_t depth;
	const struct column_sums *self;
};

/* ---- sums ------------------------------------------------------------------------- */

static void add_sums(struct column_sums *to, const struct column_sums *from)
{
	for (unsigned i = 0; i < COLUMN_COUNT; i++)
		to->of[i] = pmp_count_sum(to->of[i], from->of[i]);
}

/* In the order of a heap's states. */
static const enum pmp_heap_value heap_values[] = {
	PMP_HEAP_INUSE_SPACE,
	PMP_HEAP_INUSE_OBJECTS,
	PMP_HEAP_ALLOC_SPACE,
	PMP_HEAP_ALLOC_OBJECTS,
};
#define HEAP_VALUES (sizeof(heap_values) / sizeof(*heap_values))

static bool is_heap(const struct pmp_tree_paths *paths)
{
	return paths->activities.report->of_heap && !paths->activities.report->base;
}

static void heap_sums_of(const struct pmp_path *path, struct column_sums *sums)
{
	*sums = (struct column_sums){ 0 };
	for (size_t i = 0; i < HEAP_VALUES; i++)
		sums->of[COLUMN_STATES + i] =
			pmp_heap_sums_value(path->entry->heap, heap_values[i]);
}

/* What a path adds to its last node. */
static void sums_of(struct pmp_tree_paths *paths, const struct pmp_path *path,
		    struct column_sums *sums)
{
	struct pmp_activities activities;

	if (is_heap(paths)) {
		heap_sums_of(path, sums);
		return;
	}
	*sums = (struct column_sums){ 0 };
	pmp_activity_get(&paths->activities, path, &activities);
	sums->of[COLUMN_SAMPLES] = path->count;
	sums->of[COLUMN_BASE] = path->base;
	sums->of[COLUMN_IDLE_SAMPLES] = activities.idle ? path->count : 0;
	sums->of[COLUMN_BASE_IDLE] = activities.idle ? path->base : 0;
	if (!paths->activities.timed)
		sums->of[COLUMN_STATES + activities.most] = path->count;
	for (unsigned i = 0; i < PMP_ACTIVITY_COUNT && paths->activities.timed; i++)
		sums->of[COLUMN_STATES + i] =
			activities.times[i] / PMP_US +
			(activities.times[i] % PMP_US >= PMP_US / 2);
	if (activities.idle)
		sums->of[COLUMN_IDLE] = sums->of[COLUMN_STATES + PMP_ACTIVITY_SLEEP];
}

static double part(uint64_t some, uint64_t all)
{
	return all ? (double)some / (double)all : 0;
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

static double states(const struct column_sums *sums)
{
	double sum = 0;

	for (unsigned i = 0; i < PMP_ACTIVITY_COUNT; i++)
		sum += (double)sums->of[COLUMN_STATES + i];
	return sum;
}

/* The largest of its shares: in samples, in the base, in time, in heap values. */
static double share_of(const struct call_tree *tree, const struct column_sums *sums)
{
	double share = part(sums->of[COLUMN_SAMPLES], tree->all.of[COLUMN_SAMPLES]);
	double base = part(sums->of[COLUMN_BASE], tree->all.of[COLUMN_BASE]);
	double all = states(&tree->all), time = all > 0 ? states(sums) / all : 0;

	if (!is_heap(tree->paths))
		return larger(share, larger(base, time));
	for (size_t i = 0; i < HEAP_VALUES; i++)
		share = larger(share, part(sums->of[COLUMN_STATES + i],
					   tree->all.of[COLUMN_STATES + i]));
	return share;
}

/* ---- cutting ---------------------------------------------------------------------- */

static uint32_t new_cut(struct call_tree *tree)
{
	uint32_t cut = tree->free_cut;

	if (cut != NO_CUT) {
		tree->free_cut = tree->cuts[cut].count;
	} else {
		if (PMP_RESERVE(&tree->cuts, &tree->cut_capacity, tree->cut_count + 1))
			return NO_CUT;
		cut = (uint32_t)tree->cut_count++;
	}
	tree->cuts[cut] = (struct cut_branches){ 0 };
	return cut;
}

/* Merge a branch into the cut of its parent. 0 or PMP_ENOMEM. */
static int put_together(struct call_tree *tree, struct tree_node *node,
			const struct column_sums *sums)
{
	if (node->cut == NO_CUT)
		node->cut = new_cut(tree);
	if (node->cut == NO_CUT)
		return PMP_ENOMEM;
	tree->cuts[node->cut].count++;
	add_sums(&tree->cuts[node->cut].sums, sums);
	return 0;
}

/* Remove the branch at first and add up its sums. Returns the index after it. */
static size_t take_branch(struct call_tree *tree, size_t first, struct column_sums *sums)
{
	const uint32_t depth = tree->nodes[first].depth;
	size_t i = first;

	do {
		struct tree_node *node = &tree->nodes[i++];

		add_sums(sums, &node->self);
		if (node->cut == NO_CUT)
			continue;
		add_sums(sums, &tree->cuts[node->cut].sums);
		tree->cuts[node->cut].count = tree->free_cut;
		tree->free_cut = node->cut;
	} while (i < tree->node_count && tree->nodes[i].depth > depth);
	return i;
}

/* Remove all nodes narrower than the threshold, and of those exactly as wide keep only
 * the first as_wide: a branch follows its parent. 0 or PMP_ENOMEM. */
static int remove_narrow(struct call_tree *tree, size_t as_wide)
{
	size_t kept = 0, i = 0;

	while (i < tree->node_count) {
		struct tree_node *node = &tree->nodes[i];
		struct column_sums sums = { 0 };
		bool stays = node->share > tree->threshold;

		if (!stays && node->share >= tree->threshold && as_wide) {
			stays = true;
			as_wide--;
		}
		if (!stays) {
			size_t parent = tree->last[node->depth - 1];

			i = take_branch(tree, i, &sums);
			if (put_together(tree, &tree->nodes[parent], &sums))
				return PMP_ENOMEM;
			continue;
		}
		tree->last[node->depth] = kept;
		tree->nodes[kept++] = tree->nodes[i++];
	}
	tree->node_count = kept;
	for (size_t depth = 0; depth < tree->open_count; depth++)
		tree->open[depth].node = tree->last[depth];
	return 0;
}

static int compare_shares(const void *a, const void *b)
{
	const double *one = a, *other = b;

	return (*one < *other) - (*one > *other);
}

/* Keep the widest nodes, up to the limit, and those that are open. 0 or PMP_ENOMEM. */
static int limit_nodes(struct call_tree *tree)
{
	const size_t kept =
		tree->open_count > tree->limit ? tree->open_count : tree->limit;
	size_t as_wide = 0;
	double *shares;

	if (tree->node_count <= kept)
		return 0;
	shares = calloc(tree->node_count, sizeof(*shares));
	if (!shares)
		return PMP_ENOMEM;
	for (size_t i = 0; i < tree->node_count; i++)
		shares[i] = tree->nodes[i].share;
	qsort(shares, tree->node_count, sizeof(*shares), compare_shares);
	tree->threshold = larger(tree->threshold, shares[kept]);
	while (as_wide < kept && shares[kept - as_wide - 1] <= tree->threshold)
		as_wide++;
	free(shares);
	return remove_narrow(tree, as_wide);
}

/* ---- making it -------------------------------------------------------------------- */

static int open_node(struct call_tree *tree, uint32_t function)
{
	if (PMP_RESERVE(&tree->nodes, &tree->node_capacity, tree->node_count + 1))
		return PMP_ENOMEM;
	tree->nodes[tree->node_count] = (struct tree_node){
		.function = function,
		.depth = (uint32_t)tree->open_count,
		.cut = NO_CUT,
		.share = OPEN,
	};
	tree->open[tree->open_count++] = (struct open_node){ .node = tree->node_count++ };
	return 0;
}

/* Close nodes until depth of them are open. 0 or PMP_ENOMEM. */
static int close_nodes(struct call_tree *tree, size_t depth)
{
	while (tree->open_count > depth) {
		struct open_node *open = &tree->open[--tree->open_count];
		struct tree_node *node = &tree->nodes[open->node];
		struct column_sums sums = { 0 };

		if (!tree->open_count)
			break;
		node->share = share_of(tree, &open->sums);
		add_sums(&open[-1].sums, &open->sums);
		if (node->share > tree->threshold)
			continue;
		take_branch(tree, open->node, &sums);
		tree->node_count = open->node;
		if (put_together(tree, &tree->nodes[open[-1].node], &sums))
			return PMP_ENOMEM;
	}
	if (tree->node_count / 4 > tree->limit)
		return limit_nodes(tree);
	return 0;
}

/* How many open nodes the path shares. */
static size_t in_common(const struct call_tree *tree, const struct pmp_path *path)
{
	size_t depth = 1;

	while (depth < tree->open_count && depth <= path->length &&
	       tree->nodes[tree->open[depth].node].function == path->functions[depth - 1])
		depth++;
	return depth;
}

static int add_path(struct call_tree *tree, const struct pmp_path *path,
		    const struct column_sums *sums)
{
	struct open_node *last;

	if (close_nodes(tree, in_common(tree, path)))
		return PMP_ENOMEM;
	while (tree->open_count <= path->length)
		if (open_node(tree, path->functions[tree->open_count - 1]))
			return PMP_ENOMEM;
	last = &tree->open[path->length];
	add_sums(&last->sums, sums);
	add_sums(&tree->nodes[last->node].self, sums);
	return 0;
}

/* Does the path begin with the nodes asked for? */
static bool is_under(const struct call_tree *tree, const struct pmp_path *path)
{
	const char *name = tree->under;

	for (size_t i = 0; *name; i++) {
		const size_t length = strcspn(name, ";");
		const char *function;

		if (i == path->length)
			return false;
		function = tree->paths->paths.functions[path->functions[i]].name;
		if (strncmp(function, name, length) != 0 || function[length])
			return false;
		name += length + (name[length] == ';');
	}
	return true;
}

static int start_tree(struct call_tree *tree)
{
	const struct pmp_paths *paths = &tree->paths->paths;
	size_t longest = 0;

	for (size_t i = 0; i < paths->path_count; i++) {
		struct column_sums sums;

		if (paths->paths[i].length > longest)
			longest = paths->paths[i].length;
		if (!is_under(tree, &paths->paths[i]))
			continue;
		sums_of(tree->paths, &paths->paths[i], &sums);
		add_sums(&tree->all, &sums);
	}
	tree->open = calloc(longest + 2, sizeof(*tree->open));
	tree->last = calloc(longest + 2, sizeof(*tree->last));
	if (!tree->open || !tree->last)
		return PMP_ENOMEM;
	return open_node(tree, ROOT);
}

static int make_tree(struct call_tree *tree)
{
	const struct pmp_paths *paths = &tree->paths->paths;

	if (start_tree(tree))
		return PMP_ENOMEM;
	for (size_t i = 0; i < paths->path_count; i++) {
		struct column_sums sums;

		if (!is_under(tree, &paths->paths[i]))
			continue;
		sums_of(tree->paths, &paths->paths[i], &sums);
		if (add_path(tree, &paths->paths[i], &sums))
			return PMP_ENOMEM;
	}
	if (close_nodes(tree, 0))
		return PMP_ENOMEM;
	return limit_nodes(tree);
}

static void free_tree(struct call_tree *tree)
{
	free(tree->nodes);
	free(tree->cuts);
	free(tree->open);
	free(tree->last);
}

/* ---- rows ------------------------------------------------------------------------- */

struct tree_rows {
	struct tree_row *rows;
	size_t count;
	int32_t *names;	     /* by function: number in this list, or -1 */
	uint32_t name_count; /* including `all` */
};

/* A row of merged nodes follows its remaining siblings. */
static void add_rows(struct tree_rows *rows, const struct call_tree *tree)
{
	size_t *last = tree->last, depth = 0;

	for (size_t i = 0; i <= tree->node_count; i++) {
		const struct tree_node *node = &tree->nodes[i];
		bool ends = i == tree->node_count;

		for (; depth > 0 && (ends || depth > node->depth); depth--) {
			const struct tree_node *parent = &tree->nodes[last[depth - 1]];

			if (parent->cut == NO_CUT)
				continue;
			rows->rows[rows->count++] = (struct tree_row){
				.name = -(int64_t)tree->cuts[parent->cut].count,
				.depth = (uint32_t)depth,
				.self = &tree->cuts[parent->cut].sums,
			};
		}
		if (ends)
			break;
		last[node->depth] = i;
		depth = node->depth + 1;
		rows->rows[rows->count++] = (struct tree_row){
			.name = node->function == ROOT ? 0 : rows->names[node->function],
			.depth = node->depth,
			.self = &node->self,
		};
	}
}

/* Must be freed even on failure. 0 or PMP_ENOMEM. */
static int make_rows(struct tree_rows *rows, const struct call_tree *tree)
{
	size_t count = tree->paths->paths.function_count;

	rows->rows = calloc(tree->node_count + tree->cut_count + 1, sizeof(*rows->rows));
	rows->names = calloc(count + 1, sizeof(*rows->names));
	if (!rows->rows || !rows->names)
		return PMP_ENOMEM;
	for (size_t i = 0; i < tree->node_count; i++)
		if (tree->nodes[i].function != ROOT)
			rows->names[tree->nodes[i].function] = 1;
	rows->name_count = 1;
	for (size_t i = 0; i < count; i++)
		rows->names[i] = rows->names[i] ? (int32_t)rows->name_count++ : -1;
	add_rows(rows, tree);
	return 0;
}

/* ---- JSON ------------------------------------------------------------------------- */

void pmp_tree_add_string(struct pmp_buf *buf, const char *text)
{
	pmp_buf_putc(buf, '"');
	pmp_escape_script(buf, text, strlen(text));
	pmp_buf_putc(buf, '"');
}

static void add_names(struct pmp_out *out, const struct pmp_paths *paths,
		      const struct tree_rows *rows)
{
	pmp_buf_puts(&out->buf, "\"names\":[\"all\"");
	for (size_t i = 0; i < paths->function_count; i++) {
		if (rows->names[i] < 0)
			continue;
		pmp_buf_putc(&out->buf, ',');
		pmp_tree_add_string(&out->buf, paths->functions[i].name);
		pmp_out_maybe_flush(out);
	}
	pmp_buf_puts(&out->buf, "],\n");
}

static const char *module_of(const struct pmp_function *function)
{
	return pmp_name_base(function->module);
}

static const char *file_of(const struct pmp_function *function)
{
	return function->file ? function->file : "";
}

/* The distinct texts, and their number by function: `list`:[...],`name`:[...] */
static void add_texts(struct pmp_out *out, const struct pmp_paths *paths,
		      const struct tree_rows *rows, const char *name,
		      const char *(*text_of)(const struct pmp_function *function))
{
	struct pmp_intern *texts = pmp_intern_new();
	struct pmp_buf numbers = { 0 };

	if (!texts)
		pmp_buf_fail(&out->buf);
	pmp_buf_printf(&out->buf, "\"%ss\":[", name);
	pmp_buf_printf(&numbers, "\"%s\":[-1", name);
	for (size_t i = 0; texts && i < paths->function_count; i++) {
		const char *text = text_of(&paths->functions[i]);
		size_t known = pmp_intern_count(texts);
		uint32_t number;

		if (rows->names[i] < 0)
			continue;
		number = *text ? pmp_intern(texts, text, strlen(text)) : PMP_INTERN_NONE;
		if (*text && number == PMP_INTERN_NONE)
			pmp_buf_fail(&out->buf);
		pmp_buf_printf(&numbers, ",%d", (int)number);
		if (pmp_intern_count(texts) == known)
			continue;
		if (known)
			pmp_buf_putc(&out->buf, ',');
		pmp_tree_add_string(&out->buf, text);
	}
	pmp_buf_puts(&out->buf, "],\n");
	pmp_buf_puts(&numbers, "],\n");
	if (pmp_buf_failed(&numbers))
		pmp_buf_fail(&out->buf);
	else
		pmp_buf_add(&out->buf, numbers.data, numbers.length);
	pmp_buf_free(&numbers);
	pmp_intern_free(texts);
}

/* Most numbers are 0: a run of zeros becomes one negative number. */
static void add_column(struct pmp_out *out, const struct tree_rows *rows,
		       const char *before, unsigned column)
{
	const char *comma = "[";
	size_t zeros = 0;

	pmp_buf_puts(&out->buf, before);
	for (size_t i = 0; i < rows->count; i++) {
		uint64_t number = rows->rows[i].self->of[column];

		if (!number) {
			zeros++;
			continue;
		}
		if (zeros)
			pmp_buf_printf(&out->buf, "%s-%zu", comma, zeros);
		pmp_buf_printf(&out->buf, "%s%" PRIu64, zeros ? "," : comma, number);
		pmp_out_maybe_flush(out);
		comma = ",";
		zeros = 0;
	}
	pmp_buf_puts(&out->buf, *comma == '[' ? "[]" : "]");
}

static void add_nodes(struct pmp_out *out, const struct tree_rows *rows)
{
	pmp_buf_puts(&out->buf, "\"depth\":[");
	for (size_t i = 0; i < rows->count; i++)
		pmp_buf_printf(&out->buf, i ? ",%u" : "%u", rows->rows[i].depth);
	pmp_buf_puts(&out->buf, "],\n\"name\":[");
	for (size_t i = 0; i < rows->count; i++)
		pmp_buf_printf(&out->buf, i ? ",%lld" : "%lld",
			       (long long)rows->rows[i].name);
	pmp_buf_putc(&out->buf, ']');
	pmp_out_maybe_flush(out);
}

static void add_values(struct pmp_out *out, const struct call_tree *tree,
		       const struct tree_rows *rows)
{
	const bool timed = tree->paths->activities.timed;
	const struct pmp_tree_paths *paths = tree->paths;
	const unsigned states = is_heap(paths) ? HEAP_VALUES : PMP_ACTIVITY_COUNT;

	if (*paths->paths.sample_type.type && !is_heap(paths)) {
		add_column(out, rows, ",\n\"v\":[", COLUMN_SAMPLES);
		pmp_buf_putc(&out->buf, ']');
	} else {
		for (unsigned i = 0; i < states; i++)
			add_column(out, rows, i ? ",\n" : ",\n\"v\":[",
				   COLUMN_STATES + i);
		pmp_buf_putc(&out->buf, ']');
		add_column(out, rows, ",\n\"idle\":", COLUMN_IDLE);
	}
	if (timed) {
		add_column(out, rows, ",\n\"samples\":", COLUMN_SAMPLES);
		add_column(out, rows, ",\n\"idle_samples\":", COLUMN_IDLE_SAMPLES);
	}
	if (tree->paths->activities.report->base) {
		add_column(out, rows, ",\n\"base\":", COLUMN_BASE);
		add_column(out, rows, ",\n\"base_idle\":", COLUMN_BASE_IDLE);
	}
}

static void add_unit(struct pmp_buf *buf, const struct pmp_tree_paths *paths)
{
	const struct pmp_sample_type *type = &paths->paths.sample_type;

	pmp_buf_puts(buf, "{\"unit\":");
	if (is_heap(paths))
		pmp_tree_add_string(buf, "heap");
	else if (*type->type)
		pmp_tree_add_string(buf, type->unit);
	else
		pmp_tree_add_string(buf, paths->activities.timed ? "us" : "samples");
	pmp_buf_puts(buf, ",\"states\":[");
	if (is_heap(paths))
		pmp_buf_puts(buf, "\"inuse_space\",\"inuse_objects\",\"alloc_space\","
				  "\"alloc_objects\"]");
	else
		pmp_buf_puts(buf, *type->type ? "\"value\"]"
					      : "\"run\",\"ready\",\"lock\",\"disk\","
						"\"sleep\"]");
	pmp_buf_printf(buf, ",\"split\":\"%s\",\n", paths->split);
}

static bool has_files(const struct pmp_paths *paths)
{
	for (size_t i = 0; i < paths->function_count; i++)
		if (paths->functions[i].file)
			return true;
	return false;
}

/* ,"heaps":[{"pid":4100,"name":"mariadbd",...}] */
static void add_heaps(struct pmp_buf *buf, const struct pmp_report *report)
{
	pmp_buf_puts(buf, ",\n\"heaps\":[");
	for (size_t i = 0; i < report->process_count; i++) {
		const struct pmp_process_heap *process = &report->processes[i];
		const struct pmp_heap_totals *totals = &process->totals;

		pmp_buf_printf(buf, "%s{\"pid\":%d,\"name\":", i ? ",\n" : "",
			       (int)process->pid);
		pmp_tree_add_string(buf, process->name);
		pmp_buf_printf(buf,
			       ",\"ended\":%s,\"live\":%" PRIu64 ",\"blocks\":%" PRIu64
			       ",\"peak\":%" PRIu64 ",\"allocated\":%" PRIu64
			       ",\"freed\":%" PRIu64 "}",
			       process->ended ? "true" : "false", totals->live,
			       totals->live_blocks, totals->peak,
			       process->earlier_allocated + totals->allocated,
			       process->earlier_freed + totals->freed);
	}
	pmp_buf_printf(buf,
		       "],\n\"missing\":{\"records\":%" PRIu64 ",\"stacks\":%" PRIu64
		       ",\"processes\":%" PRIu64 "}",
		       report->losses.records, report->losses.stackless,
		       report->losses.unrecorded);
}

static void add_tree(struct pmp_out *out, const struct call_tree *tree)
{
	const struct pmp_paths *paths = &tree->paths->paths;
	struct tree_rows rows = { 0 };

	if (make_rows(&rows, tree)) {
		pmp_buf_fail(&out->buf);
		goto out;
	}
	add_unit(&out->buf, tree->paths);
	add_names(out, paths, &rows);
	add_texts(out, paths, &rows, "module", module_of);
	if (has_files(paths))
		add_texts(out, paths, &rows, "file", file_of);
	add_nodes(out, &rows);
	add_values(out, tree, &rows);
	if (is_heap(tree->paths))
		add_heaps(&out->buf, tree->paths->activities.report);
	pmp_buf_putc(&out->buf, '}');
out:
	free(rows.rows);
	free(rows.names);
}

void pmp_tree_add(struct pmp_out *out, struct pmp_tree_paths *paths,
		  const struct pmp_tree_options *options)
{
	struct call_tree tree = {
		.paths = paths,
		.under = options->under ? options->under : "",
		.limit = options->nodes ? options->nodes : NODES,
		.threshold = options->px ? 1.0 / QUARTER / options->px : -1,
		.free_cut = NO_CUT,
	};

	if (make_tree(&tree))
		pmp_buf_fail(&out->buf);
	else
		add_tree(out, &tree);
	free_tree(&tree);
}

/* ---- paths ------------------------------------------------------------------------ */

static bool has_threads(const struct pmp_report *report)
{
	for (size_t i = 0; i < report->entry_count; i++)
		if (*report->entries[i].thread)
			return true;
	return false;
}

int pmp_tree_paths_make(struct pmp_tree_paths *paths, const struct pmp_report *report,
			const struct pmp_tree_options *options)
{
	struct pmp_path_style style = {
		.names = { .lines = options->lines, .module = options->module },
		.by_thread = options->by_thread,
		.by_group = !options->by_thread && options->by_group &&
			    (has_threads(report) ||
			     (report->base && has_threads(report->base))),
		.apart = true,
	};

	*paths = (struct pmp_tree_paths){
		.split = style.by_thread  ? "thread"
			 : style.by_group ? "group"
					  : "",
	};
	if (pmp_paths_make(&paths->paths, report, &style))
		return PMP_ENOMEM;
	return pmp_activity_make(&paths->activities, report, &paths->paths);
}

void pmp_tree_paths_free(struct pmp_tree_paths *paths)
{
	pmp_activity_free(&paths->activities);
	pmp_paths_free(&paths->paths);
}

/* Write what add() makes of the paths of a report. */
static int write_paths(const struct pmp_report *report,
		       const struct pmp_tree_options *options,
		       void (*add)(struct pmp_out *out, struct pmp_tree_paths *paths,
				   const struct pmp_tree_options *options),
		       const struct pmp_sink *sink, struct pmp_error *err)
{
	struct pmp_tree_options all = { 0 };
	struct pmp_out out = { .sink = sink };
	struct pmp_tree_paths paths;
	int ret = 0;

	if (!report || !sink || !sink->write)
		return pmp_error_set(err, PMP_EINVAL, "no report, no sink");
	pmp_sized_take(&all, sizeof(all), options);
	if (pmp_tree_paths_make(&paths, report, &all))
		pmp_buf_fail(&out.buf);
	else
		add(&out, &paths, &all);
	ret = pmp_filter_problem(report->filter, err);
	if (ret)
		goto out;
	if (pmp_buf_failed(&out.buf)) {
		ret = pmp_error_nomem(err, "writing a tree");
		goto out;
	}
	pmp_out_flush(&out);
	if (out.error)
		ret = pmp_error_sys(err, PMP_EIO, -out.error, "cannot write %s",
				    "a tree");
out:
	pmp_buf_free(&out.buf);
	pmp_tree_paths_free(&paths);
	return ret;
}

int pmp_report_write_tree(const struct pmp_report *report,
			  const struct pmp_tree_options *options,
			  const struct pmp_sink *sink, struct pmp_error *err)
{
	return write_paths(report, options, pmp_tree_add, sink, err);
}

static void add_threads(struct pmp_out *out, struct pmp_tree_paths *paths,
			const struct pmp_tree_options *options)
{
	(void)options;
	pmp_tree_add_threads(out, paths);
}

static void add_locks(struct pmp_out *out, struct pmp_tree_paths *paths,
		      const struct pmp_tree_options *options)
{
	(void)options;
	pmp_tree_add_locks(out, paths);
}

int pmp_report_write_lock_rows(const struct pmp_report *report,
			       const struct pmp_tree_options *options,
			       const struct pmp_sink *sink, struct pmp_error *err)
{
	return write_paths(report, options, add_locks, sink, err);
}

int pmp_report_write_threads(const struct pmp_report *report,
			     const struct pmp_tree_options *options,
			     const struct pmp_sink *sink, struct pmp_error *err)
{
	return write_paths(report, options, add_threads, sink, err);
}
