/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of `perf script`: a sample of each thread in each snapshot.
 *
 *     conn-17  4100/4102 1236.195509:  100000000 wall:
 *             7f31c3a9612b __lll_lock_wait (/usr/lib/x86_64-linux-gnu/libc.so.6)
 *             55d0a81171df do_command (/usr/sbin/mariadbd)
 *
 * Its readers (stack collapsers, speedscope, Firefox Profiler) look for blanks and
 * parentheses: a thread's name is one word of two characters at least, names of
 * functions have braces for parentheses and U+2192 for "->", which would begin an
 * inlined function. An empty line ends a sample, the last one too.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "write/names.h"
#include "write/order.h"
#include "write/texts.h"
#include "write/writer.h"

#define EVENT_SIZE 32
#define ARROW "\xe2\x86\x92"

struct printer {
	struct pmp_out *out;
	struct pmp_texts texts;
	uint64_t period;
	char event[EVENT_SIZE];
};

static void add_command(struct pmp_buf *buf, const char *name)
{
	size_t start = buf->length;

	pmp_name_word(buf, name);
	if (buf->length == start + 1)
		pmp_buf_putc(buf, '_');
}

static void add_header(struct printer *printer, const char *name, pid_t pid, pid_t tid,
		       uint64_t time, uint64_t period)
{
	struct pmp_buf *buf = &printer->out->buf;

	add_command(buf, name);
	pmp_buf_printf(buf, " %d/%d %" PRIu64 ".%06u: %10" PRIu64 " %s: \n", (int)pid,
		       (int)tid, (uint64_t)(time / PMP_S),
		       (unsigned)(time % PMP_S / PMP_US), period, printer->event);
}

/* Spell what has been appended since start as one word for these readers. */
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

/* What follows the address. */
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
	struct pmp_text text;

	if (!pmp_texts_begin(&printer->texts, location, &text)) {
		buf->failed = true;
		return;
	}
	while (pmp_texts_next(&text)) {
		pmp_buf_printf(buf, "%20" PRIx64 " ", pc);
		pmp_buf_add(buf, text.line, text.length);
		pmp_buf_putc(buf, '\n');
	}
}

static void add_end(struct printer *printer, enum pmp_end end, const char *why,
		    bool empty)
{
	struct pmp_buf *buf = &printer->out->buf;

	if (end != PMP_END_ROOT || empty) {
		pmp_buf_printf(buf, "%20x ", 0);
		if (end != PMP_END_ROOT)
			pmp_name_end(buf, end, why);
		else
			pmp_buf_puts(buf, "[unknown]");
		pmp_buf_puts(buf, " ([unknown])\n");
	}
	pmp_buf_putc(buf, '\n');
	pmp_out_maybe_flush(printer->out);
}

static void write_round(struct printer *printer, const struct pmp_round *round)
{
	for (size_t i = 0; i < round->row_count; i++) {
		const struct pmp_row *row = &round->rows[i];
		const struct pmp_thread *thread = row->thread;

		add_header(printer, thread->name, round->info.pid, thread->tid,
			   round->info.time, printer->period);
		for (size_t j = 0; j < thread->frame_count; j++)
			add_location(printer, row->locations[j], row->raw[j].pc);
		add_end(printer, thread->end, thread->why, !thread->frame_count);
	}
}

/* A saved profile has no times: the stacks of a thread follow each other, each for
 * as long as it was seen. */
static void write_saved(struct printer *printer)
{
	size_t count = pmp_profile_entry_count(printer->texts.profile);
	const struct pmp_entry **entries;
	uint64_t time = 0;

	if (pmp_order_threads(printer->texts.profile, &entries)) {
		printer->out->buf.failed = true;
		return;
	}
	for (size_t i = 0; i < count; i++) {
		const struct pmp_entry *entry = entries[i];

		if (i && !pmp_order_same_thread(entry, entries[i - 1]))
			time = 0;
		add_header(printer, entry->thread, entry->pid, entry->tid, time,
			   entry->count * printer->period);
		for (size_t j = 0; j < entry->location_count; j++) {
			struct pmp_origin origin;

			pmp_profile_origin(printer->texts.profile, entry->locations[j], &origin);
			add_location(printer, entry->locations[j], origin.pc);
		}
		add_end(printer, entry->end, entry->why, !entry->location_count);
		time += entry->count * printer->period;
	}
	free(entries);
}

/* What is counted: time, unless a saved profile says otherwise. */
static void name_event(struct printer *printer, const struct pmp_measure *measure)
{
	snprintf(printer->event, sizeof(printer->event), "%s",
		 *measure->type ? measure->type : "wall");
	for (char *at = printer->event; *at; at++)
		if (!isalnum((unsigned char)*at))
			*at = '_';
	if (*measure->type)
		printer->period = 1;
}

static void write_perf(struct pmp_out *out, struct pmp_profile *profile,
		       const struct pmp_write_options *options)
{
	const struct pmp_round *round = pmp_profile_round(profile);
	struct printer printer = {
		.out = out,
		.texts = { .profile = profile, .make = make_text },
	};
	struct pmp_about about;

	(void)options;
	pmp_profile_about(profile, &about);
	printer.period = about.period ? about.period : 1;
	name_event(&printer, &about.measure);
	if (round)
		write_round(&printer, round);
	else
		write_saved(&printer);
	pmp_texts_free(&printer.texts);
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
