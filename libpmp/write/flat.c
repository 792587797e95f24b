/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The flat profile: how often each function was found at the end of a stack (self) and
 * anywhere on it (total), and the thread time that this stands for.
 *
 *      self%  total%     self    total   self s  total s  function
 *      40.00   41.00      120      123    11.60    11.89  poll (libc.so.6) [2]
 *
 * Values other than numbers of stacks have a unit, and no times:
 *
 *      self%  total%     self    total  function
 *      50.00   50.00      2MB      2MB  main.hold [3]
 *
 * The number in brackets is that of the function's block in the call graph (callgraph.c).
 */
#include <stdlib.h>
#include <string.h>

#include "write/paths.h"
#include "write/table.h"
#include "write/writer.h"

struct function_sums {
	uint32_t function;
	uint32_t index;			/* number of its block, from 1 */
	uint64_t self, total;		/* samples */
	uint64_t base_self, base_total; /* the base's, unscaled */
	uint64_t self_time, total_time; /* ns */
	size_t last;			/* last path counted, plus 1 */
};

static const char legend[] =
	"self%, self     stacks that end in the function: it was running, or waiting itself\n"
	"total%, total   stacks that have the function, however often\n"
	"self s,         seconds that these stacks stand for: each thread's time since its\n"
	"total s         previous snapshot; those of many threads add up to more than the clock's\n"
	"[number]        of the function's block in the format callgraph\n\n";

/* For values other than numbers of stacks, which have no times. */
static const char value_legend[] =
	"self%, self     what the file counts of the function itself\n"
	"total%, total   the same with all that it has called\n"
	"[number]        of the function's block in the format callgraph\n\n";

static void add_path(struct function_sums *sums, const struct pmp_path *path,
		     size_t number)
{
	struct function_sums *leaf;

	for (size_t i = 0; i < path->length; i++) {
		struct function_sums *function = &sums[path->functions[i]];

		/* A recursive function counts once per stack. */
		if (function->last == number)
			continue;
		function->last = number;
		function->total += path->count;
		function->base_total += path->base;
		function->total_time += path->entry->wall;
	}
	if (!path->length)
		return;
	leaf = &sums[path->functions[path->length - 1]];
	leaf->self += path->count;
	leaf->base_self += path->base;
	leaf->self_time += path->entry->wall;
}

/* The order of blocks, as in callgraph.c. */
static int compare_blocks(const void *a, const void *b)
{
	const struct function_sums *one = a, *other = b;

	if (one->total != other->total)
		return one->total < other->total ? 1 : -1;
	return (one->function > other->function) - (one->function < other->function);
}

static int compare_sums(const void *a, const void *b)
{
	const struct function_sums *one = a, *other = b;

	if (one->self != other->self)
		return one->self < other->self ? 1 : -1;
	if (one->total != other->total)
		return one->total < other->total ? 1 : -1;
	return (one->function > other->function) - (one->function < other->function);
}

static int compare_totals(const void *a, const void *b)
{
	const struct function_sums *one = a, *other = b;

	return one->total != other->total ? compare_blocks(a, b) : compare_sums(a, b);
}

static int compare_names(const void *a, const void *b)
{
	const struct function_sums *one = a, *other = b;

	return (one->function > other->function) - (one->function < other->function);
}

static void sort_sums(struct function_sums *sums, size_t count, enum pmp_sort sort)
{
	qsort(sums, count, sizeof(*sums),
	      sort == PMP_SORT_TOTAL  ? compare_totals
	      : sort == PMP_SORT_NAME ? compare_names
				      : compare_sums);
}

/* The name, its module if that is a file or not one only, its block unless index is 0. */
static void add_name(struct pmp_buf *buf, const struct pmp_function *function,
		     bool has_module, uint32_t index)
{
	const char *module = pmp_name_base(function->module);

	pmp_buf_puts(buf, function->name);
	if (!has_module && (module > function->module || module == pmp_several_modules)) {
		pmp_buf_puts(buf, " (");
		pmp_name_path(buf, module);
		pmp_buf_putc(buf, ')');
	}
	if (index)
		pmp_buf_printf(buf, " [%u]", index);
	pmp_buf_putc(buf, '\n');
}

static void write_sums(struct pmp_out *out, const struct pmp_paths *paths,
		       const struct function_sums *sums,
		       const struct pmp_write_options *options)
{
	const bool timed = !*paths->sample_type.type;
	struct pmp_buf *buf = &out->buf;

	if (options->legend)
		pmp_buf_puts(buf, timed ? legend : value_legend);
	pmp_buf_printf(buf, " self%%  total%%      self     total%s  function\n",
		       timed ? "    self s   total s" : "");
	for (size_t i = 0; i < paths->function_count; i++) {
		const struct pmp_function *function = &paths->functions[sums[i].function];

		/* Processes and threads are no functions. [unknown] is one if the stack
		 * has nothing else. */
		if (!*function->module && !sums[i].self)
			continue;
		pmp_table_percent(buf, 6, sums[i].self, paths->samples);
		pmp_table_percent(buf, 8, sums[i].total, paths->samples);
		pmp_table_value(buf, 10, sums[i].self, &paths->sample_type);
		pmp_table_value(buf, 10, sums[i].total, &paths->sample_type);
		if (timed) {
			pmp_table_seconds(buf, 10, sums[i].self_time);
			pmp_table_seconds(buf, 10, sums[i].total_time);
		}
		pmp_buf_puts(buf, "  ");
		add_name(buf, function, options->module || options->lines, sums[i].index);
		pmp_out_maybe_flush(out);
	}
}

