/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For programs: one line per snapshot, a JSON object (split here for reading).
 *
 *     {"snapshot":3,"pid":4100,"process":"mariadbd","time_ns":1795234116123456789,
 *      "stopped_ns":213000,"vanished":0,"deadlocks":[[4102,4103]],"threads":[
 *       {"tid":4102,"name":"conn-17","state":"S","syscall":"futex","wchan":"futex_do_wait",
 *        "how":"stopped","stopped_ns":9000,"frames":[
 *         {"pc":"0x7f31c3a9612b","function":"__lll_lock_wait","module":"/usr/lib/libc.so.6"},
 *         {"pc":"0x55d0a81171e0","function":"do_command(THD*)","module":"...",
 *          "file":"sql_parse.cc","line":1405}]}]}
 *
 * Unknown values are left out. A saved profile is one line, whose threads have "count",
 * "cpu_ns" and "wall_ns". Addresses are strings, as JSON numbers are exact to 53 bits
 * only.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "crash.h"
#include "base/escape.h"
#include "write/names.h"
#include "report/stacks.h"
#include "report/wait-graph.h"
#include "write/frame-texts.h"
#include "write/outside-names.h"
#include "write/wait-names.h"
#include "write/writer.h"

/* ,"name":"text" */
static void add_text(struct pmp_buf *buf, const char *name, const char *text)
{
	pmp_buf_printf(buf, ",\"%s\":\"", name);
	pmp_escape_json(buf, text, strlen(text));
	pmp_buf_putc(buf, '"');
}

static void add_known(struct pmp_buf *buf, const char *name, const char *text)
{
	if (*text)
		add_text(buf, name, text);
}

static void add_number(struct pmp_buf *buf, const char *name, uint64_t number)
{
	pmp_buf_printf(buf, ",\"%s\":%" PRIu64, name, number);
}

static void add_state(struct pmp_buf *buf, char state)
{
	char text[2] = { state, '\0' };

	add_text(buf, "state", text);
}

/* The part of a frame after its address. */
static void make_text(struct pmp_buf *buf, const struct pmp_frame *frame, const void *arg)
{
	(void)arg;
	add_text(buf, "function", frame->function);
	add_text(buf, "module", frame->module);
	if (frame->file)
		add_text(buf, "file", frame->file);
	if (frame->line)
		add_number(buf, "line", frame->line);
	if (frame->inlined)
		pmp_buf_puts(buf, ",\"inlined\":true");
	if (frame->unnamed)
		pmp_buf_puts(buf, ",\"unnamed\":true");
	pmp_buf_putc(buf, '}');
}

/* first: no comma before it. */
static void add_location(struct pmp_out *out, struct pmp_frame_texts *texts,
			 pmp_location location, uint64_t pc, bool first)
{
	struct pmp_buf *buf = &out->buf;
	struct pmp_frame_text text;

	if (!pmp_frame_texts_begin(texts, location, &text)) {
		pmp_buf_fail(buf);
		return;
	}
	for (; pmp_frame_texts_next(&text); first = false) {
		pmp_buf_printf(buf,
			       first ? "{\"pc\":\"0x%" PRIx64 "\""
				     : ",{\"pc\":\"0x%" PRIx64 "\"",
			       pc);
		pmp_buf_add(buf, text.line, text.length);
	}
	pmp_out_maybe_flush(out);
}

/* ,"end":"[truncated: ...]" unless the stack is complete */
static void add_end(struct pmp_buf *buf, enum pmp_end end, const char *reason)
{
	struct pmp_buf text = { 0 };

	pmp_name_end(&text, end, reason);
	if (text.length)
		add_text(buf, "end", text.data);
	buf->failed |= text.failed;
	pmp_buf_free(&text);
}

