/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The configuration and PMP_OPTS are for all uses of pmp. An option in them that has no
 * meaning for this run, or contradicts one that was given later, is ignored; on the
 * command line it is a mistake, which check.c reports.
 */
#include "options/table.h"

#include <string.h>

#include "options/filename.h"

#define COUNT(names) (sizeof(names) / sizeof(*(names)))

static void drop(struct options *options, const char *name)
{
	if (option_given(options, name) < PMP_FROM_ARGUMENTS)
		option_forget(options, name);
}

/* The two exclude each other: the later one counts. */
static void yield(struct options *options, const char *name, const char *other)
{
	if (option_given(options, name) < option_given(options, other))
		option_forget(options, name);
}

/* ---- the format -------------------------------------------------------------------- */

static const char *const naming[] = { "format", "raw", "locks" };

enum option_source options_format_source(const struct options *options)
{
	enum option_source last = PMP_FROM_NOWHERE;

	for (size_t i = 0; i < COUNT(naming); i++) {
		if (option_given(options, naming[i]) > last)
			last = option_given(options, naming[i]);
	}
	return last;
}

static void forget_format(struct options *options)
{
	for (size_t i = 0; i < COUNT(naming); i++)
		option_forget(options, naming[i]);
}

/* The format cannot do what another option asks for: the later one counts. */
static void settle_clash(struct options *options, const char *name)
{
	const enum option_source format = options_format_source(options);
	const enum option_source other = option_given(options, name);

	if (other < format)
		option_forget(options, name);
	else if (format < other)
		forget_format(options);
}

/* What is profiled is always given on the command line. */
static bool format_shows_source(const struct options *options)
{
	const struct pmp_format *format = options->format;

	if (format->census)
		return !options->file_count && !options->command && !options->tids.count;
	if (options->file_count)
		return !format->unsaved;
	return format->heap != PMP_HEAP_ALONE || options->heap.on;
}

static void settle_format(struct options *options)
{
	const struct pmp_format *format = options->format;

	if (format && options_format_source(options) < PMP_FROM_ARGUMENTS &&
	    !format_shows_source(options))
		forget_format(options);
	if (options->format && options->diff && !format->compares)
		settle_clash(options, "diff");
	if (!options->heap.on)
		return;
	if (options->format && options->heap.only && options_shows_threads(format))
		settle_clash(options, "heap-only");
	if (options->format && options->sample_type && options_shows_threads(format))
		settle_clash(options, "sample-type");
}

/* ---- the rest -------------------------------------------------------------------- */

static void settle_check(struct options *options)
{
	static const char *const others[] = { "output", "every", "diff", "serve" };
	const enum option_source locks = option_given(options, "locks");

	if (options->command && locks < PMP_FROM_ARGUMENTS)
		options->check_locks = false;
	for (size_t i = 0; i < COUNT(others); i++) {
		if (option_given(options, others[i]) > locks)
			options->check_locks = false;
	}
	for (size_t i = 0; i < COUNT(others) && options->check_locks; i++)
		yield(options, others[i], "locks");
}

static bool has_file(const struct options *options)
{
	return options->output && strcmp(options->output, "-") != 0;
}

static void settle_server(struct options *options)
{
	static const char *const its[] = { "serve-token", "serve-host",
					   "serve-no-cmdline", "on-demand", "history" };

	yield(options, "diff", "serve");
	yield(options, "serve", "diff");
	if (options->file_count || (options->format_row && !has_file(options)))
		drop(options, "serve");
	if (options->output && !has_file(options))
		yield(options, "serve", "output");
	if (options->every && !has_file(options))
		yield(options, "serve", "every");
	for (size_t i = 0; i < COUNT(its) && !options->serve; i++)
		drop(options, its[i]);
	if (!options->serve)
		return;
	if (has_file(options) && options->on_demand) {
		yield(options, "output", "on-demand");
		yield(options, "on-demand", "output");
	}
	if (has_file(options))
		return;
	drop(options, "output");
	drop(options, "every");
	/* Clients choose the format. */
	if (!options->format_row) {
		options->format = NULL;
		options->check_locks = false;
	}
}

static void settle_heap(struct options *options)
{
	static const char *const its[] = { "heap-only", "heap-mmap", "heap-stack" };

	if (options->file_count)
		drop(options, "heap");
	for (size_t i = 0; i < COUNT(its) && !options->heap.on; i++)
		drop(options, its[i]);
	if (!options->heap.on && !options->file_count)
		drop(options, "heap-age");
	if (options->heap.on && options->sample_type &&
	    !options_is_heap_value(options->sample_type))
		drop(options, "sample-type");
}

static void settle_series(struct options *options)
{
	if (options->file_count)
		drop(options, "every");
	if (options->keep && !options->output)
		drop(options, "keep");
	else if (options->keep && !filename_is_series(options->output))
		yield(options, "keep", "output");
}

void options_settle_standing(struct options *options)
{
	settle_check(options);
	settle_server(options);
	settle_heap(options);
	settle_format(options);
	settle_series(options);
}
