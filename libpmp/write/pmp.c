/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lines of poormansprofiler.org and pt-pmp: a count, then the stack, leaf first; the
 * most frequent first.
 *
 *          12 poll(libc.so.6),vio_io_wait(mariadbd),vio_read(mariadbd),main(mariadbd)
 *
 * This is what pt-pmp makes of the raw format, with module names, except that brackets
 * stay when their contents are left out (`std::map<>::find`, `S::operator()`). Where
 * pt-pmp leaves arguments, their commas look like callers.
 *
 * A comparison is a table of such stacks, the largest changes first:
 *
 *      base%    new%    diff  stack
 *       4.10   38.05  +33.95  __lll_lock_wait,pthread_mutex_lock,main,mariadbd
 *
 * It includes the process and marks of incomplete stacks, as the folded format does: they
 * tell stacks apart.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "write/path-lines.h"
#include "write/table.h"
#include "write/writer.h"

#define ROWS 20	       /* in a comparison, unless all are wanted */
#define TEXT_COLUMN 26 /* column at which stacks begin */
#define COLUMNS_MIN 16 /* for a stack, even on a narrower terminal */

static void write_pmp(struct pmp_out *out, const struct pmp_report *report,
		      const struct pmp_write_options *options)
{
	const struct pmp_path_style style = {
		.names = { .elide = true, .lines = options->lines, .module = true },
		.root = PMP_ROOT_NONE,
		.by_thread = options->by_thread,
	};
	struct pmp_paths paths;
	struct pmp_path_lines lines = { .paths = &paths,
					.separator = ',',
					.leaf_first = true };

	if (pmp_paths_make(&paths, report, &style) || pmp_path_lines_make(&lines))
		pmp_buf_fail(&out->buf);
	/* The order of `sort | uniq -c | sort -r -n -k 1,1`. */
	if (options->sort != PMP_SORT_NAME)
		pmp_path_lines_by_count(&lines);
	for (size_t i = 0; i < lines.count; i++) {
		pmp_buf_printf(&out->buf, "%7" PRIu64 " ", lines.items[i].count);
		pmp_path_lines_put(&out->buf, &lines, &lines.items[i]);
		pmp_buf_putc(&out->buf, '\n');
		pmp_out_maybe_flush(out);
	}
	pmp_path_lines_free(&lines);
	pmp_paths_free(&paths);
}

/* ---- a comparison ------------------------------------------------------------------- */

static const char legend[] =
	"base%, new%   how often the stack was seen, in percent of all stacks of the profile.\n"
	"              What the base has seen is scaled to as many rounds; - is never\n"
	"diff          the difference of the two\n\n";

static const char head[] = "   base%    new%    diff  stack\n";

static double change_of(const struct pmp_path_lines *lines,
			const struct pmp_path_line *line)
{
	return (double)line->count - pmp_paths_base(lines->paths, line->base);
}

static int compare_changes(const void *a, const void *b, void *lines)
{
	const struct pmp_path_line *one = a, *other = b;
	double x = change_of(lines, one), y = change_of(lines, other);

	x = x < 0 ? -x : x;
	y = y < 0 ? -y : y;
	if (x != y)
		return x < y ? 1 : -1;
	/* Equal changes: in the order of the paths. */
	return (one->path > other->path) - (one->path < other->path);
}

/* Append as much as fits in the columns; 0: all of it. */
static void add_stack(struct pmp_buf *buf, const struct pmp_buf *stack, size_t columns)
{
	size_t at = 0, two_back = 0, one_back = 0;

	for (size_t column = 0; at < stack->length && (!columns || column < columns);
	     column++) {
		size_t n = pmp_escape_printable(stack->data + at, stack->length - at);

		two_back = one_back;
		one_back = at;
		at += n ? n : 1;
	}
	if (at < stack->length)
		at = two_back;
	pmp_buf_add(buf, stack->data, at);
	pmp_buf_puts(buf, at < stack->length ? "..\n" : "\n");
}

