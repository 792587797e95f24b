/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The page of pmp/serve/ as one file, with its style, its script, and the data that it
 * would otherwise get from a server. Its Content-Security-Policy forbids all network
 * access.
 *
 *     <script type="application/json" id="data">
 *     {"version":"0.1","title":"mariadbd",...,
 *     "tree":{...},
 *     "threads":[[4100,4102,"conn-17","conn-N",300,...,"poll<vio_io_wait"],...]}
 *     </script>
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "libpmp-program.h"
#include "base/clock.h"
#include "base/escape.h"
#include "write/tree.h"
#include "write/writer.h"

#define NODES 50000 /* most nodes in the tree */

static const char page[] =
#include "write/page-html.h"
	;
static const char style[] =
#include "write/page-css.h"
	;
static const char script[] =
#include "write/page-js.h"
	;

/* Lines of the page, and what replaces them in the file. */
static const char style_link[] = "<link rel=\"stylesheet\" href=\"page.css\">\n";
static const char script_link[] = "<script src=\"page.js\"></script>\n";
static const char policy[] =
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	"script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
	"base-uri 'none'; form-action 'none'\">\n";

const char *pmp_page_file(const char *name)
{
	return !strcmp(name, "page.html")  ? page
	       : !strcmp(name, "page.css") ? style
	       : !strcmp(name, "page.js")  ? script
					   : NULL;
}

/* ---- the head of the data ---------------------------------------------------------- */

/* ,"name":"text" */
static void add_text(struct pmp_buf *buf, const char *name, const char *text)
{
	pmp_buf_printf(buf, ",\"%s\":\"", name);
	pmp_escape_script(buf, text, strlen(text));
	pmp_buf_putc(buf, '"');
}

static void add_number(struct pmp_buf *buf, const char *name, uint64_t number)
{
	pmp_buf_printf(buf, ",\"%s\":%" PRIu64, name, number);
}

/* Skips stacks of the base: its process may have another name. */
static const char *title_of(const struct pmp_paths *paths,
			    const struct pmp_write_options *options)
{
	size_t first = 0;

	if (options->title)
		return options->title;
	while (first + 1 < paths->path_count && paths->paths[first].base)
		first++;
	return first < paths->path_count ? paths->paths[first].entry->process
					 : "nothing was sampled";
}

/* ,"base":{"stacks":16,"snapshots":2,"to":1,"from":2}; no snapshots: not recorded */
static void add_base(struct pmp_buf *buf, const struct pmp_report *report)
{
	const struct pmp_profile_info *info = &report->base->totals;

	pmp_buf_printf(buf, ",\n\"base\":{\"stacks\":%" PRIu64, info->stacks);
	if (!report->base->metadata.guessed)
		add_number(buf, "snapshots", info->samples);
	add_number(buf, "to", report->scale.to);
	add_number(buf, "from", report->scale.from);
	pmp_buf_putc(buf, '}');
}

static void add_heading(struct pmp_buf *buf, const struct pmp_report *report,
			const char *title)
{
	const struct pmp_profile_info *info = &report->totals;
	const struct pmp_metadata *metadata = &report->metadata;

	pmp_buf_printf(buf, "{\"version\":\"%s\"", pmp_version());
	add_text(buf, "title", title);
	add_text(buf, "host", metadata->host);
	add_text(buf, "command", metadata->command);
	add_text(buf, "type", metadata->sample_type.type);
	add_number(buf, "start", metadata->realtime / PMP_MS);
	add_number(buf, "duration", metadata->duration / PMP_MS);
	pmp_buf_putc(buf, '\n');
	if (!metadata->guessed)
		add_number(buf, "snapshots", info->samples);
	add_number(buf, "stacks", info->stacks);
	add_number(buf, "truncated", info->truncated);
	add_number(buf, "evicted", info->evicted);
	add_number(buf, "stops", info->stops);
	add_number(buf, "stopped", info->stopped / PMP_US);
	add_number(buf, "longest", info->stopped_max / PMP_US);
	if (report->base)
		add_base(buf, report);
}

