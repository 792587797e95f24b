/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One snapshot as text in the form of gdb's `thread apply all bt`, for programs that read
 * that:
 *
 *     --- snapshot 3: mariadbd [4100], 71 threads, 2026-11-21T04:08:36.123Z, ... ---
 *
 *     Thread 2 (Thread 0x7f31c0ff96c0 (LWP 4102)):
 *     State S, system call futex, looked at, name "conn-17", waits for mutex LOCK_log held by ...
 *     #0  0x00007f31c3a9612b in __lll_lock_wait () from /usr/lib/libc.so.6
 *     #1  0x000055d0a81171e0 in do_command () at sql_parse.cc:1405
 *     Backtrace stopped: no unwind information
 *
 * Readers (t/0630-consumers.t) split lines at blanks and expect an address in each frame,
 * one-word names, a place at the end, and an empty line after each thread. They skip
 * lines that begin with neither `Thread` nor `#`, unless these are between frames.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libpmp-program.h"
#include "crash.h"
#include "base/clock.h"
#include "base/escape.h"
#include "write/names.h"
#include "report/stacks.h"
#include "report/wait-graph.h"
#include "write/frame-texts.h"
#include "write/heading.h"
#include "write/wait-names.h"
#include "write/writer.h"

struct raw {
	struct pmp_out *out;
	const struct pmp_report *report;
	const struct pmp_write_options *options;
	struct pmp_frame_texts texts;
	struct pmp_wait_graph graph; /* of a snapshot */
};

/* Avoids %f, whose decimal point depends on the locale. */
static void add_milliseconds(struct pmp_buf *buf, uint64_t time)
{
	uint64_t microseconds = time / PMP_US + (time % PMP_US >= PMP_US / 2);

	pmp_buf_printf(buf, "%" PRIu64 ".%03u ms", microseconds / 1000,
		       (unsigned)(microseconds % 1000));
}

/* How the process ended, and its arguments. */
static void add_crash(struct pmp_buf *buf, const struct pmp_crash *crash)
{
	pmp_buf_puts(buf, "Signal ");
	pmp_crash_text(buf, crash);
	if (*crash->args) {
		pmp_buf_puts(buf, "\nArguments ");
		pmp_escape_buf(buf, crash->args, strlen(crash->args));
	}
	pmp_buf_puts(buf, "\n\n");
}

static void add_separator(struct pmp_buf *buf, const struct pmp_snapshot *snapshot)
{
	const struct pmp_sample_info *info = &snapshot->info;
	const bool one = snapshot->row_count == 1 && info->threads <= 1;

	pmp_heading_begin(buf, snapshot);
	pmp_escape_buf(buf, info->name, strlen(info->name));
	pmp_buf_printf(buf, " [%d], %zu", (int)info->pid, snapshot->row_count);
	if (info->threads > snapshot->row_count)
		pmp_buf_printf(buf, " of %zu", info->threads);
	pmp_buf_puts(buf, one ? " thread, " : " threads, ");
	if (info->vanished)
		pmp_buf_printf(buf, "%zu vanished, ", info->vanished);
	pmp_heading_time(buf, snapshot);
	if (snapshot->crash.is) {
		pmp_buf_puts(buf, ", core file ---\n\n");
		add_crash(buf, &snapshot->crash);
		return;
	}
	pmp_buf_puts(buf, ", stopped ");
	add_milliseconds(buf, info->stopped);
	pmp_buf_puts(buf, ", longest ");
	add_milliseconds(buf, info->stopped_max);
	pmp_buf_printf(buf, "; %zu stopped, %zu looked at, %zu unchanged ---\n\n",
		       info->n_stopped, info->n_peeked, info->n_unchanged);
}

/* A name in quotes; quotes in it are replaced. */
static void add_quoted(struct pmp_buf *buf, const char *name)
{
	size_t start;

	pmp_buf_putc(buf, '"');
	start = buf->length;
	pmp_escape_buf(buf, name, strlen(name));
	for (size_t i = start; i < buf->length; i++)
		if (buf->data[i] == '"')
			buf->data[i] = '\'';
	pmp_buf_putc(buf, '"');
}

