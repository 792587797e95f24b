/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The JSON of speedscope: a profile for each thread, in which every stack has its time.
 *
 *     {"$schema":"https://www.speedscope.app/file-format-schema.json",
 *      "exporter":"pmp@0.1","name":"mariadbd","activeProfileIndex":0,
 *      "shared":{"frames":[{"name":"poll"},{"name":"main","file":"main.cc"}]},
 *      "profiles":[{"type":"sampled","name":"mariadbd (4100) conn-17 (4102)",
 *       "unit":"seconds","startValue":0.000000,"endValue":0.300000,
 *       "samples":[[1,0],[1]],"weights":[0.200000,0.100000]}]}
 *
 * A stack lasts until the thread's next one; while a thread was not found, the stack is
 * empty. A saved profile has no timeline: the stacks of a thread follow each other,
 * weighted by time, by samples if times are unknown, or by whatever else the profile
 * counts, such as bytes.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/escape.h"
#include "report/sort.h"
#include "write/paths.h"
#include "write/writer.h"

/* A stack of a thread, or NULL for none, and its weight. */
struct span {
	const struct pmp_path *path;
	const struct pmp_entry *owner;
	uint64_t start, weight;
};

struct scope {
	struct pmp_out *out;
	const struct pmp_report *report;
	struct pmp_paths paths;
	const struct pmp_path **path_of; /* by entry */
	struct span *spans;
	size_t span_count;
	bool timed;  /* weights are ns, else counts */
	bool course; /* spans have real start times */
};

/* ---- spans ------------------------------------------------------------------------ */

static const struct pmp_path *path_of(const struct scope *scope,
				      const struct pmp_entry *entry)
{
	return scope->path_of[entry - scope->report->entries];
}

static int compare_runs(const void *a, const void *b)
{
	const struct pmp_run *one = *(const struct pmp_run *const *)a;
	const struct pmp_run *other = *(const struct pmp_run *const *)b;

	if (one->thread != other->thread)
		return one->thread < other->thread ? -1 : 1;
	return (one > other) - (one < other);
}

static void add_span(struct scope *scope, const struct pmp_entry *owner, bool found,
		     uint64_t start, uint64_t weight)
{
	scope->spans[scope->span_count++] = (struct span){
		found ? path_of(scope, owner) : NULL,
		owner,
		start,
		weight,
	};
}

/* Spans for the runs of all threads, thread by thread. 0 or PMP_ENOMEM. */
static int spans_of_runs(struct scope *scope, const struct pmp_run *runs, size_t count)
{
	const struct pmp_run **sorted = calloc(count + 1, sizeof(struct pmp_run *));
	const struct pmp_metadata *metadata = &scope->report->metadata;

	if (!sorted)
		return PMP_ENOMEM;
	for (size_t i = 0; i < count; i++)
		sorted[i] = &runs[i];
	qsort(sorted, count, sizeof(struct pmp_run *), compare_runs);
	for (size_t i = 0; i < count; i++) {
		const struct pmp_run *run = sorted[i];
		uint64_t next = run->last + metadata->period;
		bool more = i + 1 < count && sorted[i + 1]->thread == run->thread;
		bool gap = more && sorted[i + 1]->absent && sorted[i + 1]->first > next;
		const struct pmp_entry *entry = &scope->report->entries[run->entry];

		if (more && !gap)
			next = sorted[i + 1]->first;
		add_span(scope, entry, true, run->first, next - run->first);
		if (gap)
			add_span(scope, entry, false, next, sorted[i + 1]->first - next);
	}
	free(sorted);
	scope->course = scope->timed = true;
	return 0;
}

static int spans_of_entries(struct scope *scope)
{
	size_t count = scope->report->entry_count;
	const struct pmp_entry **entries;
	uint64_t start = 0;

	if (pmp_sort_threads(scope->report, &entries))
		return PMP_ENOMEM;
	for (size_t i = 0; i < count && !*scope->paths.sample_type.type; i++)
		scope->timed = scope->timed || entries[i]->wall;
	for (size_t i = 0; i < count; i++) {
		uint64_t weight = scope->timed ? entries[i]->wall : entries[i]->count;

		if (!entries[i]->count)
			continue;
		if (!i || !pmp_sort_same_thread(entries[i], entries[i - 1]))
			start = 0;
		add_span(scope, entries[i], true, start, weight);
		start += weight;
	}
	free(entries);
	return 0;
}

