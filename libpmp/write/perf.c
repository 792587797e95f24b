/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of `perf script`: a sample of each thread per snapshot.
 *
 *     conn-17  4100/4102 1236.195509:  100000000 wall:
 *             7f31c3a9612b __lll_lock_wait (/usr/lib/x86_64-linux-gnu/libc.so.6)
 *             55d0a81171df do_command (/usr/sbin/mariadbd)
 *
 * Readers (stack collapsers, speedscope, Firefox Profiler) parse blanks and parentheses.
 * So a thread's name is one word of at least two characters; function names have braces
 * instead of parentheses, and U+2192 instead of "->", which would begin an inlined
 * function. An empty line ends each sample, including the last.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "write/names.h"
#include "report/stacks.h"
#include "write/frame-texts.h"
#include "write/writer.h"

#define EVENT_SIZE 32
#define ARROW "\xe2\x86\x92"

struct printer {
	struct pmp_out *out;
	struct pmp_frame_texts texts;
	uint64_t period; /* of a sample */
	bool timed;	 /* periods differ: each stack has its own time */
	char event[EVENT_SIZE];
};

static void add_command(struct pmp_buf *buf, const char *name)
{
	size_t start = buf->length;

	pmp_name_word(buf, name);
	if (buf->length == start + 1)
		pmp_buf_putc(buf, '_');
}

static uint64_t time_of(const struct printer *printer, const struct pmp_stack *stack)
{
	return printer->timed ? stack->wall : stack->count * printer->period;
}

static void add_header(struct printer *printer, const struct pmp_stack *stack,
		       uint64_t time)
{
	struct pmp_buf *buf = &printer->out->buf;

	add_command(buf, stack->thread);
	pmp_buf_printf(buf, " %d/%d %" PRIu64 ".%06u: %10" PRIu64 " %s: \n",
		       (int)stack->pid, (int)stack->tid, (uint64_t)(time / PMP_S),
		       (unsigned)(time % PMP_S / PMP_US), time_of(printer, stack),
		       printer->event);
}

/* Respell what was appended since start as one word for these readers. */
static void spell(struct pmp_buf *buf, size_t start)
{
	struct pmp_buf name = { 0 };

	if (pmp_buf_failed(buf))
		return;
	pmp_buf_add(&name, buf->data + start, buf->length - start);
	buf->length = start;
	for (size_t i = 0; i < name.length; i++) {
		char c = name.data[i];

		if (c == '-' && i + 1 < name.length && name.data[i + 1] == '>') {
			pmp_buf_puts(buf, ARROW);
			i++;
		} else {
			pmp_buf_putc(buf, c == '(' ? '{' : c == ')' ? '}' : c);
		}
	}
	buf->failed |= name.failed;
	pmp_buf_free(&name);
}

/* The part of a frame after its address. */
static void make_text(struct pmp_buf *buf, const struct pmp_frame *frame, const void *arg)
{
	static const struct pmp_name_style style = { 0 };
	size_t start = buf->length;

	(void)arg;
	pmp_name_frame(buf, frame, &style);
	spell(buf, start);
	pmp_buf_puts(buf, " (");
	start = buf->length;
	pmp_name_path(buf, frame->module);
	spell(buf, start);
	pmp_buf_putc(buf, ')');
}

static void add_location(struct printer *printer, pmp_location location, uint64_t pc)
{
	struct pmp_buf *buf = &printer->out->buf;
	struct pmp_frame_text text;

	if (!pmp_frame_texts_begin(&printer->texts, location, &text)) {
		pmp_buf_fail(buf);
		return;
	}
	while (pmp_frame_texts_next(&text)) {
		pmp_buf_printf(buf, "%20" PRIx64 " ", pc);
		pmp_buf_add(buf, text.line, text.length);
		pmp_buf_putc(buf, '\n');
	}
}

static void add_end(struct printer *printer, const struct pmp_stack *stack)
{
	struct pmp_buf *buf = &printer->out->buf;

	if (stack->end != PMP_END_ROOT || !stack->location_count) {
		pmp_buf_printf(buf, "%20x ", 0);
		if (stack->end != PMP_END_ROOT)
			pmp_name_end(buf, stack->end, stack->reason);
		else
			pmp_buf_puts(buf, "[unknown]");
		pmp_buf_puts(buf, " ([unknown])\n");
	}
	pmp_buf_putc(buf, '\n');
	pmp_out_maybe_flush(printer->out);
}

static bool is_same_thread(const struct pmp_stack *one, const struct pmp_stack *other)
{
	return one->pid == other->pid && one->tid == other->tid &&
	       !strcmp(one->process, other->process) &&
	       !strcmp(one->thread, other->thread);
}

/* A saved profile has no times: the stacks of a thread follow each other, each for the
 * time that its samples stand for. */
static void add_stacks(struct printer *printer, const struct pmp_stacks *stacks)
{
	const struct pmp_snapshot *snapshot = stacks->report->snapshot;
	struct pmp_stack all[2];
	uint64_t time = 0;

	for (size_t i = 0; i < stacks->count; i++) {
		struct pmp_stack *stack = &all[i % 2], *last = &all[(i + 1) % 2];

		pmp_stacks_get(stacks, i, stack);
		if (!stack->count)
			continue;
		if (snapshot)
			time = snapshot->info.time;
		else if (i && !is_same_thread(stack, last))
			time = 0;
		add_header(printer, stack, time);
		for (size_t j = 0; j < stack->location_count; j++)
			add_location(printer, stack->locations[j],
				     pmp_stack_pc(stacks->report, stack, j));
		add_end(printer, stack);
		time += time_of(printer, stack);
	}
}

/* The event is time, unless a saved profile has another type. */
static void name_event(struct printer *printer, const struct pmp_sample_type *sample_type)
{
	snprintf(printer->event, sizeof(printer->event), "%s",
		 *sample_type->type ? sample_type->type : "wall");
	for (char *at = printer->event; *at; at++)
		if (!isalnum((unsigned char)*at))
			*at = '_';
	if (*sample_type->type)
		printer->period = 1;
}

/* Are there only the times of stacks, and no period? */
static bool has_times_only(const struct pmp_report *report)
{
	const struct pmp_metadata *metadata = &report->metadata;
	bool timed = false;

	if (report->snapshot || metadata->period || *metadata->sample_type.type)
		return false;
	for (size_t i = 0; i < report->entry_count && !timed; i++)
		timed = report->entries[i].wall != 0;
	return timed;
}

static void write_perf(struct pmp_out *out, const struct pmp_report *report,
		       const struct pmp_write_options *options)
{
	struct printer printer = {
		.out = out,
		.texts = { .report = report, .make = make_text },
		.period = report->metadata.period ? report->metadata.period : 1,
		.timed = has_times_only(report),
	};
	struct pmp_stacks stacks;

	(void)options;
	name_event(&printer, &report->metadata.sample_type);
	if (pmp_stacks_make(&stacks, report, true)) {
		pmp_buf_fail(&out->buf);
		return;
	}
	add_stacks(&printer, &stacks);
	pmp_stacks_free(&stacks);
	pmp_frame_texts_free(&printer.texts);
}

const struct pmp_writer pmp_writer_perf = {
	.format = {
		.name = "perf",
		.help = "text of perf script, also for Firefox Profiler",
		.extension = "perf",
		.mime = "text/plain; charset=utf-8",
		.snapshots = true,
	},
	.write = write_perf,
};
