/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who waits for whom in one snapshot. Blocks are separated by an empty line and begin, at
 * the start of a line, with one of five words:
 *
 *     --- snapshot 1: 2026-11-21T04:08:36.123Z ---
 *     zoo [12982]: 9 threads, 5 wait for locks, the holder of 4 is known
 *
 *     DEADLOCK: 2 threads wait for each other, 1 more waits behind them
 *       12984 "worker-1" waits 0.2 s for mutex B, 0x5615d6f79400
 *         held by 12985 "worker-2"
 *         pthread_mutex_lock<abba1
 *       ...
 *
 *     HOLDER 13155 "log" D, asleep 0.1 s: 1 thread waits for it
 *         fdatasync<flush
 *       mutex mysql_bin_log+0x10, 0x56508c811270
 *          1       0.1 s  conn-17     pthread_mutex_lock<commit
 *
 *     HOLDER UNKNOWN rwlock 0x561786f8ceb0 in the heap: 2 readers hold it
 *          1       3.0 s  writer      pthread_rwlock_wrlock<update
 *
 *     FREE likewise.
 *
 *     OTHER WAITS
 *       pipe
 *            1       0.3 s  waiter      read<do_read
 *               pipe 442102: 6330 "producer" can write (fd 4)
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/escape.h"
#include "report/wait-graph.h"
#include "write/heading.h"
#include "write/names.h"
#include "write/outside-names.h"
#include "write/wait-names.h"
#include "write/writer.h"

#define NAME_WIDTH 10
#define OUTSIDES_SHOWN 5 /* of threads with the same stack */
#define INTERNAL_MAX 6	 /* functions of a library within its lock function */

struct locks {
	struct pmp_out *out;
	struct pmp_wait_graph graph;
	const struct pmp_write_options *options;
	bool has_times; /* since when a thread sleeps is known of at least one */
};

/* Some of the nodes of the graph. */
struct nodes {
	size_t *items;
	size_t count;
};

/* A run of them that belongs together. */
struct node_run {
	const size_t *items;
	size_t count;
};

static const struct pmp_thread *thread_of(const struct locks *locks, size_t node)
{
	return locks->graph.report->snapshot->rows[node].thread;
}

static const struct pmp_named_wait *named_of(const struct locks *locks, size_t node)
{
	return &locks->graph.nodes[node].named;
}

static const struct pmp_wait *wait_of(const struct locks *locks, size_t node)
{
	return locks->graph.nodes[node].wait;
}

/* What it waits for outside of its memory, or NULL. */
static const struct pmp_outside *outside_of(const struct locks *locks, size_t node)
{
	return pmp_snapshot_outside(locks->graph.report->snapshot, wait_of(locks, node));
}

/* ns; 0: unknown */
static uint64_t asleep(const struct locks *locks, size_t node)
{
	const struct pmp_sample_info *info = &locks->graph.report->snapshot->info;
	uint64_t since = thread_of(locks, node)->asleep_since,
		 now = info->time + info->duration;

	return since && since < now ? now - since : 0;
}

/* ---- parts of a line ----------------------------------------------------------------- */

/* Of what is longer than a line of the terminal the end is left out. */
static void end_line(const struct locks *locks, size_t start)
{
	struct pmp_buf *buf = &locks->out->buf;
	size_t columns = locks->options->columns;

	if (columns && buf->length > start + columns) {
		size_t length = start + columns;

		while (length > start && (buf->data[length] & 0xc0) == 0x80)
			length--;
		buf->length = length;
	}
	pmp_buf_putc(buf, '\n');
}

/* "2 threads wait", "1 thread waits" */
static void add_threads(struct pmp_buf *buf, size_t count)
{
	pmp_buf_printf(buf, "%zu thread%s", count, count == 1 ? " waits" : "s wait");
}

static void add_indent(struct pmp_buf *buf, unsigned indent)
{
	pmp_buf_printf(buf, "%*s", (int)indent, "");
}

static void add_time(struct pmp_buf *buf, uint64_t time)
{
	pmp_buf_printf(buf, "%.1f s", (double)time / (double)PMP_S);
}

/* 12984 "worker-1" */
static void add_thread(const struct locks *locks, size_t node)
{
	const struct pmp_thread *thread = thread_of(locks, node);
	struct pmp_buf *buf = &locks->out->buf;

	pmp_buf_printf(buf, "%d \"", (int)thread->tid);
	pmp_escape_buf(buf, thread->name, strlen(thread->name));
	pmp_buf_putc(buf, '"');
}

