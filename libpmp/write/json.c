/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For programs: one object of JSON a line and snapshot (here on several lines).
 *
 *     {"snapshot":3,"pid":4100,"process":"mariadbd","time_ns":1795234116123456789,
 *      "stopped_ns":213000,"vanished":0,"threads":[
 *       {"tid":4102,"name":"conn-17","state":"S","syscall":"futex","wchan":"futex_do_wait",
 *        "how":"stopped","stopped_ns":9000,"frames":[
 *         {"pc":"0x7f31c3a9612b","function":"__lll_lock_wait","module":"/usr/lib/libc.so.6"},
 *         {"pc":"0x55d0a81171e0","function":"do_command(THD*)","module":"...",
 *          "file":"sql_parse.cc","line":1405}]}]}
 *
 * What is not known is left out. A saved profile is one line, whose threads have
 * "count", "cpu_ns" and "wall_ns". Addresses are text, as numbers in JSON have 53 bits.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/syscalls.h"
#include "write/names.h"
#include "write/order.h"
#include "write/texts.h"
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

/* What follows the address. */
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

/* first: nothing stands before it. */
static void add_location(struct pmp_out *out, struct pmp_texts *texts,
			 pmp_location location, uint64_t pc, bool first)
{
	struct pmp_buf *buf = &out->buf;
	struct pmp_text text;

	if (!pmp_texts_begin(texts, location, &text)) {
		buf->failed = true;
		return;
	}
	for (; pmp_texts_next(&text); first = false) {
		pmp_buf_printf(buf, first ? "{\"pc\":\"0x%" PRIx64 "\""
					  : ",{\"pc\":\"0x%" PRIx64 "\"", pc);
		pmp_buf_add(buf, text.line, text.length);
	}
	pmp_out_maybe_flush(out);
}

/* ,"end":"[truncated: ...]" unless the stack is complete */
static void add_end(struct pmp_buf *buf, enum pmp_end end, const char *why)
{
	struct pmp_buf text = { 0 };

	pmp_name_end(&text, end, why);
	if (text.length)
		add_text(buf, "end", text.data);
	buf->failed |= text.failed;
	pmp_buf_free(&text);
}

static const char *how(enum pmp_obtained obtained)
{
	switch (obtained) {
	case PMP_STOPPED: return "stopped";
	case PMP_LOOKED: return "looked";
	case PMP_UNCHANGED: return "unchanged";
	case PMP_NOT_STOPPED: return "not stopped";
	}
	return "?";
}

static void add_row(struct pmp_out *out, struct pmp_texts *texts,
		    const struct pmp_row *row)
{
	const struct pmp_thread *thread = row->thread;
	const char *syscall = pmp_syscall_name(thread->syscall);
	struct pmp_buf *buf = &out->buf;

	pmp_buf_printf(buf, "{\"tid\":%d", (int)thread->tid);
	add_text(buf, "name", thread->name);
	add_state(buf, thread->state);
	if (syscall)
		add_text(buf, "syscall", syscall);
	else if (thread->syscall >= 0)
		pmp_buf_printf(buf, ",\"syscall\":\"%d\"", thread->syscall);
	add_known(buf, "wchan", thread->wchan);
	add_text(buf, "how", how(thread->obtained));
	add_number(buf, "stopped_ns", thread->stopped);
	if (thread->cpu)
		add_number(buf, "cpu_so_far_ns", thread->cpu);
	add_end(buf, thread->end, thread->why);
	pmp_buf_puts(buf, ",\"frames\":[");
	for (size_t i = 0; i < thread->frame_count; i++)
		add_location(out, texts, row->locations[i], row->raw[i].pc, i == 0);
	pmp_buf_puts(&out->buf, "]}");
}