/* ,"core":{"signal":11,"signal_name":"SIGSEGV","code":1,...} */
static void add_crash(struct pmp_buf *buf, const struct pmp_crash *crash)
{
	const char *code = pmp_signal_code_name(crash->signal, crash->code);
	char text[16];
	const char *name = pmp_signal_name(crash->signal, text);

	pmp_buf_printf(buf, ",\"core\":{\"signal\":%d", crash->signal);
	if (crash->signal) {
		add_known(buf, "signal_name", name ? name : "");
		pmp_buf_printf(buf, ",\"code\":%d", crash->code);
		add_known(buf, "code_name", code ? code : "");
	}
	if (crash->tid)
		add_number(buf, "tid", (uint64_t)crash->tid);
	if (crash->sender)
		add_number(buf, "sender", (uint64_t)crash->sender);
	if (crash->has_address)
		pmp_buf_printf(buf, ",\"address\":\"0x%" PRIx64 "\"", crash->address);
	add_known(buf, "arguments", crash->args);
	pmp_buf_putc(buf, '}');
}

static const char *how(enum pmp_obtained obtained)
{
	switch (obtained) {
	case PMP_STOPPED: return "stopped";
	case PMP_PEEKED: return "looked";
	case PMP_UNCHANGED: return "unchanged";
	case PMP_NOT_STOPPED: return "not stopped";
	case PMP_OBTAINED_UNKNOWN: break;
	}
	return "?";
}

static void add_counts(struct pmp_buf *buf, const struct pmp_stack *stack)
{
	add_number(buf, "count", stack->count);
	add_number(buf, "cpu_ns", stack->cpu);
	add_number(buf, "wall_ns", stack->wall);
}

static void add_address(struct pmp_buf *buf, const char *name, uint64_t address)
{
	pmp_buf_printf(buf, ",\"%s\":\"0x%" PRIx64 "\"", name, address);
}

static void add_flag(struct pmp_buf *buf, const char *name, bool set)
{
	if (set)
		pmp_buf_printf(buf, ",\"%s\":true", name);
}

/* ,"name":"LOCK_log+0x10" or ,"place":"in the heap" */
static void add_object(struct pmp_buf *buf, const struct pmp_report *report,
		       const struct pmp_row *row, const struct pmp_named_wait *named)
{
	struct pmp_object object;
	struct pmp_buf text = { 0 };

	if (!pmp_report_named_object(report, row, named, &object))
		return;
	if (pmp_object_name(&object, &text))
		add_text(buf, "name", text.data ? text.data : "");
	else
		pmp_object_place(&object, &text);
	if (!object.symbol && text.length)
		add_text(buf, "place", text.data);
	buf->failed |= text.failed;
	pmp_buf_free(&text);
}

/* What identifies the object among others of its type. */
static void add_outside_number(struct pmp_buf *buf, const struct pmp_wait *wait,
			       const struct pmp_outside *what)
{
	switch (wait->kind) {
	case PMP_WAIT_SEMOP: add_number(buf, "set", wait->object); break;
	case PMP_WAIT_CHILD:
		if (wait->object)
			add_number(buf, "pid", wait->object);
		break;
	case PMP_WAIT_FILE:
	case PMP_WAIT_PIPE:
	case PMP_WAIT_SOCKET:
	case PMP_WAIT_IO: add_number(buf, "inode", wait->object); break;
	case PMP_WAIT_QUEUE:
		add_number(buf,
			   what && what->type == PMP_OUTSIDE_SYSTEM_V_QUEUE ? "id"
									    : "inode",
			   wait->object);
		break;
	default: break;
	}
}

/* ,"type":"flock","inode":5243021,"path":"/tmp/zoo.lock","held":"write" */
static void add_outside(struct pmp_buf *buf, const struct pmp_report *report,
			const struct pmp_wait *wait)
{
	const struct pmp_outside *what = pmp_snapshot_outside(report->snapshot, wait);

	add_known(buf, "type", what ? pmp_outside_type_name(what) : "");
	add_outside_number(buf, wait, what);
	if (!what)
		return;
	if (wait->kind == PMP_WAIT_SEMOP)
		add_number(buf, "number", what->number);
	add_known(buf, what->type == PMP_OUTSIDE_TCP ? "address" : "path", what->text);
	if (what->fd >= 0)
		add_number(buf, "fd", (uint64_t)what->fd);
	if (what->watched)
		add_number(buf, "descriptors", what->watched);
	if (what->sleep)
		add_number(buf, "sleep_ns", what->sleep);
	add_flag(buf, "listens", what->listens);
	if (wait->kind != PMP_WAIT_FILE || !what->sure)
		return;
	add_text(buf, "held", what->write ? "write" : "read");
	add_number(buf, "first", what->first);
	if (what->last != UINT64_MAX)
		add_number(buf, "last", what->last);
}