/* LWP 4131 "conn-17"; without a name if it is not in the snapshot. */
static void add_holder(struct pmp_buf *buf, const struct pmp_wait_graph *graph,
		       const struct pmp_wait_node *node)
{
	const bool process = pmp_wait_is_outside(node->wait->kind);

	pmp_buf_printf(buf, "%s %d", process ? "process" : "LWP",
		       (int)node->wait->holder);
	if (node->holder == PMP_NO_THREAD)
		return;
	pmp_buf_putc(buf, ' ');
	add_quoted(buf, graph->report->snapshot->rows[node->holder].thread->name);
}

/* Marks a holder that may no longer hold the lock in the stack shown for it. */
static void add_moved_on(struct pmp_buf *buf, const struct pmp_wait_node *node)
{
	if (node->holder != PMP_NO_THREAD && node->wait->flags & PMP_WAIT_MOVED_ON)
		pmp_buf_puts(buf, " (moved on)");
}

/* Who holds what a thread waits for, if known. */
static void add_held_by(struct pmp_buf *buf, const struct pmp_wait_graph *graph,
			const struct pmp_wait_node *node)
{
	const struct pmp_wait *wait = node->wait;

	if (wait->holder_is == PMP_HOLDER_FREE)
		pmp_buf_puts(buf, " (free)");
	else if (wait->holder_is == PMP_HOLDER_SELF)
		pmp_buf_puts(buf, " held by itself");
	else if (wait->holder) {
		pmp_buf_puts(buf,
			     wait->flags & PMP_WAIT_QUEUED ? " after " : " held by ");
		add_holder(buf, graph, node);
		if (node->named.inferred)
			pmp_buf_puts(buf, " (inferred)");
		add_moved_on(buf, node);
	} else if (wait->count)
		pmp_buf_printf(buf, " held by %" PRIu32 " reader%s", wait->count,
			       wait->count == 1 ? "" : "s");
	else if (node->named.said.what == PMP_SAYS_WRITER)
		pmp_buf_puts(buf, " held by a writer");
	else
		pmp_wait_said(buf, " (", &node->named.said, ")");
	if (wait->holder_is == PMP_HOLDER_ENDED)
		pmp_buf_puts(buf, " (ended)");
	else if (wait->holder_is == PMP_HOLDER_PROCESS &&
		 !pmp_wait_is_outside(wait->kind))
		pmp_buf_puts(buf, " of another process");
	else if (wait->holder_is == PMP_HOLDER_BEFORE_FORK)
		pmp_buf_puts(buf, " of the process before its fork");
}

/* What the thread waits for, and which of its locks others wait for. */
static void add_waits(struct pmp_buf *buf, const struct pmp_wait_graph *graph,
		      const struct pmp_row *row)
{
	const size_t number = (size_t)(row - graph->report->snapshot->rows);
	const struct pmp_wait_node *node = &graph->nodes[number];
	const struct pmp_held_lock *held;
	size_t count;

	if (node->wait->kind == PMP_WAIT_JOIN) {
		pmp_buf_puts(buf, ", waits for the end of ");
		add_holder(buf, graph, node);
	} else if (*node->named.kind) {
		pmp_buf_puts(buf, ", waits for ");
		pmp_wait_object(buf, graph, number);
		add_held_by(buf, graph, node);
	}
	if (node->wait->flags & PMP_WAIT_DEADLOCK)
		pmp_buf_puts(buf, " (deadlock)");
	held = pmp_wait_graph_held(graph, number, &count);
	for (size_t i = 0; i < count; i++) {
		pmp_buf_puts(buf, ", holds ");
		pmp_wait_object(buf, graph, held[i].waiter);
		pmp_buf_printf(buf, " (%zu wait%s)", held[i].count,
			       held[i].count == 1 ? "s" : "");
		add_moved_on(buf, &graph->nodes[held[i].waiter]);
	}
}

