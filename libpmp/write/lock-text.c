/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of the page of -f locks: lines of threads, of their waits, of stacks. */
#include "write/lock-text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libpmp-program.h"
#include "base/clock.h"
#include "base/escape.h"
#include "write/names.h"
#include "write/outside-names.h"
#include "write/wait-names.h"

#define NAME_WIDTH 10
#define OUTSIDES_SHOWN 5 /* of threads with the same stack */
#define INTERNAL_MAX 6	 /* functions of a library inside its lock function */

/* ---- parts of a line ----------------------------------------------------------------- */

/* Ends a line; what exceeds the width of the terminal is cut off. */
void pmp_lock_text_end_line(const struct pmp_lock_text *text, size_t start)
{
	struct pmp_buf *buf = &text->out->buf;
	size_t columns = text->options->columns;

	if (columns && buf->length > start + columns) {
		size_t length = start + columns;

		while (length > start && (buf->data[length] & 0xc0) == 0x80)
			length--;
		buf->length = length;
	}
	pmp_buf_putc(buf, '\n');
}

/* "2 threads wait", "1 thread waits" */
void pmp_lock_text_threads(struct pmp_buf *buf, size_t count)
{
	pmp_buf_printf(buf, "%zu thread%s", count, count == 1 ? " waits" : "s wait");
}

void pmp_lock_text_indent(struct pmp_buf *buf, unsigned indent)
{
	pmp_buf_printf(buf, "%*s", (int)indent, "");
}

void pmp_lock_text_time(struct pmp_buf *buf, uint64_t time)
{
	pmp_buf_printf(buf, "%.1f s", (double)time / (double)PMP_S);
}

/* 12984 "worker-1" */
void pmp_lock_text_thread(const struct pmp_lock_text *text, size_t node)
{
	const struct pmp_thread *thread = pmp_lock_thread(text, node);
	struct pmp_buf *buf = &text->out->buf;

	pmp_buf_printf(buf, "%d \"", (int)thread->tid);
	pmp_escape_buf(buf, thread->name, strlen(thread->name));
	pmp_buf_putc(buf, '"');
}

/* Names and paths come from the target and may contain anything. */
static void add_escaped(struct pmp_buf *buf, struct pmp_buf *text)
{
	if (text->length)
		pmp_escape_buf(buf, text->data, text->length);
	buf->failed |= text->failed;
	pmp_buf_free(text);
}

