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
#include "write/lock-text.h"
#include "write/names.h"
#include "write/outside-names.h"
#include "write/wait-names.h"
#include "write/writer.h"

/* ---- chains of waiters ------------------------------------------------------------- */

static void add_waiters_of(struct pmp_lock_text *text, size_t holder, unsigned indent,
			   unsigned depth);

/* The threads of a run that others wait for. */
static void add_nested(struct pmp_lock_text *text, const struct pmp_lock_run *run,
		       unsigned indent, unsigned depth)
{
	struct pmp_buf *buf = &text->out->buf;

	for (size_t i = 0; i < run->count && depth < PMP_WAIT_CHAIN_MAX; i++) {
		size_t behind = text->graph.nodes[run->items[i]].behind;

		if (!behind)
			continue;
		pmp_lock_text_indent(buf, indent);
		pmp_lock_text_thread(text, run->items[i]);
		pmp_buf_printf(buf, " of these: %zu %s for it\n", behind,
			       behind == 1 ? "waits" : "wait");
		add_waiters_of(text, run->items[i], indent + 2, depth + 1);
	}
}

/* The rows of a run, and the threads that wait for its members. */
static void add_run(struct pmp_lock_text *text, const struct pmp_lock_run *run,
		    unsigned indent, unsigned depth)
{
	for (size_t i = 0; i < run->count; i++)
		text->graph.nodes[run->items[i]].shown = true;
	pmp_lock_text_rows(text, run, indent + 2);
	add_nested(text, run, indent + 8, depth);
}

static bool waits_for(const struct pmp_lock_text *text, size_t node, size_t of)
{
	return text->graph.nodes[node].holder == of &&
	       !(pmp_lock_wait(text, node)->flags & PMP_WAIT_DEADLOCK);
}

static void add_waiters_of(struct pmp_lock_text *text, size_t holder, unsigned indent,
			   unsigned depth)
{
	struct pmp_lock_nodes nodes = pmp_lock_choose(text, waits_for, holder);
	struct pmp_lock_run run;

	for (size_t i = 0; i < nodes.count; i += run.count) {
		run = pmp_lock_same_object(text, &nodes, i);
		pmp_lock_text_indent(&text->out->buf, indent);
		pmp_lock_text_object(text, run.items[0]);
		if (pmp_lock_named(text, run.items[0])->inferred)
			pmp_buf_puts(&text->out->buf,
				     ": inferred, it runs the initialiser");
		if (pmp_lock_wait(text, run.items[0])->flags & PMP_WAIT_MOVED_ON)
			pmp_buf_puts(
				&text->out->buf,
				": the holder moved on, its stack is of another moment");
		pmp_buf_putc(&text->out->buf, '\n');
		add_run(text, &run, indent, depth);
	}
	free(nodes.items);
}

/* ---- blocks ----------------------------------------------------------------------------- */

/* Processes and files that could not be inspected. */
static void add_missed(const struct pmp_lock_text *text)
{
	const struct pmp_snapshot *snapshot = text->graph.report->snapshot;
	struct pmp_buf *buf = &text->out->buf;

	if (snapshot->hidden)
		pmp_buf_printf(buf,
			       "Not seen: what %zu process%s of other users %s open.\n",
			       snapshot->hidden, snapshot->hidden == 1 ? "" : "es",
			       snapshot->hidden == 1 ? "has" : "have");
	if (snapshot->walk_cut)
		pmp_buf_puts(
			buf,
			"Some descriptors or file locks of this machine were not seen.\n");
}

/* Limits the claim if not all threads and waits were examined. */
static const char *where_none_is(const struct pmp_wait_graph *graph)
{
	const struct pmp_sample_info *info = &graph->report->snapshot->info;

	if (info->skipped || graph->count < info->threads)
		return " among these threads";
	if (graph->unread)
		return " among the waits that could be read";
	if (graph->known < graph->waiting)
		return " among the waits whose holder is known";
	return "";
}

static void add_title(const struct pmp_lock_text *text)
{
	const struct pmp_wait_graph *graph = &text->graph;
	const struct pmp_sample_info *info = &graph->report->snapshot->info;
	struct pmp_buf *buf = &text->out->buf;

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
		pmp_buf_printf(buf, "No deadlock%s.\n", where_none_is(graph));
	add_missed(text);
}