/* Names and paths are the target's: they may hold anything. */
static void add_escaped(struct pmp_buf *buf, struct pmp_buf *text)
{
	if (text->length)
		pmp_escape_buf(buf, text->data, text->length);
	buf->failed |= text->failed;
	pmp_buf_free(text);
}

/* mutex LOCK_log, 0x5615d6f793c0; or: mutex 0x7f31b8001a40 in the heap */
static void add_object(const struct locks *locks, size_t node)
{
	const struct pmp_report *report = locks->graph.report;
	const struct pmp_named_wait *named = named_of(locks, node);
	struct pmp_buf *buf = &locks->out->buf;
	struct pmp_object object;
	struct pmp_buf name = { 0 }, place = { 0 };
	bool is_named;

	if (named->wait.kind == PMP_WAIT_JOIN) {
		pmp_buf_puts(buf, "its end (join)");
		return;
	}
	if (outside_of(locks, node) && pmp_wait_is_outside(named->wait.kind)) {
		pmp_outside_describe(buf, outside_of(locks, node), &named->wait, false);
		return;
	}
	pmp_buf_puts(buf, named->kind);
	if (pmp_report_named_object(report, &report->snapshot->rows[node], named,
				    &object) &&
	    !pmp_object_name(&object, &name))
		pmp_object_place(&object, &place);
	is_named = name.length > 0;
	if (is_named)
		pmp_buf_putc(buf, ' ');
	add_escaped(buf, &name);
	if (named->wait.object)
		pmp_buf_printf(buf, "%s 0x%" PRIx64, is_named ? "," : "",
			       named->wait.object);
	if (place.length)
		pmp_buf_putc(buf, ' ');
	add_escaped(buf, &place);
	pmp_wait_meaning(buf, named);
}

/* ---- stacks -------------------------------------------------------------------------- */

/* Inside a lock function of the C library: which one waits, says the one that is called. */
static bool is_internal(const char *name)
{
	static const char *const begins[] = { "futex_",	   "lll_",
					      "GI___",	   "syscall",
					      "internal_", "pthread_cond_wait_common" };

	name += strspn(name, "_");
	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
		if (strncmp(name, begins[i], strlen(begins[i])) == 0)
			return true;
	return strncmp(name, "pthread_", 8) == 0 &&
	       (strstr(name, "_full") || strstr(name, "64"));
}

/* The innermost function first. */
static void add_stack(const struct locks *locks, size_t node)
{
	const struct pmp_name_style style = { .elide = true,
					      .lines = locks->options->lines,
					      .module = locks->options->module };
	const struct pmp_report *report = locks->graph.report;
	struct pmp_buf *buf = &locks->out->buf;
	struct pmp_stack stack;
	unsigned skipped = 0;
	bool first = true;

	pmp_stack_get(report, node, &stack);
	for (size_t i = 0; i < stack.location_count; i++) {
		const struct pmp_frame *frames;
		size_t count = pmp_report_frames(report, stack.locations[i], &frames);

		for (size_t k = 0; k < count; k++) {
			if (first && stack.found->wait.kind && skipped < INTERNAL_MAX &&
			    is_internal(frames[k].function)) {
				skipped++;
				continue;
			}
			if (!first)
				pmp_buf_putc(buf, '<');
			pmp_name_frame(buf, &frames[k], &style);
			first = false;
		}
	}
	pmp_name_end(buf, stack.end, stack.reason);
}

static int compare_stacks(const struct locks *locks, size_t a, size_t b)
{
	const struct pmp_row *rows = locks->graph.report->snapshot->rows;
	size_t count = rows[a].thread->frame_count;

	if (count != rows[b].thread->frame_count)
		return count < rows[b].thread->frame_count ? -1 : 1;
	return count ? memcmp(rows[a].locations, rows[b].locations,
			      count * sizeof(*rows[a].locations))
		     : 0;
}

/* ---- rows of threads ---------------------------------------------------------------- */

static int compare_groups(const struct locks *locks, size_t a, size_t b)
{
	return strcmp(locks->graph.nodes[a].group, locks->graph.nodes[b].group);
}

/* Those first of which it is known for whom they wait. */
static int compare_outsides(const struct locks *locks, size_t a, size_t b)
{
	const struct pmp_outside *one = outside_of(locks, a),
				 *other = outside_of(locks, b);

	if (!one || !other)
		return (one != NULL) - (other != NULL);
	if (!one->shown != !other->shown)
		return one->shown ? -1 : 1;
	return (one > other) - (one < other);
}