/* How its stack was obtained. */
static void add_how(struct pmp_buf *buf, const struct pmp_thread *thread)
{
	if (thread->obtained == PMP_STOPPED)
		pmp_buf_printf(buf, ", stopped %" PRIu64 ".%u us",
			       (uint64_t)(thread->stopped / PMP_US),
			       (unsigned)(thread->stopped % PMP_US / 100));
	else if (thread->obtained == PMP_PEEKED)
		pmp_buf_puts(buf, ", looked at");
	else if (thread->obtained == PMP_UNCHANGED)
		pmp_buf_puts(buf, ", unchanged");
}

/* ", seen 3 times", ", inuse_space 1.50MB" */
static void add_count(struct pmp_buf *buf, uint64_t count,
		      const struct pmp_sample_type *sample_type)
{
	char text[PMP_VALUE_SIZE];

	if (!*sample_type->type) {
		pmp_buf_printf(buf, ", seen %" PRIu64 " times", count);
		return;
	}
	pmp_buf_puts(buf, ", ");
	pmp_escape_buf(buf, sample_type->type, strlen(sample_type->type));
	pmp_buf_printf(buf, " %s",
		       pmp_format_value(count, sample_type->unit, text, sizeof(text)));
}

/* The thread that got the fatal signal. */
static void add_signal(struct pmp_buf *buf, const struct pmp_snapshot *snapshot,
		       const struct pmp_stack *stack)
{
	char text[16];
	const char *name;

	if (!snapshot || !snapshot->crash.tid || snapshot->crash.tid != stack->tid)
		return;
	name = pmp_signal_name(snapshot->crash.signal, text);
	pmp_buf_printf(buf, ", got %s", name ? name : "the signal");
}

/* The lines of a thread before its frames. */
static void add_thread(const struct raw *raw, size_t number,
		       const struct pmp_stack *stack)
{
	char state = stack->state >= '!' && stack->state <= '~' ? stack->state : '?';
	struct pmp_buf *buf = &raw->out->buf;

	pmp_buf_printf(buf, "Thread %zu (Thread 0x%" PRIx64 " (LWP %d)", number,
		       stack->found ? stack->found->tls : 0, (int)stack->tid);
	if (raw->options->raw_names) {
		pmp_buf_putc(buf, ' ');
		add_quoted(buf, stack->thread);
	}
	pmp_buf_printf(buf, "):\nState %c", state);
	if (*stack->syscall) {
		pmp_buf_puts(buf, ", system call ");
		pmp_escape_buf(buf, stack->syscall, strlen(stack->syscall));
	}
	if (*stack->wchan) {
		pmp_buf_puts(buf, ", wait channel ");
		pmp_escape_buf(buf, stack->wchan, strlen(stack->wchan));
	}
	if (stack->found)
		add_how(buf, stack->found);
	add_signal(buf, raw->report->snapshot, stack);
	pmp_buf_puts(buf, ", name ");
	add_quoted(buf, stack->thread);
	if (stack->row)
		add_waits(buf, &raw->graph, stack->row);
	else if (stack->count)
		add_count(buf, stack->count, &raw->report->metadata.sample_type);
	pmp_buf_putc(buf, '\n');
}

/* The part of a frame after its number and address. */
static void make_text(struct pmp_buf *buf, const struct pmp_frame *frame, const void *arg)
{
	static const struct pmp_name_style style = { 0 };
	const struct pmp_write_options *options = arg;

	pmp_name_frame(buf, frame, &style);
	if (options->lines && frame->file) {
		pmp_buf_puts(buf, " () at ");
		pmp_name_path(buf, frame->file);
		pmp_buf_printf(buf, ":%u", frame->line);
	} else {
		pmp_buf_puts(buf, " () from ");
		pmp_name_path(buf, frame->module);
	}
}

static void add_location(struct pmp_out *out, struct pmp_frame_texts *texts,
			 pmp_location location, uint64_t pc, size_t *number)
{
	struct pmp_buf *buf = &out->buf;
	struct pmp_frame_text text;

	if (!pmp_frame_texts_begin(texts, location, &text)) {
		pmp_buf_fail(buf);
		return;
	}
	while (pmp_frame_texts_next(&text)) {
		pmp_buf_printf(buf, "#%-2zu 0x%016" PRIx64 " in ", (*number)++, pc);
		pmp_buf_add(buf, text.line, text.length);
		pmp_buf_putc(buf, '\n');
	}
	pmp_out_maybe_flush(out);
}

