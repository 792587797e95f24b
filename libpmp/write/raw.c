/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One snapshot as text, spelled as gdb's `thread apply all bt` does, so that what
 * reads that reads this:
 *
 *     --- snapshot 3: mariadbd [4100], 71 threads, 2026-11-21T04:08:36.123Z, ... ---
 *
 *     Thread 2 (Thread 0x7f31c0ff96c0 (LWP 4102)):
 *     State S, system call futex, wait channel futex_do_wait, looked at, name "conn-17"
 *     #0  0x00007f31c3a9612b in __lll_lock_wait () from /usr/lib/libc.so.6
 *     #1  0x000055d0a81171e0 in do_command () at sql_parse.cc:1405
 *     Backtrace stopped: no unwind information
 *
 * The readers (t/0630-consumers.t) split lines at blanks and want an address in
 * each frame, names of one word, a place at the end, and an empty line after each
 * thread. Lines that begin with neither `Thread` nor `#` are passed over as long
 * as they do not stand between frames.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/syscalls.h"
#include "write/names.h"
#include "write/order.h"
#include "write/texts.h"
#include "write/writer.h"

static void add_time(struct pmp_buf *buf, uint64_t realtime)
{
	time_t seconds = realtime / PMP_S;
	char text[32] = "";
	struct tm tm;

	if (gmtime_r(&seconds, &tm))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	pmp_buf_printf(buf, "%s.%03uZ", text, (unsigned)(realtime % PMP_S / PMP_MS));
}

/* Not by %f, whose decimal point is a matter of the locale. */
static void add_milliseconds(struct pmp_buf *buf, uint64_t time)
{
	uint64_t microseconds = time / PMP_US + (time % PMP_US >= PMP_US / 2);

	pmp_buf_printf(buf, "%" PRIu64 ".%03u ms", microseconds / 1000,
		       (unsigned)(microseconds % 1000));
}

static void add_separator(struct pmp_buf *buf, const struct pmp_round *round)
{
	const struct pmp_sample_info *info = &round->info;

	pmp_buf_printf(buf, "--- snapshot %" PRIu64 ": ", round->number);
	pmp_escape_buf(buf, info->name, strlen(info->name));
	pmp_buf_printf(buf, " [%d], %zu", (int)info->pid, round->row_count);
	if (info->threads > round->row_count)
		pmp_buf_printf(buf, " of %zu", info->threads);
	pmp_buf_puts(buf, round->row_count == 1 ? " thread, " : " threads, ");
	if (info->vanished)
		pmp_buf_printf(buf, "%zu vanished, ", info->vanished);
	add_time(buf, info->realtime);
	pmp_buf_puts(buf, ", stopped ");
	add_milliseconds(buf, info->stopped);
	pmp_buf_puts(buf, ", longest ");
	add_milliseconds(buf, info->stopped_max);
	pmp_buf_printf(buf, "; %zu stopped, %zu looked at, %zu unchanged ---\n\n",
		       info->n_stopped, info->n_looked, info->n_unchanged);
}

/* A name in quotes; a quote in it does not end it. */
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

/* What is said of a thread before its frames. */
struct head {
	pid_t tid;
	uint64_t tls;
	char state;
	const char *syscall, *wchan, *name;
	uint64_t count;		/* how often it was seen; 0: this once */
	const struct pmp_thread *thread;	/* of this once; NULL: a saved profile's */
	struct pmp_measure measure;	/* of count */
};

/* How its stack was obtained. */
static void add_how(struct pmp_buf *buf, const struct pmp_thread *thread)
{
	if (thread && thread->obtained == PMP_STOPPED)
		pmp_buf_printf(buf, ", stopped %" PRIu64 ".%u us",
			       (uint64_t)(thread->stopped / PMP_US),
			       (unsigned)(thread->stopped % PMP_US / 100));
	else if (thread && thread->obtained == PMP_LOOKED)
		pmp_buf_puts(buf, ", looked at");
	else if (thread && thread->obtained == PMP_UNCHANGED)
		pmp_buf_puts(buf, ", unchanged");
}

/* ", inuse_space 1.50MB" */
static void add_amount(struct pmp_buf *buf, const struct head *head)
{
	char text[PMP_AMOUNT_SIZE];

	pmp_buf_puts(buf, ", ");
	pmp_escape_buf(buf, head->measure.type, strlen(head->measure.type));
	pmp_buf_printf(buf, " %s",
		       pmp_amount(head->count, head->measure.unit, text, sizeof(text)));
}

static void add_thread(struct pmp_buf *buf, size_t number, const struct head *head,
		       bool with_name)
{
	char state = head->state >= '!' && head->state <= '~' ? head->state : '?';

	pmp_buf_printf(buf, "Thread %zu (Thread 0x%" PRIx64 " (LWP %d)", number,
		       head->tls, (int)head->tid);
	if (with_name) {
		pmp_buf_putc(buf, ' ');
		add_quoted(buf, head->name);
	}
	pmp_buf_printf(buf, "):\nState %c", state);
	if (*head->syscall) {
		pmp_buf_puts(buf, ", system call ");
		pmp_escape_buf(buf, head->syscall, strlen(head->syscall));
	}
	if (*head->wchan) {
		pmp_buf_puts(buf, ", wait channel ");
		pmp_escape_buf(buf, head->wchan, strlen(head->wchan));
	}
	add_how(buf, head->thread);
	pmp_buf_puts(buf, ", name ");
	add_quoted(buf, head->name);
	if (head->count && *head->measure.type)
		add_amount(buf, head);
	else if (head->count)
		pmp_buf_printf(buf, ", seen %" PRIu64 " times", head->count);
	pmp_buf_putc(buf, '\n');
}