static const char *sure_of(const struct pmp_report *report, const struct pmp_wait *wait)
{
	const struct pmp_outside *what = pmp_snapshot_outside(report->snapshot, wait);

	if (what)
		return pmp_sure_name(what);
	return wait->holder_is || wait->count ? "exact" : "unknown";
}

/* ,"peers":[{"pid":6330,"name":"producer","what":"can write","fd":4}] */
static void add_others(struct pmp_buf *buf, const struct pmp_report *report,
		       const struct pmp_wait *wait)
{
	const struct pmp_outside *what = pmp_snapshot_outside(report->snapshot, wait);

	if (!what || !what->shown)
		return;
	pmp_buf_puts(buf, ",\"peers\":[");
	for (uint32_t i = 0; i < what->shown; i++) {
		const struct pmp_other *other =
			&report->snapshot->others[what->other + i];

		pmp_buf_printf(buf, "%s{\"pid\":%d", i ? "," : "", (int)other->pid);
		if (other->tid)
			add_number(buf, "tid", (uint64_t)other->tid);
		add_text(buf, "name", other->name);
		add_text(buf, "what", pmp_role_name(other));
		if (other->fd >= 0)
			add_number(buf, "fd", (uint64_t)other->fd);
		pmp_buf_putc(buf, '}');
	}
	pmp_buf_putc(buf, ']');
	if (what->count > what->shown)
		add_number(buf, "more_peers", what->count - what->shown);
}

static uint64_t asleep_ns(const struct pmp_snapshot *snapshot, const struct pmp_row *row)
{
	uint64_t now = snapshot->info.time + snapshot->info.duration;

	return row->thread->asleep_since < now ? now - row->thread->asleep_since : 0;
}

/* From several snapshots: ,"waits_ns":12000000000,"taken_by":4131,"taken_ns":3200000000 */
static void add_inferred(struct pmp_buf *buf, const struct pmp_snapshot *snapshot,
			 const struct pmp_row *row, const struct pmp_named_wait *named)
{
	uint64_t found = pmp_named_found_for(snapshot, row, named), time;
	pid_t taker = pmp_named_taker(snapshot, row, named, &time);

	if (found && (!row->thread->asleep_since || found > asleep_ns(snapshot, row)))
		add_number(buf, "waits_ns", found);
	if (!taker)
		return;
	add_number(buf, "taken_by", (uint64_t)taker);
	add_number(buf, "taken_ns", time);
}

/* ,"arrived":3,"of":4 for a barrier; ,"value":0 for a semaphore */
static void add_said(struct pmp_buf *buf, const struct pmp_said *said)
{
	switch (said->what) {
	case PMP_SAYS_WRITER: add_text(buf, "held", "write"); break;
	case PMP_SAYS_ARRIVED:
		add_number(buf, "arrived", said->count);
		add_number(buf, "of", said->of);
		break;
	case PMP_SAYS_VALUE: add_number(buf, "value", said->count); break;
	default: break;
	}
}