static void write_round(struct pmp_out *out, struct pmp_texts *texts,
			const struct pmp_round *round)
{
	struct pmp_buf *buf = &out->buf;

	pmp_buf_printf(buf, "{\"snapshot\":%" PRIu64 ",\"pid\":%d", round->number,
		       (int)round->info.pid);
	add_text(buf, "process", round->info.name);
	add_number(buf, "time_ns", round->info.realtime);
	add_number(buf, "stopped_ns", round->info.stopped);
	add_number(buf, "longest_ns", round->info.stopped_max);
	add_number(buf, "vanished", round->info.vanished);
	if (round->info.threads > round->row_count)
		add_number(buf, "filtered", round->info.threads - round->row_count);
	pmp_buf_puts(buf, ",\"threads\":[");
	for (size_t i = 0; i < round->row_count; i++) {
		if (i)
			pmp_buf_putc(buf, ',');
		add_row(out, texts, &round->rows[i]);
	}
	pmp_buf_puts(buf, "]}\n");
}

static void add_entry(struct pmp_out *out, struct pmp_texts *texts,
		      const struct pmp_entry *entry)
{
	struct pmp_buf *buf = &out->buf;

	pmp_buf_printf(buf, "{\"tid\":%d", (int)entry->tid);
	add_text(buf, "name", entry->thread);
	add_number(buf, "pid", (uint64_t)entry->pid);
	add_text(buf, "process", entry->process);
	add_state(buf, entry->state);
	add_known(buf, "syscall", entry->syscall);
	add_known(buf, "wchan", entry->wchan);
	add_number(buf, "count", entry->count);
	add_number(buf, "cpu_ns", entry->cpu);
	add_number(buf, "wall_ns", entry->wall);
	add_end(buf, entry->end, entry->why);
	pmp_buf_puts(buf, ",\"frames\":[");
	for (size_t i = 0; i < entry->location_count; i++) {
		struct pmp_origin origin;

		pmp_profile_origin(texts->profile, entry->locations[i], &origin);
		add_location(out, texts, entry->locations[i], origin.pc, i == 0);
	}
	pmp_buf_puts(&out->buf, "]}");
}

static void write_saved(struct pmp_out *out, struct pmp_texts *texts)
{
	struct pmp_profile *profile = texts->profile;
	struct pmp_profile_info info = { .size = sizeof(info) };
	size_t count = pmp_profile_entry_count(profile);
	const struct pmp_entry **entries;
	struct pmp_about about;

	if (pmp_order_entries(profile, &entries)) {
		out->buf.failed = true;
		return;
	}
	pmp_profile_info(profile, &info);
	pmp_profile_about(profile, &about);
	pmp_buf_printf(&out->buf, "{\"snapshots\":%" PRIu64, (uint64_t)info.samples);
	add_number(&out->buf, "time_ns", about.realtime);
	add_number(&out->buf, "duration_ns", about.duration);
	add_number(&out->buf, "stopped_ns", info.stopped);
	add_number(&out->buf, "longest_ns", info.stopped_max);
	add_number(&out->buf, "vanished", info.vanished);
	add_known(&out->buf, "type", about.measure.type);
	add_known(&out->buf, "unit", about.measure.unit);
	pmp_buf_puts(&out->buf, ",\"threads\":[");
	for (size_t i = 0; i < count; i++) {
		if (i)
			pmp_buf_putc(&out->buf, ',');
		add_entry(out, texts, entries[i]);
	}
	pmp_buf_puts(&out->buf, "]}\n");
	free(entries);
}

static void write_json(struct pmp_out *out, struct pmp_profile *profile,
		       const struct pmp_write_options *options)
{
	const struct pmp_round *round = pmp_profile_round(profile);
	struct pmp_texts texts = { .profile = profile, .make = make_text };

	(void)options;
	if (round)
		write_round(out, &texts, round);
	else
		write_saved(out, &texts);
	pmp_texts_free(&texts);
}

const struct pmp_writer pmp_writer_json = {
	.format = {
		.name = "json",
		.help = "an object a line, one for each snapshot; for programs",
		.extension = "json",
		.mime = "application/x-ndjson",
		.snapshots = true,
	},
	.write = write_json,
};