static int make_spans(struct scope *scope)
{
	size_t entries = scope->report->entry_count, count = scope->report->run_count;
	const struct pmp_run *runs = scope->report->runs;

	scope->path_of = calloc(entries + 1, sizeof(struct pmp_path *));
	/* A gap may follow each run. */
	scope->spans = calloc((runs ? 2 * count : entries) + 1, sizeof(*scope->spans));
	if (!scope->path_of || !scope->spans)
		return PMP_ENOMEM;
	for (size_t i = 0; i < scope->paths.path_count; i++) {
		const struct pmp_path *path = &scope->paths.paths[i];

		scope->path_of[path->entry - scope->report->entries] = path;
	}
	return runs ? spans_of_runs(scope, runs, count) : spans_of_entries(scope);
}

/* ---- writing ------------------------------------------------------------------------ */

static void add_quoted(struct pmp_buf *buf, const char *text)
{
	pmp_buf_putc(buf, '"');
	pmp_escape_json(buf, text, strlen(text));
	pmp_buf_putc(buf, '"');
}

static void add_value(struct pmp_buf *buf, const struct scope *scope, uint64_t value)
{
	if (scope->timed)
		pmp_buf_printf(buf, "%" PRIu64 ".%06u", (uint64_t)(value / PMP_S),
			       (unsigned)(value % PMP_S / PMP_US));
	else
		pmp_buf_printf(buf, "%" PRIu64, value);
}

/* Microseconds are written: sums must be sums of rounded values. */
static uint64_t rounded(const struct scope *scope, uint64_t value)
{
	return scope->timed ? value - value % PMP_US : value;
}

static void add_frames(struct scope *scope)
{
	struct pmp_buf *buf = &scope->out->buf;

	pmp_buf_puts(buf, "\"shared\":{\"frames\":[");
	for (size_t i = 0; i < scope->paths.function_count; i++) {
		const struct pmp_function *function = &scope->paths.functions[i];

		pmp_buf_puts(buf, i ? ",\n{\"name\":" : "\n{\"name\":");
		add_quoted(buf, function->name);
		if (function->file || *function->module) {
			pmp_buf_puts(buf, ",\"file\":");
			add_quoted(buf,
				   function->file ? function->file : function->module);
		}
		pmp_buf_putc(buf, '}');
		pmp_out_maybe_flush(scope->out);
	}
	pmp_buf_puts(buf, "]},\n");
}

/* Leaves out the process, which is in the profile's name. */
static void add_stack(struct pmp_buf *buf, const struct pmp_path *path)
{
	pmp_buf_putc(buf, '[');
	for (size_t i = 1; path && i < path->length; i++)
		pmp_buf_printf(buf, i > 1 ? ",%u" : "%u", path->functions[i]);
	pmp_buf_putc(buf, ']');
}

/* Units that the reader knows; anything else is a plain number. */
static const char *unit_of(const struct scope *scope)
{
	static const char *const units[] = {
		"nanoseconds", "microseconds", "milliseconds", "seconds", "bytes",
	};

	if (scope->timed)
		return "seconds";
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (strcmp(scope->paths.sample_type.unit, units[i]) == 0)
			return units[i];
	return "none";
}