static int compare_threads(const void *a, const void *b, void *arg)
{
	const struct locks *locks = arg;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	int order = compare_groups(locks, x, y);

	if (!order)
		order = compare_stacks(locks, x, y);
	if (!order)
		order = compare_outsides(locks, x, y);
	return order ? order : (x > y) - (x < y);
}

/* From first on, how many threads are of the same group and have the same stack. */
static size_t row_length(const struct locks *locks, const struct node_run *run,
			 size_t first)
{
	size_t i = first + 1;

	while (i < run->count &&
	       compare_groups(locks, run->items[first], run->items[i]) == 0 &&
	       compare_stacks(locks, run->items[first], run->items[i]) == 0)
		i++;
	return i - first;
}

/* The most threads first, then in the order they have already. */
static int by_length(const void *a, const void *b)
{
	const struct node_run *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return (x->items > y->items) - (x->items < y->items);
}

/* The one that has slept for the longest time. */
static void add_longest(const struct locks *locks, const struct node_run *row)
{
	struct pmp_buf *buf = &locks->out->buf;
	uint64_t longest = 0;

	for (size_t i = 0; i < row->count; i++) {
		uint64_t time = asleep(locks, row->items[i]);

		longest = time > longest ? time : longest;
	}
	if (longest)
		pmp_buf_printf(buf, "%8.1f s  ", (double)longest / (double)PMP_S);
	else
		add_indent(buf, 12);
}

/* The name of a single thread, or that of their group. */
static void add_names(const struct locks *locks, const struct node_run *row)
{
	const char *name = thread_of(locks, row->items[0])->name;
	struct pmp_buf *buf = &locks->out->buf;
	size_t start = buf->length;
	bool alike = true;

	for (size_t i = 1; i < row->count; i++)
		alike = alike && strcmp(name, thread_of(locks, row->items[i])->name) == 0;
	pmp_name_word(buf, alike ? name : locks->graph.nodes[row->items[0]].group);
	for (size_t width = buf->length - start; width < NAME_WIDTH; width++)
		pmp_buf_putc(buf, ' ');
	pmp_buf_puts(buf, "  ");
}

/* Threads of the same group and stack. */
static void add_row(const struct locks *locks, const struct node_run *row,
		    unsigned indent)
{
	struct pmp_buf *buf = &locks->out->buf;
	size_t start = buf->length;

	add_indent(buf, indent);
	pmp_buf_printf(buf, "%4zu  ", row->count);
	if (locks->has_times)
		add_longest(locks, row);
	add_names(locks, row);
	add_stack(locks, row->items[0]);
	end_line(locks, start);
}

static bool is_event_outside(const struct locks *locks, size_t node)
{
	return pmp_wait_is_outside(wait_of(locks, node)->kind) &&
	       !named_of(locks, node)->lock && outside_of(locks, node);
}

/* For whom the threads of a row wait, a line for each. */
static void add_events_outside(const struct locks *locks, const struct node_run *row,
			       unsigned indent)
{
	struct pmp_buf *buf = &locks->out->buf;
	const struct pmp_outside *last = NULL;
	size_t count = 0;

	for (size_t i = 0; i < row->count; i++) {
		size_t node = row->items[i], start = buf->length;
		const struct pmp_outside *what = outside_of(locks, node);

		if (!is_event_outside(locks, node) || what == last)
			continue;
		last = what;
		if (count++ >= OUTSIDES_SHOWN)
			continue;
		add_indent(buf, indent);
		pmp_outside_describe(buf, what, wait_of(locks, node), false);
		pmp_buf_puts(buf, ": ");
		pmp_outside_who(buf, locks->graph.report->snapshot, what,
				wait_of(locks, node));
		end_line(locks, start);
	}
	if (count > OUTSIDES_SHOWN) {
		add_indent(buf, indent);
		pmp_buf_printf(buf, "and %zu more\n", count - OUTSIDES_SHOWN);
	}
}

static void add_rows(struct locks *locks, const struct node_run *run, unsigned indent)
{
	size_t *items = malloc((run->count + 1) * sizeof(*items));
	struct node_run sorted = { items, run->count };
	struct node_run *rows = malloc((run->count + 1) * sizeof(*rows));
	size_t count = 0;

	if (!items || !rows) {
		pmp_buf_fail(&locks->out->buf);
		goto out;
	}
	memcpy(items, run->items, run->count * sizeof(*items));
	qsort_r(items, run->count, sizeof(*items), compare_threads, locks);
	for (size_t i = 0; i < sorted.count; i += rows[count++].count)
		rows[count] =
			(struct node_run){ items + i, row_length(locks, &sorted, i) };
	qsort(rows, count, sizeof(*rows), by_length);
	for (size_t i = 0; i < count; i++) {
		add_row(locks, &rows[i], indent);
		add_events_outside(locks, &rows[i], indent + 6);
		pmp_out_maybe_flush(locks->out);
	}
out:
	free(items);
	free(rows);
}