/* Make the paths and the sums of each function, sorted by name. NULL: no memory. The
 * paths must be freed in any case. */
static struct function_sums *add_up(struct pmp_paths *paths,
				    const struct pmp_report *report,
				    const struct pmp_write_options *options)
{
	const struct pmp_path_style style = pmp_paths_style(options);
	struct function_sums *sums;

	if (pmp_paths_make(paths, report, &style))
		return NULL;
	sums = calloc(paths->function_count + 1, sizeof(*sums));
	for (uint32_t i = 0; sums && i < paths->function_count; i++)
		sums[i].function = i;
	for (size_t i = 0; sums && i < paths->path_count; i++)
		add_path(sums, &paths->paths[i], i + 1);
	return sums;
}

static void write_flat(struct pmp_out *out, const struct pmp_report *report,
		       const struct pmp_write_options *options)
{
	struct pmp_paths paths;
	struct function_sums *sums = add_up(&paths, report, options);

	if (!sums) {
		pmp_buf_fail(&out->buf);
		goto out;
	}
	qsort(sums, paths.function_count, sizeof(*sums), compare_blocks);
	for (uint32_t i = 0; i < paths.function_count; i++)
		sums[i].index = i + 1;
	sort_sums(sums, paths.function_count, options->sort);
	pmp_table_title(&out->buf, "flat profile", report, paths.samples);
	write_sums(out, &paths, sums, options);
out:
	free(sums);
	pmp_paths_free(&paths);
}

/* ---- a comparison ------------------------------------------------------------------ */

static const char diff_legend[] =
	"self%    stacks that end in the function: it was running, or waiting itself\n"
	"total%   stacks that have the function, however often\n"
	"base     of the base, scaled to as many rounds; - is never\n"
	"new      of the profile; all are percent of its stacks\n"
	"diff     the difference of the two\n\n";

static double self_change(const struct pmp_paths *paths, const struct function_sums *sums)
{
	return (double)sums->self - pmp_paths_base(paths, sums->base_self);
}

static double total_change(const struct pmp_paths *paths,
			   const struct function_sums *sums)
{
	return (double)sums->total - pmp_paths_base(paths, sums->base_total);
}

/* The larger change first, whether it grew or shrank. */
static int compare_sizes(double x, double y)
{
	x = x < 0 ? -x : x;
	y = y < 0 ? -y : y;
	return (x < y) - (x > y);
}

static int compare_changes(const void *a, const void *b, void *paths)
{
	const struct function_sums *one = a, *other = b;
	int order = compare_sizes(self_change(paths, one), self_change(paths, other));

	if (!order)
		order = compare_sizes(total_change(paths, one),
				      total_change(paths, other));
	if (!order)
		order = (one->function > other->function) -
			(one->function < other->function);
	return order;
}

static void write_changes(struct pmp_out *out, const struct pmp_paths *paths,
			  const struct function_sums *sums,
			  const struct pmp_write_options *options)
{
	struct pmp_buf *buf = &out->buf;
	double whole = pmp_paths_whole(paths);
	size_t rest = 0;

	if (options->legend)
		pmp_buf_puts(buf, diff_legend);
	pmp_buf_puts(buf, "  -------- self% -------  ------- total% -------\n"
			  "    base     new    diff    base     new    diff  function\n");
	for (const struct function_sums *end = sums + paths->function_count; sums < end;
	     sums++) {
		const struct pmp_function *function = &paths->functions[sums->function];

		if (!*function->module && !sums->self && !sums->base_self)
			continue;
		if (!options->all_rows &&
		    !pmp_table_shows(self_change(paths, sums), whole) &&
		    !pmp_table_shows(total_change(paths, sums), whole)) {
			rest++;
			continue;
		}
		pmp_table_compared(buf, paths, sums->self, sums->base_self);
		pmp_table_compared(buf, paths, sums->total, sums->base_total);
		pmp_buf_puts(buf, "  ");
		add_name(buf, function, options->module || options->lines, 0);
		pmp_out_maybe_flush(out);
	}
	if (rest)
		pmp_buf_printf(buf, "%48s  (%zu more function%s without a difference)\n",
			       "", rest, rest == 1 ? "" : "s");
}

static void write_flat_diff(struct pmp_out *out, const struct pmp_report *report,
			    const struct pmp_write_options *options)
{
	struct pmp_paths paths;
	struct function_sums *sums = add_up(&paths, report, options);

	if (!sums) {
		pmp_buf_fail(&out->buf);
		goto out;
	}
	qsort_r(sums, paths.function_count, sizeof(*sums), compare_changes, &paths);
	pmp_table_titles(&out->buf, &paths, report);
	write_changes(out, &paths, sums, options);
out:
	free(sums);
	pmp_paths_free(&paths);
}

const struct pmp_writer pmp_writer_flat = {
	.format = {
		.name = "flat",
		.help = "a table of functions: self, total, time",
		.extension = "flat",
		.mime = "text/plain; charset=utf-8",
		.compares = true,
		.sorts = 1U << PMP_SORT_SELF | 1U << PMP_SORT_TOTAL | 1U << PMP_SORT_NAME,
	},
	.write = write_flat,
	.write_diff = write_flat_diff,
};