static void add_profile(struct scope *scope, const struct span *spans, size_t count,
			uint64_t first)
{
	const struct pmp_entry *owner = spans->owner;
	struct pmp_buf *buf = &scope->out->buf, name = { 0 };
	uint64_t start = rounded(scope, spans->start - first), end = start;

	pmp_buf_printf(&name, "%s (%d)", owner->process, (int)owner->pid);
	if (owner->tid)
		pmp_buf_printf(&name, " %s (%d)", owner->thread, (int)owner->tid);
	else if (*owner->thread)
		pmp_buf_printf(&name, " %s", owner->thread);
	pmp_buf_puts(buf, "{\"type\":\"sampled\",\"name\":");
	add_quoted(buf, name.data ? name.data : "");
	pmp_buf_printf(buf, ",\"unit\":\"%s\",\"startValue\":", unit_of(scope));
	add_value(buf, scope, start);
	pmp_buf_puts(buf, ",\"samples\":[");
	for (size_t i = 0; i < count; i++) {
		if (i)
			pmp_buf_putc(buf, ',');
		add_stack(buf, spans[i].path);
		pmp_out_maybe_flush(scope->out);
	}
	pmp_buf_puts(buf, "],\"weights\":[");
	for (size_t i = 0; i < count; i++) {
		if (i)
			pmp_buf_putc(buf, ',');
		add_value(buf, scope, rounded(scope, spans[i].weight));
		end += rounded(scope, spans[i].weight);
		pmp_out_maybe_flush(scope->out);
	}
	pmp_buf_puts(buf, "],\"endValue\":");
	add_value(buf, scope, end);
	pmp_buf_putc(buf, '}');
	buf->failed |= name.failed;
	pmp_buf_free(&name);
}

/* The index after the spans of one thread. */
static size_t end_of(const struct scope *scope, size_t i)
{
	size_t first = i;

	while (i < scope->span_count &&
	       pmp_sort_same_thread(scope->spans[first].owner, scope->spans[i].owner))
		i++;
	return i;
}

/* An entry of the thread that used the most CPU time; NULL: none used any. */
static const struct pmp_entry *busiest_of(const struct pmp_entry *const *entries,
					  size_t count)
{
	const struct pmp_entry *best = NULL;
	uint64_t cpu = 0, most = 0;

	for (size_t i = 0; i < count; i++) {
		if (i && !pmp_sort_same_thread(entries[i], entries[i - 1]))
			cpu = 0;
		cpu += entries[i]->cpu;
		if (cpu > most) {
			most = cpu;
			best = entries[i];
		}
	}
	return best;
}

/* The index of the profile to show first: the busiest thread's. */
static size_t find_busiest(const struct scope *scope)
{
	const struct pmp_entry **entries, *best;
	size_t number = 0, i = 0;

	if (pmp_sort_threads(scope->report, &entries)) {
		pmp_buf_fail(&scope->out->buf);
		return 0;
	}
	best = busiest_of(entries, scope->report->entry_count);
	free(entries);
	while (best && i < scope->span_count &&
	       !pmp_sort_same_thread(scope->spans[i].owner, best)) {
		i = end_of(scope, i);
		number++;
	}
	return best && i < scope->span_count ? number : 0;
}

static void add_all(struct scope *scope)
{
	struct pmp_buf *buf = &scope->out->buf;
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < scope->span_count; i++)
		if (scope->spans[i].start < first)
			first = scope->spans[i].start;
	pmp_buf_printf(buf,
		       "{\"$schema\":\"https://www.speedscope.app/file-format-schema"
		       ".json\",\"exporter\":\"pmp@%s\",\"name\":",
		       pmp_version());
	add_quoted(buf, scope->span_count ? scope->spans[0].owner->process : "");
	pmp_buf_printf(buf, ",\"activeProfileIndex\":%zu,\n", find_busiest(scope));
	add_frames(scope);
	pmp_buf_puts(buf, "\"profiles\":[");
	for (size_t i = 0, end; i < scope->span_count; i = end) {
		end = end_of(scope, i);
		pmp_buf_puts(buf, i ? ",\n" : "\n");
		add_profile(scope, &scope->spans[i], end - i, first);
	}
	pmp_buf_puts(buf, "]}\n");
}

static void write_speedscope(struct pmp_out *out, const struct pmp_report *report,
			     const struct pmp_write_options *options)
{
	struct scope scope = { .out = out, .report = report };
	struct pmp_path_style style = pmp_paths_style(options);

	style.by_thread = false;
	if (pmp_paths_make(&scope.paths, report, &style) || make_spans(&scope))
		pmp_buf_fail(&out->buf);
	else
		add_all(&scope);
	pmp_paths_free(&scope.paths);
	free(scope.path_of);
	free(scope.spans);
}

const struct pmp_writer pmp_writer_speedscope = {
	.format = {
		.name = "speedscope",
		.help = "for speedscope.app: each thread over time",
		.extension = "speedscope.json",
		.mime = "application/json",
		.details = true,
		.times = true,
	},
	.write = write_speedscope,
};