/* ,"wait":{"kind":"mutex","object":"0x7f31b8001a40","holder":4131,"sure":"exact"} */
static void add_wait(struct pmp_buf *buf, const struct pmp_report *report,
		     const struct pmp_row *row)
{
	struct pmp_named_wait named;
	const struct pmp_wait *wait = &named.wait;

	pmp_report_name_row(report, row, &named);
	if (!*named.kind)
		return;
	pmp_buf_printf(buf, ",\"wait\":{\"kind\":\"%s\"", named.kind);
	if (named.meaning)
		add_text(buf, "meaning", named.meaning);
	if (named.ask)
		add_text(buf, "ask", named.ask);
	if (named.else_see)
		add_text(buf, "else_see", named.else_see);
	add_flag(buf, "lock", named.lock);
	if (pmp_wait_is_outside(wait->kind)) {
		add_outside(buf, report, wait);
	} else {
		if (wait->object)
			add_address(buf, "object", wait->object);
		add_object(buf, report, row, &named);
	}
	if (wait->mutex)
		add_address(buf, "mutex", wait->mutex);
	if (wait->holder)
		add_number(buf, "holder", (uint64_t)wait->holder);
	add_known(buf, "holder_is", pmp_wait_holder_name(wait));
	if (!pmp_wait_is_outside(wait->kind) || pmp_wait_has_peers(wait->kind))
		add_text(buf, "sure",
			 named.inferred ? "inferred" : sure_of(report, wait));
	add_others(buf, report, wait);
	if (wait->count)
		add_number(buf, "readers", wait->count);
	add_said(buf, &named.said);
	add_inferred(buf, report->snapshot, row, &named);
	if (row->thread->asleep_since)
		add_number(buf, "asleep_ns", asleep_ns(report->snapshot, row));
	add_flag(buf, "write", named.write);
	add_flag(buf, "next", wait->flags & PMP_WAIT_NEXT);
	add_flag(buf, "queued", wait->flags & PMP_WAIT_QUEUED);
	add_flag(buf, "timed", wait->flags & PMP_WAIT_TIMED);
	add_flag(buf, "moved_on", wait->flags & PMP_WAIT_MOVED_ON);
	add_flag(buf, "owner_died", wait->flags & PMP_WAIT_OWNER_DIED);
	add_flag(buf, "deadlock", wait->flags & PMP_WAIT_DEADLOCK);
	pmp_buf_putc(buf, '}');
}

static void add_found(struct pmp_buf *buf, const struct pmp_report *report,
		      const struct pmp_row *row)
{
	const struct pmp_thread *thread = row->thread;

	add_text(buf, "how", how(thread->obtained));
	add_number(buf, "stopped_ns", thread->stopped);
	if (thread->cpu)
		add_number(buf, "cpu_so_far_ns", thread->cpu);
	add_wait(buf, report, row);
}

static void add_stack(struct pmp_out *out, struct pmp_frame_texts *texts,
		      const struct pmp_stack *stack)
{
	struct pmp_buf *buf = &out->buf;

	pmp_buf_printf(buf, "{\"tid\":%d", (int)stack->tid);
	add_text(buf, "name", stack->thread);
	if (!stack->found) {
		add_number(buf, "pid", (uint64_t)stack->pid);
		add_text(buf, "process", stack->process);
	}
	add_state(buf, stack->state);
	add_known(buf, "syscall", stack->syscall);
	add_known(buf, "wchan", stack->wchan);
	if (stack->found)
		add_found(buf, texts->report, stack->row);
	else
		add_counts(buf, stack);
	add_end(buf, stack->end, stack->reason);
	pmp_buf_puts(buf, ",\"frames\":[");
	for (size_t i = 0; i < stack->location_count; i++)
		add_location(out, texts, stack->locations[i],
			     pmp_stack_pc(texts->report, stack, i), i == 0);
	pmp_buf_puts(buf, "]}");
}

/* [4102,4103]: each waits for the next one. */
static void add_deadlock(struct pmp_buf *buf, const struct pmp_wait_graph *graph,
			 size_t node, size_t count)
{
	const struct pmp_row *rows = graph->report->snapshot->rows;

	for (size_t i = 0; i < count; i++) {
		pmp_buf_printf(buf, i ? ",%d" : "[%d", (int)rows[node].thread->tid);
		node = graph->nodes[node].holder;
	}
	pmp_buf_putc(buf, ']');
}

/* ,"deadlocks":[[4102,4103]] */
static void add_deadlocks(struct pmp_buf *buf, const struct pmp_report *report)
{
	struct pmp_wait_graph graph;
	bool any = false;

	if (pmp_wait_graph_make(&graph, report))
		pmp_buf_fail(buf);
	for (size_t i = 0; i < graph.count && graph.deadlocked; i++) {
		size_t count = pmp_wait_graph_circle(&graph, i);

		if (!count)
			continue;
		pmp_buf_puts(buf, any ? "," : ",\"deadlocks\":[");
		add_deadlock(buf, &graph, i, count);
		any = true;
	}
	if (any)
		pmp_buf_putc(buf, ']');
	pmp_wait_graph_free(&graph);
}