/* What follows the number and the address. */
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

static void add_location(struct pmp_out *out, struct pmp_texts *texts,
			 pmp_location location, uint64_t pc, size_t *number)
{
	struct pmp_buf *buf = &out->buf;
	struct pmp_text text;

	if (!pmp_texts_begin(texts, location, &text)) {
		buf->failed = true;
		return;
	}
	while (pmp_texts_next(&text)) {
		pmp_buf_printf(buf, "#%-2zu 0x%016" PRIx64 " in ", (*number)++, pc);
		pmp_buf_add(buf, text.line, text.length);
		pmp_buf_putc(buf, '\n');
	}
	pmp_out_maybe_flush(out);
}

/* What ends a thread. */
static void add_end(struct pmp_buf *buf, enum pmp_end end, const char *why)
{
	if (end != PMP_END_ROOT) {
		pmp_buf_puts(buf, "Backtrace stopped: ");
		if (end == PMP_END_NOT_STOPPED || end == PMP_END_EVICTED)
			pmp_name_end(buf, end, why);
		else
			pmp_buf_puts(buf, pmp_end_text(end));
		pmp_buf_putc(buf, '\n');
	}
	pmp_buf_putc(buf, '\n');
}

static void add_row(struct pmp_out *out, struct pmp_texts *texts, size_t thread_number,
		    const struct pmp_row *row, const struct pmp_write_options *options)
{
	const struct pmp_thread *thread = row->thread;
	const char *name = pmp_syscall_name(thread->syscall);
	struct head head = {
		.tid = thread->tid,
		.tls = thread->tls,
		.state = thread->state,
		.syscall = name ? name : "",
		.wchan = thread->wchan,
		.name = thread->name,
		.thread = thread,
	};
	char digits[16];
	size_t number = 0;

	if (thread->syscall >= 0 && !name) {
		snprintf(digits, sizeof(digits), "%d", thread->syscall);
		head.syscall = digits;
	}
	add_thread(&out->buf, thread_number, &head, options->raw_names);
	for (size_t i = 0; i < thread->frame_count; i++)
		add_location(out, texts, row->locations[i], row->raw[i].pc, &number);
	add_end(&out->buf, thread->end, thread->why);
}

/*
 * The first thread, which is Thread 1 and comes last: the one with the id of the
 * process. It need not be the lowest id, since ids start over one day.
 */
static size_t find_main(const struct pmp_round *round)
{
	for (size_t i = 0; i < round->row_count; i++)
		if (round->rows[i].thread->tid == round->info.pid)
			return i;
	return 0;
}

/* A saved profile: snapshots are not kept apart in it, so each stack of a thread is
 * shown once, with how often it was seen. */
static void write_saved(struct pmp_out *out, struct pmp_texts *texts,
			const struct pmp_write_options *options)
{
	struct pmp_profile *profile = texts->profile;
	size_t count = pmp_profile_entry_count(profile);
	const struct pmp_entry **entries;
	struct pmp_about about;

	if (pmp_order_entries(profile, &entries)) {
		out->buf.failed = true;
		return;
	}
	pmp_profile_about(profile, &about);
	for (size_t i = 0; i < count; i++) {
		const struct pmp_entry *entry = entries[i];
		const struct head head = { entry->tid, 0, entry->state, entry->syscall,
					   entry->wchan, entry->thread, entry->count,
					   NULL, about.measure };
		size_t number = 0;

		add_thread(&out->buf, count - i, &head, options->raw_names);
		for (size_t j = 0; j < entry->location_count; j++) {
			struct pmp_origin origin;

			pmp_profile_origin(profile, entry->locations[j], &origin);
			add_location(out, texts, entry->locations[j], origin.pc,
				     &number);
		}
		add_end(&out->buf, entry->end, entry->why);
	}
	free(entries);
}

static void write_round(struct pmp_out *out, struct pmp_texts *texts,
			const struct pmp_round *round,
			const struct pmp_write_options *options)
{
	size_t first;

	add_separator(&out->buf, round);
	first = find_main(round);
	for (size_t number = round->row_count; number > 0; number--) {
		/* The rows but the first, in order, are 2, 3, ... */
		size_t i = number == 1 ? first : number - 1 - (number - 1 <= first);

		add_row(out, texts, number, &round->rows[i], options);
	}
}

static void write_raw(struct pmp_out *out, struct pmp_profile *profile,
		      const struct pmp_write_options *options)
{
	const struct pmp_round *round = pmp_profile_round(profile);
	struct pmp_texts texts = { .profile = profile, .make = make_text, .arg = options };

	if (round)
		write_round(out, &texts, round, options);
	else
		write_saved(out, &texts, options);
	pmp_texts_free(&texts);
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