static void add_member(struct pmp_lock_text *text, size_t node)
{
	const struct pmp_wait_node *member = &text->graph.nodes[node];
	struct pmp_buf *buf = &text->out->buf;
	size_t start;

	pmp_buf_puts(buf, "  ");
	pmp_lock_text_thread(text, node);
	pmp_buf_puts(buf, " waits ");
	if (pmp_lock_asleep(text, node)) {
		pmp_lock_text_time(buf, pmp_lock_asleep(text, node));
		pmp_buf_putc(buf, ' ');
	}
	pmp_buf_puts(buf, "for ");
	if (member->wait->kind == PMP_WAIT_JOIN) {
		pmp_buf_puts(buf, "the end (join) of ");
		pmp_lock_text_thread(text, member->holder);
	} else {
		pmp_lock_text_object(text, node);
		pmp_buf_puts(buf, "\n    held by ");
		if (member->holder == node)
			pmp_buf_puts(buf, "itself");
		else
			pmp_lock_text_thread(text, member->holder);
	}
	if (member->wait->flags & PMP_WAIT_TIMED)
		pmp_buf_puts(buf, ", until a timeout");
	pmp_buf_puts(buf, "\n    ");
	start = buf->length;
	pmp_lock_text_stack(text, node);
	pmp_lock_text_end_line(text, start - 4);
}

static size_t count_behind(const struct pmp_lock_text *text, size_t node, size_t count)
{
	size_t behind = 0;

	for (size_t i = 0; i < count; i++) {
		behind += text->graph.nodes[node].behind;
		node = text->graph.nodes[node].holder;
	}
	return behind;
}

static void add_deadlock(struct pmp_lock_text *text, size_t node, size_t count)
{
	struct pmp_buf *buf = &text->out->buf;
	size_t behind = count_behind(text, node, count);

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
		add_member(text, node);
		text->graph.nodes[node].shown = true;
		node = text->graph.nodes[node].holder;
	}
	for (size_t i = 0; i < count; i++) {
		if (text->graph.nodes[node].behind) {
			pmp_buf_puts(buf, "  behind ");
			pmp_lock_text_thread(text, node);
			pmp_buf_putc(buf, '\n');
			add_waiters_of(text, node, 4, 0);
		}
		node = text->graph.nodes[node].holder;
	}
}

static void add_deadlocks(struct pmp_lock_text *text)
{
	for (size_t i = 0; i < text->graph.count; i++) {
		size_t count = pmp_wait_graph_circle(&text->graph, i);

		if (count)
			add_deadlock(text, i, count);
	}
}

/* Roots have to finish first: they wait for no lock themselves. */
static int by_weight(const void *a, const void *b, void *arg)
{
	const struct pmp_lock_text *text = arg;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	size_t one = text->graph.nodes[x].behind, other = text->graph.nodes[y].behind;

	if (one != other)
		return one < other ? 1 : -1;
	return (x > y) - (x < y);
}

static bool is_root(const struct pmp_lock_text *text, size_t node, size_t of)
{
	(void)of;
	return text->graph.nodes[node].behind && !pmp_lock_named(text, node)->lock;
}

static void add_root(struct pmp_lock_text *text, size_t root)
{
	struct pmp_buf *buf = &text->out->buf;
	size_t start;

	pmp_buf_puts(buf, "\nHOLDER ");
	pmp_lock_text_thread(text, root);
	pmp_buf_printf(buf, " %c", pmp_lock_thread(text, root)->state);
	if (pmp_lock_asleep(text, root)) {
		pmp_buf_puts(buf, ", asleep ");
		pmp_lock_text_time(buf, pmp_lock_asleep(text, root));
	}
	pmp_buf_puts(buf, ": ");
	pmp_lock_text_threads(buf, text->graph.nodes[root].behind);
	pmp_buf_puts(buf, " for it\n");
	start = buf->length;
	pmp_buf_puts(buf, "    ");
	pmp_lock_text_stack(text, root);
	pmp_lock_text_end_line(text, start);
	add_waiters_of(text, root, 2, 0);
}