/* The lines that end a thread. */
static void add_end(struct pmp_buf *buf, enum pmp_end end, const char *reason)
{
	if (end != PMP_END_ROOT) {
		pmp_buf_puts(buf, "Backtrace stopped: ");
		if (end == PMP_END_NOT_STOPPED || end == PMP_END_EVICTED ||
		    end == PMP_END_BETWEEN)
			pmp_name_end(buf, end, reason);
		else
			pmp_buf_puts(buf, pmp_end_text(end));
		pmp_buf_putc(buf, '\n');
	}
	pmp_buf_putc(buf, '\n');
}

static void add_stack(struct raw *raw, size_t thread_number,
		      const struct pmp_stack *stack)
{
	size_t number = 0;

	add_thread(raw, thread_number, stack);
	for (size_t i = 0; i < stack->location_count; i++)
		add_location(raw->out, &raw->texts, stack->locations[i],
			     pmp_stack_pc(raw->report, stack, i), &number);
	add_end(&raw->out->buf, stack->end, stack->reason);
}

/*
 * The main thread, which is Thread 1 and comes last: the one whose id is that of the
 * process. It need not be the lowest id, as ids wrap around. In a core it is the thread
 * that got the signal and comes first, as in gdb.
 */
static size_t find_main(const struct pmp_snapshot *snapshot)
{
	const pid_t first =
		snapshot->crash.tid ? snapshot->crash.tid : snapshot->info.pid;

	for (size_t i = 0; i < snapshot->row_count; i++)
		if (snapshot->rows[i].thread->tid == first)
			return i;
	return 0;
}

/* The stack that becomes Thread number. 2, 3, ... are the other rows in order. */
static size_t find_stack(const struct pmp_stacks *stacks, size_t first, size_t number)
{
	if (!stacks->report->snapshot)
		return stacks->found - number;
	return number == 1 ? first : number - 1 - (number - 1 <= first);
}

/* 0 or PMP_ENOMEM. */
static int make_graph(struct raw *raw)
{
	if (!raw->report->snapshot)
		return 0;
	return pmp_wait_graph_make(&raw->graph, raw->report) ||
			       pmp_wait_graph_find_held(&raw->graph)
		       ? PMP_ENOMEM
		       : 0;
}

/* A saved profile does not keep snapshots apart: each stack of a thread is shown once,
 * with its count. */
static void write_raw(struct pmp_out *out, const struct pmp_report *report,
		      const struct pmp_write_options *options)
{
	struct raw raw = { .out = out, .report = report, .options = options };
	struct pmp_stacks stacks;
	struct pmp_stack stack;
	size_t first = 0;
	bool is_core;

	raw.texts = (struct pmp_frame_texts){ .report = report,
					      .make = make_text,
					      .arg = options };
	if (pmp_stacks_make(&stacks, report, false) || make_graph(&raw)) {
		pmp_buf_fail(&out->buf);
		stacks.found = 0;
	} else if (report->snapshot) {
		add_separator(&out->buf, report->snapshot);
		first = find_main(report->snapshot);
	}
	is_core = report->snapshot && report->snapshot->crash.tid && stacks.found;
	for (size_t i = stacks.found; i > 0; i--) {
		/* 1, n, n - 1, ... 2 */
		size_t number = !is_core ? i : i == stacks.found ? 1 : i + 1;

		pmp_stacks_get(&stacks, find_stack(&stacks, first, number), &stack);
		add_stack(&raw, number, &stack);
	}
	pmp_stacks_free(&stacks);
	pmp_frame_texts_free(&raw.texts);
	pmp_wait_graph_free(&raw.graph);
}

const struct pmp_writer pmp_writer_raw = {
	.format = {
		.name = "raw",
		.help = "each snapshot as gdb prints `thread apply all bt`",
		.extension = "txt",
		.mime = "text/plain; charset=utf-8",
		.snapshots = true,
		.once = true,
	},
	.write = write_raw,
};