static void begin_snapshot(struct pmp_buf *buf, const struct pmp_snapshot *snapshot)
{
	pmp_buf_printf(buf, "{\"snapshot\":%" PRIu64 ",\"pid\":%d", snapshot->number,
		       (int)snapshot->info.pid);
	add_text(buf, "process", snapshot->info.name);
	add_number(buf, "time_ns", snapshot->info.realtime);
	add_number(buf, "stopped_ns", snapshot->info.stopped);
	add_number(buf, "longest_ns", snapshot->info.stopped_max);
	add_number(buf, "vanished", snapshot->info.vanished);
	if (snapshot->crash.is)
		add_crash(buf, &snapshot->crash);
	if (snapshot->hidden)
		add_number(buf, "hidden", snapshot->hidden);
	if (snapshot->info.threads > snapshot->row_count)
		add_number(buf, "filtered", snapshot->info.threads - snapshot->row_count);
}

static void begin_saved(struct pmp_buf *buf, const struct pmp_report *report)
{
	const struct pmp_profile_info *info = &report->totals;
	const struct pmp_metadata *metadata = &report->metadata;

	pmp_buf_putc(buf, '{');
	if (!metadata->guessed)
		pmp_buf_printf(buf, "\"snapshots\":%" PRIu64 ",",
			       (uint64_t)info->samples);
	pmp_buf_printf(buf, "\"time_ns\":%" PRIu64, metadata->realtime);
	add_number(buf, "duration_ns", metadata->duration);
	add_number(buf, "stopped_ns", info->stopped);
	add_number(buf, "longest_ns", info->stopped_max);
	add_number(buf, "vanished", info->vanished);
	add_known(buf, "type", metadata->sample_type.type);
	add_known(buf, "unit", metadata->sample_type.unit);
}

/* ,"recorded":[{"pid":4100,"process":"mariadbd",...}]: the totals to compare counts with.
 * Bytes are usable bytes; in_stacks: calls and bytes counted in stacks. */
static void add_recorded(struct pmp_buf *buf, const struct pmp_report *report)
{
	pmp_buf_puts(buf, ",\"recorded\":[");
	for (size_t i = 0; i < report->process_count; i++) {
		const struct pmp_process_heap *process = &report->processes[i];
		const struct pmp_heap_totals *totals = &process->totals;

		pmp_buf_printf(buf, "%s{\"pid\":%d", i ? "," : "", (int)process->pid);
		add_text(buf, "process", process->name);
		add_number(buf, "rate", totals->rate);
		add_number(buf, "calls", pmp_process_heap_calls(process));
		add_number(buf, "allocated",
			   process->earlier_allocated + totals->allocated);
		add_number(buf, "live", totals->live);
		add_number(buf, "peak", totals->peak);
		add_number(buf, "calls_in_stacks", process->recorded);
		add_number(buf, "bytes_in_stacks", process->recorded_bytes);
		add_number(buf, "records_missing", pmp_process_heap_missing(process));
		pmp_buf_putc(buf, '}');
	}
	pmp_buf_putc(buf, ']');
}

static void write_json(struct pmp_out *out, const struct pmp_report *report,
		       const struct pmp_write_options *options)
{
	struct pmp_frame_texts texts = { .report = report, .make = make_text };
	struct pmp_stacks stacks;
	struct pmp_stack stack;

	(void)options;
	if (pmp_stacks_make(&stacks, report, false)) {
		pmp_buf_fail(&out->buf);
		return;
	}
	if (report->snapshot) {
		begin_snapshot(&out->buf, report->snapshot);
		add_deadlocks(&out->buf, report);
	} else {
		begin_saved(&out->buf, report);
	}
	if (!report->snapshot && report->process_count)
		add_recorded(&out->buf, report);
	pmp_buf_puts(&out->buf, ",\"threads\":[");
	for (size_t i = 0; i < stacks.count; i++) {
		if (i)
			pmp_buf_putc(&out->buf, ',');
		pmp_stacks_get(&stacks, i, &stack);
		add_stack(out, &texts, &stack);
	}
	pmp_buf_puts(&out->buf, "]}\n");
	pmp_stacks_free(&stacks);
	pmp_frame_texts_free(&texts);
}

const struct pmp_writer pmp_writer_json = {
	.format = {
		.name = "json",
		.help = "a line of JSON for each snapshot; for programs",
		.extension = "json",
		.mime = "application/x-ndjson",
		.snapshots = true,
		.asleep = true,
	},
	.write = write_json,
};