static void add_rows(struct pmp_out *out, const struct pmp_path_lines *lines,
		     const struct pmp_write_options *options, size_t rows)
{
	size_t columns = 0;
	struct pmp_buf stack = { 0 };

	if (options->columns)
		columns = options->columns < TEXT_COLUMN + COLUMNS_MIN
				  ? COLUMNS_MIN
				  : options->columns - TEXT_COLUMN;
	for (size_t i = 0; i < rows; i++) {
		const struct pmp_path_line *line = &lines->items[i];

		pmp_buf_clear(&stack);
		pmp_path_lines_put(&stack, lines, line);
		pmp_table_compared(&out->buf, lines->paths, line->count, line->base);
		pmp_buf_puts(&out->buf, "  ");
		if (pmp_buf_failed(&stack))
			pmp_buf_fail(&out->buf);
		else
			add_stack(&out->buf, &stack, columns);
		pmp_out_maybe_flush(out);
	}
	pmp_buf_free(&stack);
}

/* The total change of the omitted rows. */
static void add_rest(struct pmp_buf *buf, const struct pmp_path_lines *lines, size_t rows)
{
	double grown = 0, shrunk = 0, whole = pmp_paths_whole(lines->paths);
	size_t rest = lines->count - rows;

	for (size_t i = rows; i < lines->count; i++) {
		double change = change_of(lines, &lines->items[i]);

		*(change < 0 ? &shrunk : &grown) += change;
	}
	if (!rest)
		return;
	pmp_buf_printf(buf, "%24s  (%zu more stack%s", "", rest, rest == 1 ? "" : "s");
	if (pmp_table_shows(grown, whole) || pmp_table_shows(shrunk, whole)) {
		pmp_buf_puts(buf, ": ");
		pmp_table_change(buf, 0, grown, whole);
		pmp_buf_puts(buf, ", ");
		pmp_table_change(buf, 0, shrunk, whole);
		pmp_buf_puts(buf, ")\n");
	} else {
		pmp_buf_puts(buf, " without a difference)\n");
	}
}

static size_t count_rows(const struct pmp_path_lines *lines, bool all)
{
	double whole = pmp_paths_whole(lines->paths);
	size_t rows = 0;

	if (all)
		return lines->count;
	while (rows < lines->count && rows < ROWS &&
	       pmp_table_shows(change_of(lines, &lines->items[rows]), whole))
		rows++;
	return rows;
}

static void write_pmp_diff(struct pmp_out *out, const struct pmp_report *report,
			   const struct pmp_write_options *options)
{
	const struct pmp_path_style style = {
		.names = { .elide = true,
			   .lines = options->lines,
			   .module = options->module },
		.by_thread = options->by_thread,
	};
	struct pmp_paths paths;
	struct pmp_path_lines lines = { .paths = &paths,
					.separator = ',',
					.leaf_first = true };
	size_t rows;

	if (pmp_paths_make(&paths, report, &style) || pmp_path_lines_make(&lines)) {
		pmp_buf_fail(&out->buf);
		goto out;
	}
	qsort_r(lines.items, lines.count, sizeof(*lines.items), compare_changes, &lines);
	rows = count_rows(&lines, options->all_rows);
	pmp_table_titles(&out->buf, &paths, report);
	if (options->legend)
		pmp_buf_puts(&out->buf, legend);
	pmp_buf_puts(&out->buf, head);
	add_rows(out, &lines, options, rows);
	add_rest(&out->buf, &lines, rows);
out:
	pmp_path_lines_free(&lines);
	pmp_paths_free(&paths);
}

const struct pmp_writer pmp_writer_pmp = {
	.format = {
		.name = "pmp",
		.help = "one line per stack, leaf first, as by pt-pmp",
		.extension = "pmp",
		.mime = "text/plain; charset=utf-8",
		.compares = true,
		.sorts = 1U << PMP_SORT_SAMPLES | 1U << PMP_SORT_NAME,
	},
	.write = write_pmp,
	.write_diff = write_pmp_diff,
};