/* ---- choosing nodes ----------------------------------------------------------------- */

/* A holder by its number, then the object, then the order of threads. */
static int compare_objects(const void *a, const void *b, void *arg)
{
	const struct locks *locks = arg;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	const struct pmp_wait *one = wait_of(locks, x), *other = wait_of(locks, y);

	if (one->holder != other->holder)
		return one->holder < other->holder ? -1 : 1;
	if (one->object != other->object)
		return one->object < other->object ? -1 : 1;
	if (one->outside != other->outside)
		return one->outside < other->outside ? -1 : 1;
	return (x > y) - (x < y);
}

typedef bool choice(const struct locks *locks, size_t node, size_t of);
typedef struct node_run like(const struct locks *locks, const struct nodes *nodes,
			     size_t first);

/* Those that have not been shown and that chosen() wants, by objects; to be freed. */
static struct nodes choose(struct locks *locks, choice *chosen, size_t of)
{
	struct nodes nodes = { 0 };

	nodes.items = malloc((locks->graph.count + 1) * sizeof(*nodes.items));
	if (!nodes.items) {
		pmp_buf_fail(&locks->out->buf);
		return nodes;
	}
	for (size_t i = 0; i < locks->graph.count; i++)
		if (!locks->graph.nodes[i].shown && chosen(locks, i, of))
			nodes.items[nodes.count++] = i;
	qsort_r(nodes.items, nodes.count, sizeof(*nodes.items), compare_objects, locks);
	return nodes;
}

static bool waits_for(const struct locks *locks, size_t node, size_t of)
{
	return locks->graph.nodes[node].holder == of &&
	       !(wait_of(locks, node)->flags & PMP_WAIT_DEADLOCK);
}

/* Nodes from first on that wait for the same object of the same holder. */
static struct node_run same_object(const struct locks *locks, const struct nodes *nodes,
				   size_t first)
{
	const struct pmp_wait *wait = wait_of(locks, nodes->items[first]);
	size_t i = first;

	for (; i < nodes->count; i++) {
		const struct pmp_wait *other = wait_of(locks, nodes->items[i]);

		if (other->object != wait->object || other->holder != wait->holder ||
		    other->holder_is != wait->holder_is ||
		    other->outside != wait->outside)
			break;
	}
	return (struct node_run){ nodes->items + first, i - first };
}

/* ---- waits that are alike --------------------------------------------------------------- */