static void add_roots(struct pmp_lock_text *text)
{
	struct pmp_lock_nodes roots = pmp_lock_choose(text, is_root, 0);

	qsort_r(roots.items, roots.count, sizeof(*roots.items), by_weight, text);
	for (size_t i = 0; i < roots.count; i++)
		add_root(text, roots.items[i]);
	free(roots.items);
}

/* Threads seen at different moments may seem to wait for each other. An unproven circle
 * is no deadlock, and any of its threads may be the one to finish first. */
static void add_circles(struct pmp_lock_text *text)
{
	for (size_t i = 0; i < text->graph.count; i++) {
		const struct pmp_wait_node *node = &text->graph.nodes[i];

		if (!node->shown && node->behind && node->holder != PMP_NO_THREAD)
			add_root(text, i);
	}
}

/* ---- blocks of an object ------------------------------------------------------------------ */

static bool is_absent(const struct pmp_lock_text *text, size_t node, size_t of)
{
	const struct pmp_wait *wait = pmp_lock_wait(text, node);

	(void)of;
	return wait->holder && text->graph.nodes[node].holder == PMP_NO_THREAD;
}

/* 13100 "writer" of process 13099 */
static void add_absent(const struct pmp_lock_text *text, size_t node)
{
	const struct pmp_snapshot *snapshot = text->graph.report->snapshot;
	const struct pmp_outside *what = pmp_lock_outside(text, node);
	const struct pmp_wait *wait = pmp_lock_wait(text, node);
	struct pmp_buf *buf = &text->out->buf;

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

static void title_absent(const struct pmp_lock_text *text, const struct pmp_lock_run *run)
{
	const struct pmp_wait *wait = pmp_lock_wait(text, run->items[0]);
	struct pmp_buf *buf = &text->out->buf;

	pmp_buf_puts(buf, "HOLDER ");
	add_absent(text, run->items[0]);
	switch (wait->holder_is) {
	case PMP_HOLDER_ENDED: pmp_buf_puts(buf, " has ended without unlocking"); break;
	case PMP_HOLDER_PROCESS: break;
	case PMP_HOLDER_BEFORE_FORK: pmp_buf_puts(buf, ", locked before fork"); break;
	default: pmp_buf_puts(buf, ", not in this snapshot");
	}
	pmp_buf_puts(buf, ": ");
	pmp_lock_text_threads(buf, run->count);
	pmp_buf_puts(buf, " for it\n  ");
	pmp_lock_text_object(text, run->items[0]);
	if (wait->holder_is == PMP_HOLDER_BEFORE_FORK)
		pmp_buf_puts(buf, ": no thread of this process can unlock it");
}

static bool is_unknown(const struct pmp_lock_text *text, size_t node, size_t of)
{
	(void)of;
	return pmp_lock_named(text, node)->lock &&
	       pmp_lock_wait(text, node)->holder_is == PMP_HOLDER_NONE;
}

/* Shown only if it is the same for all threads of a single lock. */
static void add_taker(const struct pmp_lock_text *text, const struct pmp_lock_run *run,
		      const char *before)
{
	const struct pmp_row *rows = text->graph.report->snapshot->rows;

	for (size_t i = 1; i < run->count; i++)
		if (rows[run->items[i]].taker != rows[run->items[0]].taker)
			return;
	if (pmp_lock_count_objects(text, run) == 1)
		pmp_wait_taker(&text->out->buf, before, &text->graph, run->items[0]);
}

static void title_unknown(const struct pmp_lock_text *text,
			  const struct pmp_lock_run *run)
{
	const struct pmp_named_wait *named = pmp_lock_named(text, run->items[0]);
	struct pmp_buf *buf = &text->out->buf;
	uint32_t readers = 0;
	size_t title;

	pmp_buf_puts(buf, "HOLDER UNKNOWN ");
	pmp_lock_text_objects(text, run);
	title = buf->length;
	for (size_t i = 0; i < run->count; i++)
		if (pmp_lock_wait(text, run->items[i])->count > readers)
			readers = pmp_lock_wait(text, run->items[i])->count;
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
	add_taker(text, run, buf->length > title ? "; " : ": ");
}

static bool is_free(const struct pmp_lock_text *text, size_t node, size_t of)
{
	(void)of;
	return pmp_lock_wait(text, node)->holder_is == PMP_HOLDER_FREE;
}

static void title_free(const struct pmp_lock_text *text, const struct pmp_lock_run *run)
{
	pmp_buf_puts(&text->out->buf, "FREE ");
	pmp_lock_text_object(text, run->items[0]);
	pmp_buf_puts(&text->out->buf, ": the next one has been woken");
}

/* A block for each object of the chosen nodes, the most waited for first. */
static void add_blocks(struct pmp_lock_text *text, pmp_lock_choice *chosen,
		       pmp_lock_alike *alike,
		       void (*title)(const struct pmp_lock_text *text,
				     const struct pmp_lock_run *run))
{
	struct pmp_lock_nodes nodes = pmp_lock_choose(text, chosen, 0);
	size_t count;
	struct pmp_lock_run *runs = pmp_lock_runs(text, &nodes, alike, &count);

	for (size_t i = 0; i < count; i++) {
		pmp_buf_putc(&text->out->buf, '\n');
		title(text, &runs[i]);
		pmp_buf_putc(&text->out->buf, '\n');
		add_run(text, &runs[i], 0, 0);
	}
	free(runs);
	free(nodes.items);
}

static bool is_other(const struct pmp_lock_text *text, size_t node, size_t of)
{
	(void)of;
	return *pmp_lock_named(text, node)->kind;
}

/* All objects of a kind together, as idle threads have one condition each; but each
 * barrier by itself if it is known how many threads have arrived. */
static struct pmp_lock_run same_event(const struct pmp_lock_text *text,
				      const struct pmp_lock_nodes *nodes, size_t first)
{
	if (pmp_lock_named(text, nodes->items[first])->said.what == PMP_SAYS_ARRIVED)
		return pmp_lock_same_unknown(text, nodes, first);
	return pmp_lock_same_kind(text, nodes, first);
}

/* Threads see an object at different moments: show the largest count. */
static void add_said(const struct pmp_lock_text *text, const struct pmp_lock_run *run)
{
	struct pmp_said said = pmp_lock_named(text, run->items[0])->said;

	if (pmp_lock_count_objects(text, run) != 1)
		return;
	for (size_t i = 1; i < run->count; i++)
		if (pmp_lock_named(text, run->items[i])->said.count > said.count)
			said = pmp_lock_named(text, run->items[i])->said;
	pmp_wait_said(&text->out->buf, ": ", &said, "");
}

/* Waits for events or for unknown things. */
static void add_others(struct pmp_lock_text *text)
{
	struct pmp_lock_nodes nodes = pmp_lock_choose(text, is_other, 0);
	size_t count;
	struct pmp_lock_run *runs = pmp_lock_runs(text, &nodes, same_event, &count);

	if (count)
		pmp_buf_puts(&text->out->buf, "\nOTHER WAITS\n");
	for (size_t i = 0; i < count; i++) {
		pmp_buf_puts(&text->out->buf, "  ");
		if (pmp_lock_is_event_outside(text, runs[i].items[0]))
			pmp_buf_puts(&text->out->buf,
				     pmp_lock_named(text, runs[i].items[0])->kind);
		else
			pmp_lock_text_objects(text, &runs[i]);
		add_said(text, &runs[i]);
		pmp_buf_putc(&text->out->buf, '\n');
		pmp_lock_text_rows(text, &runs[i], 4);
	}
	free(runs);
	free(nodes.items);
}

static void write_locks(struct pmp_out *out, const struct pmp_report *report,
			const struct pmp_write_options *options)
{
	struct pmp_lock_text text = { .out = out, .options = options };

	if (pmp_wait_graph_make(&text.graph, report)) {
		pmp_buf_fail(&out->buf);
		return;
	}
	for (size_t i = 0; i < text.graph.count; i++)
		text.has_times |=
			pmp_lock_asleep(&text, i) > 0 || pmp_lock_found_for(&text, i) > 0;
	if (report->snapshot->number > 1)
		pmp_buf_putc(&out->buf, '\n');
	add_title(&text);
	add_deadlocks(&text);
	add_roots(&text);
	add_blocks(&text, is_absent, pmp_lock_same_object, title_absent);
	add_blocks(&text, is_unknown, pmp_lock_same_unknown, title_unknown);
	add_blocks(&text, is_free, pmp_lock_same_object, title_free);
	add_circles(&text);
	add_others(&text);
	pmp_wait_graph_free(&text.graph);
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