/* ---- the file ------------------------------------------------------------------------- */

/* Only if the profile counts stacks and knows threads. */
static void add_threads(struct pmp_out *out, struct pmp_tree_paths *paths)
{
	size_t left_out;

	pmp_buf_puts(&out->buf, ",\n\"threads\":");
	left_out = pmp_tree_add_threads(out, paths);
	if (left_out)
		add_number(&out->buf, "more_threads", left_out);
}

/* A saved heap profile that was read as one value: show all of its values. */
static bool is_of_heap(const struct pmp_report *report)
{
	enum pmp_heap_value value;

	return report->heap && !report->base &&
	       pmp_heap_value_find(report->metadata.sample_type.type, &value);
}

/* The heap, in addition to what threads did. */
static void add_heap(struct pmp_out *out, const struct pmp_report *heap,
		     const struct pmp_tree_options *options)
{
	struct pmp_tree_paths paths;

	pmp_buf_puts(&out->buf, ",\n\"heap\":");
	if (pmp_tree_paths_make(&paths, heap, options))
		pmp_buf_fail(&out->buf);
	else
		pmp_tree_add(out, &paths, options);
	pmp_tree_paths_free(&paths);
}

static void add_data(struct pmp_out *out, const struct pmp_report *report,
		     const struct pmp_write_options *options)
{
	const struct pmp_tree_options tree = {
		.by_thread = options->by_thread,
		.by_group = true,
		.lines = options->lines,
		.module = options->module,
		.nodes = NODES,
	};
	const struct pmp_report *shown = is_of_heap(report) ? report->heap : report;
	struct pmp_tree_paths paths;

	if (pmp_tree_paths_make(&paths, shown, &tree)) {
		pmp_buf_fail(&out->buf);
	} else {
		add_heading(&out->buf, report, title_of(&paths.paths, options));
		pmp_buf_puts(&out->buf, ",\n\"tree\":");
		pmp_tree_add(out, &paths, &tree);
		if (!*report->metadata.sample_type.type && paths.activities.has_threads)
			add_threads(out, &paths);
		if (!*report->metadata.sample_type.type) {
			pmp_buf_puts(&out->buf, ",\n\"locks\":");
			pmp_tree_add_locks(out, &paths);
		}
		if (report->heap && shown == report && !report->base)
			add_heap(out, report->heap, &tree);
	}
	pmp_buf_puts(&out->buf, "}\n");
	pmp_tree_paths_free(&paths);
}

static void write_html(struct pmp_out *out, const struct pmp_report *report,
		       const struct pmp_write_options *options)
{
	const char *link = strstr(page, style_link), *end = strstr(page, script_link);
	struct pmp_buf *buf = &out->buf;

	if (!link || !end) {
		pmp_buf_fail(buf);
		return;
	}
	pmp_buf_add(buf, page, (size_t)(link - page));
	pmp_buf_puts(buf, policy);
	pmp_buf_printf(buf, "<style>\n%s</style>\n", style);
	link += sizeof(style_link) - 1;
	pmp_buf_add(buf, link, (size_t)(end - link));
	pmp_buf_puts(buf, "<script type=\"application/json\" id=\"data\">\n");
	add_data(out, report, options);
	pmp_buf_printf(buf, "</script>\n<script>\n%s</script>\n", script);
	pmp_buf_puts(buf, end + sizeof(script_link) - 1);
}

const struct pmp_writer pmp_writer_html = {
	.format = {
		.name = "html",
		.help = "a page to explore in any browser, in one file",
		.extension = "html",
		.mime = "text/html; charset=utf-8",
		.details = true,
		.waits = true,
		.compares = true,
		.heap = PMP_HEAP_TOO,
	},
	.write = write_html,
	.write_diff = write_html,
};