/* mutex LOCK_log, 0x5615d6f793c0; or: mutex 0x7f31b8001a40 in the heap */
void pmp_lock_text_object(const struct pmp_lock_text *text, size_t node)
{
	const struct pmp_report *report = text->graph.report;
	const struct pmp_named_wait *named = pmp_lock_named(text, node);
	struct pmp_buf *buf = &text->out->buf;
	struct pmp_object object;
	struct pmp_buf name = { 0 }, place = { 0 };
	bool is_named;

	if (named->wait.kind == PMP_WAIT_JOIN) {
		pmp_buf_puts(buf, "its end (join)");
		return;
	}
	if (pmp_lock_outside(text, node) && pmp_wait_shows_outside(named)) {
		pmp_outside_describe(buf, pmp_lock_outside(text, node), &named->wait,
				     false);
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

size_t pmp_lock_count_objects(const struct pmp_lock_text *text,
			      const struct pmp_lock_run *run)
{
	uint64_t last = 0;
	size_t count = 0;

	for (size_t i = 0; i < run->count; i++) {
		uint64_t object = pmp_lock_wait(text, run->items[i])->object;

		count += object && object != last;
		last = object;
	}
	return count;
}

/* For several objects "5 conditions (metadata lock)"; else as pmp_lock_text_object(). */
void pmp_lock_text_objects(const struct pmp_lock_text *text,
			   const struct pmp_lock_run *run)
{
	const char *kind = pmp_lock_named(text, run->items[0])->kind;
	size_t count = pmp_lock_count_objects(text, run);
	const char *plural = strlen(kind) && kind[strlen(kind) - 1] == 'x' ? "es" : "s";

	if (count < 2) {
		pmp_lock_text_object(text, run->items[0]);
		return;
	}
	pmp_buf_printf(&text->out->buf, "%zu %s%s", count, kind, plural);
	pmp_wait_meaning(&text->out->buf, pmp_lock_named(text, run->items[0]));
}

/* ---- stacks -------------------------------------------------------------------------- */

/* Innermost function first. */
void pmp_lock_text_stack(const struct pmp_lock_text *text, size_t node)
{
	const struct pmp_name_style style = { .elide = true,
					      .lines = text->options->lines,
					      .module = text->options->module };
	const struct pmp_report *report = text->graph.report;
	struct pmp_buf *buf = &text->out->buf;
	struct pmp_stack stack;
	unsigned skipped = 0;
	bool first = true;

	pmp_stack_get(report, node, &stack);
	for (size_t i = 0; i < stack.location_count; i++) {
		const struct pmp_frame *frames;
		size_t count = pmp_report_frames(report, stack.locations[i], &frames);

		for (size_t k = 0; k < count; k++) {
			if (first && stack.found->wait.kind && skipped < INTERNAL_MAX &&
			    pmp_wait_is_internal(frames[k].function)) {
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

static int compare_stacks(const struct pmp_lock_text *text, size_t a, size_t b)
{
	const struct pmp_row *rows = text->graph.report->snapshot->rows;
	size_t count = rows[a].thread->frame_count;

	if (count != rows[b].thread->frame_count)
		return count < rows[b].thread->frame_count ? -1 : 1;
	return count ? memcmp(rows[a].locations, rows[b].locations,
			      count * sizeof(*rows[a].locations))
		     : 0;
}

/* ---- rows of threads ---------------------------------------------------------------- */

static int compare_groups(const struct pmp_lock_text *text, size_t a, size_t b)
{
	return strcmp(text->graph.nodes[a].group, text->graph.nodes[b].group);
}

/* Threads first whose waits have known peers. */
static int compare_outsides(const struct pmp_lock_text *text, size_t a, size_t b)
{
	const struct pmp_outside *one = pmp_lock_outside(text, a),
				 *other = pmp_lock_outside(text, b);

	if (!one || !other)
		return (one != NULL) - (other != NULL);
	if (!one->shown != !other->shown)
		return one->shown ? -1 : 1;
	return (one > other) - (one < other);
}

static int compare_threads(const void *a, const void *b, void *arg)
{
	const struct pmp_lock_text *text = arg;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	int order = compare_groups(text, x, y);

	if (!order)
		order = compare_stacks(text, x, y);
	if (!order)
		order = compare_outsides(text, x, y);
	return order ? order : (x > y) - (x < y);
}

/* How many threads from first on are of the same group and have the same stack. */
static size_t row_length(const struct pmp_lock_text *text, const struct pmp_lock_run *run,
			 size_t first)
{
	size_t i = first + 1;

	while (i < run->count &&
	       compare_groups(text, run->items[first], run->items[i]) == 0 &&
	       compare_stacks(text, run->items[first], run->items[i]) == 0)
		i++;
	return i - first;
}

/* The longest sleep; or, marked with ">", how long all snapshots have found the same
 * wait, if that is longer: some waiters wake every second to check whether to go on. */
static void add_longest(const struct pmp_lock_text *text, const struct pmp_lock_run *row)
{
	uint64_t longest = 0, found = 0;
	char words[32] = "";

	for (size_t i = 0; i < row->count; i++) {
		uint64_t time = pmp_lock_asleep(text, row->items[i]);

		longest = time > longest ? time : longest;
		time = pmp_lock_found_for(text, row->items[i]);
		found = time > found ? time : found;
	}
	if (found > longest)
		snprintf(words, sizeof(words), ">%.1f s", (double)found / (double)PMP_S);
	else if (longest)
		snprintf(words, sizeof(words), "%.1f s", (double)longest / (double)PMP_S);
	pmp_buf_printf(&text->out->buf, "%10s  ", words);
}

/* The threads' common name, or else that of their group. */
static void add_names(const struct pmp_lock_text *text, const struct pmp_lock_run *row)
{
	const char *name = pmp_lock_thread(text, row->items[0])->name;
	struct pmp_buf *buf = &text->out->buf;
	size_t start = buf->length;
	bool alike = true;

	for (size_t i = 1; i < row->count; i++)
		alike = alike &&
			strcmp(name, pmp_lock_thread(text, row->items[i])->name) == 0;
	pmp_name_word(buf, alike ? name : text->graph.nodes[row->items[0]].group);
	for (size_t width = buf->length - start; width < NAME_WIDTH; width++)
		pmp_buf_putc(buf, ' ');
	pmp_buf_puts(buf, "  ");
}

/* A row of threads with the same group and stack. */
static void add_row(const struct pmp_lock_text *text, const struct pmp_lock_run *row,
		    unsigned indent)
{
	struct pmp_buf *buf = &text->out->buf;
	size_t start = buf->length;

	pmp_lock_text_indent(buf, indent);
	pmp_buf_printf(buf, "%4zu  ", row->count);
	if (text->has_times)
		add_longest(text, row);
	add_names(text, row);
	pmp_lock_text_stack(text, row->items[0]);
	pmp_lock_text_end_line(text, start);
}

bool pmp_lock_is_event_outside(const struct pmp_lock_text *text, size_t node)
{
	return pmp_wait_is_outside(pmp_lock_wait(text, node)->kind) &&
	       !pmp_lock_named(text, node)->lock && pmp_lock_outside(text, node);
}

/* ": 6330 "producer" can write (fd 4)", unless the wait involves no other process. */
static void add_peers(const struct pmp_lock_text *text, size_t node)
{
	const struct pmp_wait *wait = pmp_lock_wait(text, node);

	if (!pmp_wait_has_peers(wait->kind))
		return;
	pmp_buf_puts(&text->out->buf, ": ");
	pmp_outside_who(&text->out->buf, text->graph.report->snapshot,
			pmp_lock_outside(text, node), wait);
}

/* What the threads of a row wait for outside the process, one line each. */
static void add_events_outside(const struct pmp_lock_text *text,
			       const struct pmp_lock_run *row, unsigned indent)
{
	struct pmp_buf *buf = &text->out->buf;
	const struct pmp_outside *last = NULL;
	size_t count = 0;

	for (size_t i = 0; i < row->count; i++) {
		size_t node = row->items[i], start = buf->length;
		const struct pmp_outside *what = pmp_lock_outside(text, node);

		if (!pmp_lock_is_event_outside(text, node) || what == last)
			continue;
		last = what;
		if (count++ >= OUTSIDES_SHOWN)
			continue;
		pmp_lock_text_indent(buf, indent);
		pmp_outside_describe(buf, what, pmp_lock_wait(text, node), false);
		add_peers(text, node);
		pmp_lock_text_end_line(text, start);
	}
	if (count > OUTSIDES_SHOWN) {
		pmp_lock_text_indent(buf, indent);
		pmp_buf_printf(buf, "and %zu more\n", count - OUTSIDES_SHOWN);
	}
}

void pmp_lock_text_rows(struct pmp_lock_text *text, const struct pmp_lock_run *run,
			unsigned indent)
{
	size_t *items = malloc((run->count + 1) * sizeof(*items));
	struct pmp_lock_run sorted = { items, run->count };
	struct pmp_lock_run *rows = malloc((run->count + 1) * sizeof(*rows));
	size_t count = 0;

	if (!items || !rows) {
		pmp_buf_fail(&text->out->buf);
		goto out;
	}
	memcpy(items, run->items, run->count * sizeof(*items));
	qsort_r(items, run->count, sizeof(*items), compare_threads, text);
	for (size_t i = 0; i < sorted.count; i += rows[count++].count)
		rows[count] =
			(struct pmp_lock_run){ items + i, row_length(text, &sorted, i) };
	qsort(rows, count, sizeof(*rows), pmp_lock_by_length);
	for (size_t i = 0; i < count; i++) {
		add_row(text, &rows[i], indent);
		add_events_outside(text, &rows[i], indent + 6);
		pmp_out_maybe_flush(text->out);
	}
out:
	free(items);
	free(rows);
}