static int compare_texts(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int compare_waits(const struct locks *locks, size_t x, size_t y)
{
	const struct pmp_named_wait *one = named_of(locks, x),
				    *other = named_of(locks, y);
	int order = compare_texts(one->kind, other->kind);

	return order ? order : compare_texts(one->meaning, other->meaning);
}

/* By kinds and meanings, then objects. */
static int compare_kinds(const void *a, const void *b, void *arg)
{
	const struct locks *locks = arg;
	int order = compare_waits(locks, *(const size_t *)a, *(const size_t *)b);

	return order ? order : compare_objects(a, b, arg);
}

static struct node_run same_kind(const struct locks *locks, const struct nodes *nodes,
				 size_t first)
{
	size_t i = first + 1;

	while (i < nodes->count &&
	       compare_waits(locks, nodes->items[first], nodes->items[i]) == 0)
		i++;
	return (struct node_run){ nodes->items + first, i - first };
}

/* Objects that have a meaning, or are not known, are not told apart: one block. */
static struct node_run same_unknown(const struct locks *locks, const struct nodes *nodes,
				    size_t first)
{
	const struct pmp_named_wait *named = named_of(locks, nodes->items[first]);
	struct node_run run;
	size_t i = first + 1;

	if (named->meaning || !named->wait.object)
		return same_kind(locks, nodes, first);
	run = same_object(locks, nodes, first);
	while (i < first + run.count &&
	       compare_waits(locks, nodes->items[first], nodes->items[i]) == 0)
		i++;
	return (struct node_run){ run.items, i - first };
}

static size_t count_objects(const struct locks *locks, const struct node_run *run)
{
	uint64_t last = 0;
	size_t count = 0;

	for (size_t i = 0; i < run->count; i++) {
		uint64_t object = wait_of(locks, run->items[i])->object;

		count += object && object != last;
		last = object;
	}
	return count;
}

/* Of several objects, "5 conditions (metadata lock)"; else as add_object() does. */
static void add_objects(const struct locks *locks, const struct node_run *run)
{
	const char *kind = named_of(locks, run->items[0])->kind;
	size_t count = count_objects(locks, run);
	const char *plural = strlen(kind) && kind[strlen(kind) - 1] == 'x' ? "es" : "s";

	if (count < 2) {
		add_object(locks, run->items[0]);
		return;
	}
	pmp_buf_printf(&locks->out->buf, "%zu %s%s", count, kind, plural);
	pmp_wait_meaning(&locks->out->buf, named_of(locks, run->items[0]));
}

/* ---- threads behind threads ----------------------------------------------------------- */

static void add_waiters_of(struct locks *locks, size_t holder, unsigned indent,
			   unsigned depth);

/* Those of a run that others wait for. */
static void add_nested(struct locks *locks, const struct node_run *run, unsigned indent,
		       unsigned depth)
{
	struct pmp_buf *buf = &locks->out->buf;

	for (size_t i = 0; i < run->count && depth < PMP_WAIT_CHAIN_MAX; i++) {
		size_t behind = locks->graph.nodes[run->items[i]].behind;

		if (!behind)
			continue;
		add_indent(buf, indent);
		add_thread(locks, run->items[i]);
		pmp_buf_printf(buf, " of these: %zu %s for it\n", behind,
			       behind == 1 ? "waits" : "wait");
		add_waiters_of(locks, run->items[i], indent + 2, depth + 1);
	}
}

/* A run of the same object, with a line for that. */
static void add_run(struct locks *locks, const struct node_run *run, unsigned indent,
		    unsigned depth)
{
	for (size_t i = 0; i < run->count; i++)
		locks->graph.nodes[run->items[i]].shown = true;
	add_rows(locks, run, indent + 2);
	add_nested(locks, run, indent + 8, depth);
}

static void add_waiters_of(struct locks *locks, size_t holder, unsigned indent,
			   unsigned depth)
{
	struct nodes nodes = choose(locks, waits_for, holder);
	struct node_run run;

	for (size_t i = 0; i < nodes.count; i += run.count) {
		run = same_object(locks, &nodes, i);
		add_indent(&locks->out->buf, indent);
		add_object(locks, run.items[0]);
		if (named_of(locks, run.items[0])->inferred)
			pmp_buf_puts(&locks->out->buf,
				     ": inferred, it runs the initialiser");
		pmp_buf_putc(&locks->out->buf, '\n');
		add_run(locks, &run, indent, depth);
	}
	free(nodes.items);
}

/* ---- blocks ----------------------------------------------------------------------------- */

/* What could not be looked at where others were looked for. */
static void add_missed(const struct locks *locks)
{
	const struct pmp_snapshot *snapshot = locks->graph.report->snapshot;
	struct pmp_buf *buf = &locks->out->buf;

	if (snapshot->hidden)
		pmp_buf_printf(buf,
			       "Not seen: what %zu process%s of other users %s open.\n",
			       snapshot->hidden, snapshot->hidden == 1 ? "" : "es",
			       snapshot->hidden == 1 ? "has" : "have");
	if (snapshot->walk_cut)
		pmp_buf_puts(buf, "Not all descriptors of this machine were seen.\n");
}

static void add_title(const struct locks *locks)
{
	const struct pmp_wait_graph *graph = &locks->graph;
	const struct pmp_sample_info *info = &graph->report->snapshot->info;
	struct pmp_buf *buf = &locks->out->buf;

	pmp_heading_begin(buf, graph->report->snapshot);
	pmp_heading_time(buf, graph->report->snapshot);
	pmp_buf_puts(buf, " ---\n");
	pmp_escape_buf(buf, info->name, strlen(info->name));
	pmp_buf_printf(buf, " [%d]: %zu thread%s, %zu wait%s for locks", (int)info->pid,
		       graph->count, graph->count == 1 ? "" : "s", graph->waiting,
		       graph->waiting == 1 ? "s" : "");
	if (graph->waiting)
		pmp_buf_printf(buf, ", the holder of %zu is known", graph->known);
	if (graph->inferred)
		pmp_buf_printf(buf, ", of %zu inferred", graph->inferred);
	pmp_buf_putc(buf, '\n');
	if (!graph->deadlocked)
		pmp_buf_puts(buf, "No deadlock.\n");
	add_missed(locks);
}

static void add_member(struct locks *locks, size_t node)
{
	const struct pmp_wait_node *member = &locks->graph.nodes[node];
	struct pmp_buf *buf = &locks->out->buf;
	size_t start;

	pmp_buf_puts(buf, "  ");
	add_thread(locks, node);
	pmp_buf_puts(buf, " waits ");
	if (asleep(locks, node)) {
		add_time(buf, asleep(locks, node));
		pmp_buf_putc(buf, ' ');
	}
	pmp_buf_puts(buf, "for ");
	if (member->wait->kind == PMP_WAIT_JOIN) {
		pmp_buf_puts(buf, "the end (join) of ");
		add_thread(locks, member->holder);
	} else {
		add_object(locks, node);
		pmp_buf_puts(buf, "\n    held by ");
		if (member->holder == node)
			pmp_buf_puts(buf, "itself");
		else
			add_thread(locks, member->holder);
	}
	if (member->wait->flags & PMP_WAIT_TIMED)
		pmp_buf_puts(buf, ", until a timeout");
	pmp_buf_puts(buf, "\n    ");
	start = buf->length;
	add_stack(locks, node);
	end_line(locks, start - 4);
}

static size_t count_behind(const struct locks *locks, size_t node, size_t count)
{
	size_t behind = 0;

	for (size_t i = 0; i < count; i++) {
		behind += locks->graph.nodes[node].behind;
		node = locks->graph.nodes[node].holder;
	}
	return behind;
}

static void add_deadlock(struct locks *locks, size_t node, size_t count)
{
	struct pmp_buf *buf = &locks->out->buf;
	size_t behind = count_behind(locks, node, count);

	if (count == 1)
		pmp_buf_puts(buf, "\nDEADLOCK: a thread waits for itself");
	else
		pmp_buf_printf(buf, "\nDEADLOCK: %zu threads wait for each other", count);
	if (behind)
		pmp_buf_printf(buf, ", %zu more %s behind %s", behind,
			       behind == 1 ? "waits" : "wait",
			       count == 1 ? "it" : "them");
	pmp_buf_putc(buf, '\n');
	for (size_t i = 0; i < count; i++) {
		add_member(locks, node);
		locks->graph.nodes[node].shown = true;
		node = locks->graph.nodes[node].holder;
	}
	for (size_t i = 0; i < count; i++) {
		if (locks->graph.nodes[node].behind) {
			pmp_buf_puts(buf, "  behind ");
			add_thread(locks, node);
			pmp_buf_putc(buf, '\n');
			add_waiters_of(locks, node, 4, 0);
		}
		node = locks->graph.nodes[node].holder;
	}
}

static void add_deadlocks(struct locks *locks)
{
	for (size_t i = 0; i < locks->graph.count; i++) {
		size_t count = pmp_wait_graph_circle(&locks->graph, i);

		if (count)
			add_deadlock(locks, i, count);
	}
}

/* Those who have to finish first: they wait for no lock themselves. */
static int by_weight(const void *a, const void *b, void *arg)
{
	const struct locks *locks = arg;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	size_t one = locks->graph.nodes[x].behind, other = locks->graph.nodes[y].behind;

	if (one != other)
		return one < other ? 1 : -1;
	return (x > y) - (x < y);
}

static bool is_root(const struct locks *locks, size_t node, size_t of)
{
	(void)of;
	return locks->graph.nodes[node].behind && !named_of(locks, node)->lock;
}

static void add_root(struct locks *locks, size_t root)
{
	struct pmp_buf *buf = &locks->out->buf;
	size_t start;

	pmp_buf_puts(buf, "\nHOLDER ");
	add_thread(locks, root);
	pmp_buf_printf(buf, " %c", thread_of(locks, root)->state);
	if (asleep(locks, root)) {
		pmp_buf_puts(buf, ", asleep ");
		add_time(buf, asleep(locks, root));
	}
	pmp_buf_puts(buf, ": ");
	add_threads(buf, locks->graph.nodes[root].behind);
	pmp_buf_puts(buf, " for it\n");
	start = buf->length;
	pmp_buf_puts(buf, "    ");
	add_stack(locks, root);
	end_line(locks, start);
	add_waiters_of(locks, root, 2, 0);
}

static void add_roots(struct locks *locks)
{
	struct nodes roots = choose(locks, is_root, 0);

	qsort_r(roots.items, roots.count, sizeof(*roots.items), by_weight, locks);
	for (size_t i = 0; i < roots.count; i++)
		add_root(locks, roots.items[i]);
	free(roots.items);
}

/* Threads that seem to wait for each other, as each was seen at another moment: a circle
 * that was not proven is no deadlock. Any of them may be the one to finish first. */
static void add_circles(struct locks *locks)
{
	for (size_t i = 0; i < locks->graph.count; i++) {
		const struct pmp_wait_node *node = &locks->graph.nodes[i];

		if (!node->shown && node->behind && node->holder != PMP_NO_THREAD)
			add_root(locks, i);
	}
}

/* ---- blocks of an object ------------------------------------------------------------------ */

static bool is_absent(const struct locks *locks, size_t node, size_t of)
{
	const struct pmp_wait *wait = wait_of(locks, node);

	(void)of;
	return wait->holder && locks->graph.nodes[node].holder == PMP_NO_THREAD;
}

/* 13100 "writer" of process 13099 */
static void add_absent(const struct locks *locks, size_t node)
{
	const struct pmp_snapshot *snapshot = locks->graph.report->snapshot;
	const struct pmp_outside *what = outside_of(locks, node);
	const struct pmp_wait *wait = wait_of(locks, node);
	struct pmp_buf *buf = &locks->out->buf;

	if (what && what->type != PMP_OUTSIDE_NONE && what->shown) {
		pmp_outside_holders(buf, snapshot, what);
		return;
	}
	pmp_buf_printf(buf, "%d", (int)wait->holder);
	if (what && what->shown) {
		const struct pmp_other *other = &snapshot->others[what->other];

		pmp_buf_puts(buf, " \"");
		pmp_escape_buf(buf, other->name, strlen(other->name));
		pmp_buf_printf(buf, "\" of process %d", (int)other->pid);
	} else if (wait->holder_is == PMP_HOLDER_PROCESS ||
		   wait->holder_is == PMP_HOLDER_BEFORE_FORK) {
		pmp_buf_puts(buf, " of another process");
	}
}

static void title_absent(const struct locks *locks, const struct node_run *run)
{
	const struct pmp_wait *wait = wait_of(locks, run->items[0]);
	struct pmp_buf *buf = &locks->out->buf;

	pmp_buf_puts(buf, "HOLDER ");
	add_absent(locks, run->items[0]);
	switch (wait->holder_is) {
	case PMP_HOLDER_ENDED: pmp_buf_puts(buf, " has ended without unlocking"); break;
	case PMP_HOLDER_PROCESS: break;
	case PMP_HOLDER_BEFORE_FORK: pmp_buf_puts(buf, ", locked before fork"); break;
	default: pmp_buf_puts(buf, ", not in this snapshot");
	}
	pmp_buf_puts(buf, ": ");
	add_threads(buf, run->count);
	pmp_buf_puts(buf, " for it\n  ");
	add_object(locks, run->items[0]);
	if (wait->holder_is == PMP_HOLDER_BEFORE_FORK)
		pmp_buf_puts(buf, ": no thread of this process can unlock it");
}

static bool is_unknown(const struct locks *locks, size_t node, size_t of)
{
	(void)of;
	return named_of(locks, node)->lock &&
	       wait_of(locks, node)->holder_is == PMP_HOLDER_NONE;
}

static void title_unknown(const struct locks *locks, const struct node_run *run)
{
	const struct pmp_named_wait *named = named_of(locks, run->items[0]);
	struct pmp_buf *buf = &locks->out->buf;
	uint32_t readers = 0;

	pmp_buf_puts(buf, "HOLDER UNKNOWN ");
	add_objects(locks, run);
	for (size_t i = 0; i < run->count; i++)
		if (wait_of(locks, run->items[i])->count > readers)
			readers = wait_of(locks, run->items[i])->count;
	if (readers)
		pmp_buf_printf(buf, ": %" PRIu32 " reader%s it", readers,
			       readers == 1 ? " holds" : "s hold");
	else if (named->said.what == PMP_SAYS_WRITER)
		pmp_buf_puts(buf, ": a writer holds it");
	else if (named->ask && named->else_see)
		pmp_buf_printf(buf, ": %s knows, if it is loaded; else see %s",
			       named->ask, named->else_see);
	else if (named->ask)
		pmp_buf_printf(buf, ": %s knows", named->ask);
}

static bool is_free(const struct locks *locks, size_t node, size_t of)
{
	(void)of;
	return wait_of(locks, node)->holder_is == PMP_HOLDER_FREE;
}

static void title_free(const struct locks *locks, const struct node_run *run)
{
	pmp_buf_puts(&locks->out->buf, "FREE ");
	add_object(locks, run->items[0]);
	pmp_buf_puts(&locks->out->buf, ": the next one has been woken");
}

/* The nodes in the order of kinds, as runs of those that are alike; to be freed. */
static struct node_run *make_runs(struct locks *locks, struct nodes *nodes, like *alike,
				  size_t *count)
{
	struct node_run *runs = calloc(nodes->count + 1, sizeof(*runs));

	*count = 0;
	if (!runs) {
		pmp_buf_fail(&locks->out->buf);
		return NULL;
	}
	qsort_r(nodes->items, nodes->count, sizeof(*nodes->items), compare_kinds, locks);
	for (size_t i = 0; i < nodes->count; i += runs[(*count)++].count)
		runs[*count] = alike(locks, nodes, i);
	qsort(runs, *count, sizeof(*runs), by_length);
	return runs;
}

/* A block for each object of the nodes that are chosen, the most waited for first. */
static void add_blocks(struct locks *locks, choice *chosen, like *alike,
		       void (*title)(const struct locks *locks,
				     const struct node_run *run))
{
	struct nodes nodes = choose(locks, chosen, 0);
	size_t count;
	struct node_run *runs = make_runs(locks, &nodes, alike, &count);

	for (size_t i = 0; i < count; i++) {
		pmp_buf_putc(&locks->out->buf, '\n');
		title(locks, &runs[i]);
		pmp_buf_putc(&locks->out->buf, '\n');
		add_run(locks, &runs[i], 0, 0);
	}
	free(runs);
	free(nodes.items);
}

static bool is_other(const struct locks *locks, size_t node, size_t of)
{
	(void)of;
	return *named_of(locks, node)->kind;
}

/* All objects of a kind together, as idle threads have one condition each; but barriers, of
 * which it is known how many have come, by themselves. */
static struct node_run same_event(const struct locks *locks, const struct nodes *nodes,
				  size_t first)
{
	if (named_of(locks, nodes->items[first])->said.what == PMP_SAYS_ARRIVED)
		return same_unknown(locks, nodes, first);
	return same_kind(locks, nodes, first);
}

/* Of what threads were found to say of one object, at different moments, the largest. */
static void add_said(const struct locks *locks, const struct node_run *run)
{
	struct pmp_said said = named_of(locks, run->items[0])->said;

	if (count_objects(locks, run) != 1)
		return;
	for (size_t i = 1; i < run->count; i++)
		if (named_of(locks, run->items[i])->said.count > said.count)
			said = named_of(locks, run->items[i])->said;
	pmp_wait_said(&locks->out->buf, ": ", &said, "");
}

/* For events, or for what is not known. */
static void add_others(struct locks *locks)
{
	struct nodes nodes = choose(locks, is_other, 0);
	size_t count;
	struct node_run *runs = make_runs(locks, &nodes, same_event, &count);

	if (count)
		pmp_buf_puts(&locks->out->buf, "\nOTHER WAITS\n");
	for (size_t i = 0; i < count; i++) {
		pmp_buf_puts(&locks->out->buf, "  ");
		if (is_event_outside(locks, runs[i].items[0]))
			pmp_buf_puts(&locks->out->buf,
				     named_of(locks, runs[i].items[0])->kind);
		else
			add_objects(locks, &runs[i]);
		add_said(locks, &runs[i]);
		pmp_buf_putc(&locks->out->buf, '\n');
		add_rows(locks, &runs[i], 4);
	}
	free(runs);
	free(nodes.items);
}

static void write_locks(struct pmp_out *out, const struct pmp_report *report,
			const struct pmp_write_options *options)
{
	struct locks locks = { .out = out, .options = options };

	if (pmp_wait_graph_make(&locks.graph, report)) {
		pmp_buf_fail(&out->buf);
		return;
	}
	for (size_t i = 0; i < locks.graph.count; i++)
		locks.has_times |= asleep(&locks, i) > 0;
	if (report->snapshot->number > 1)
		pmp_buf_putc(&out->buf, '\n');
	add_title(&locks);
	add_deadlocks(&locks);
	add_roots(&locks);
	add_blocks(&locks, is_absent, same_object, title_absent);
	add_blocks(&locks, is_unknown, same_unknown, title_unknown);
	add_blocks(&locks, is_free, same_object, title_free);
	add_circles(&locks);
	add_others(&locks);
	pmp_wait_graph_free(&locks.graph);
}

const struct pmp_writer pmp_writer_locks = {
	.format = {
		.name = "locks",
		.help = "who waits for which lock, who holds it; deadlocks",
		.extension = "locks",
		.mime = "text/plain; charset=utf-8",
		.snapshots = true,
		.peers = true,
		.once = true,
		.live = true,
		.asleep = true,
	},
	.write = write_locks,
};
