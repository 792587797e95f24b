/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folded stacks: one line per distinct stack, root first, then its count.
 *
 *     mariadbd;start_thread;handle_one_connection;do_command;poll 42
 *
 * The first frame is the process: `mariadbd`, with its id if there are several processes,
 * and with the thread's as well (`mariadbd-4100/4102;conn-17;...`) if threads are kept
 * apart. If the root of a stack is unknown, `[not stopped: epoll_wait]` or
 * `[truncated: ...]` takes its place. The last frame of a line never ends in a blank and
 * digits: some readers would take them for the count.
 *
 * With options.waits, what a thread waits for follows the innermost function. It has no
 * address, as otherwise hardly any two stacks would be equal.
 *
 *     mariadbd;...;pthread_mutex_lock;[waits for mutex LOCK_log held by conn-N] 4
 *
 * In a comparison a line has two counts: the base's, scaled, and the profile's.
 *
 *     mariadbd;start_thread;handle_one_connection;do_command;poll 57 42
 *
 * Processes and threads have no ids then. The scaled counts are rounded so that sums stay
 * right, above all for neighbours with the same beginning: each line gets the difference of
 * two rounded sums, of the lines up to this one and up to the one before.
 */
#include <inttypes.h>

#include "write/path-lines.h"
#include "write/writer.h"

static void write_folded(struct pmp_out *out, const struct pmp_report *report,
			 const struct pmp_write_options *options)
{
	struct pmp_path_style style = pmp_paths_style(options);
	struct pmp_paths paths;
	struct pmp_path_lines lines = { .paths = &paths, .separator = ';' };

	style.root = PMP_ROOT_IDS;
	style.waits = options->waits;
	if (pmp_paths_make(&paths, report, &style) || pmp_path_lines_make(&lines))
		pmp_buf_fail(&out->buf);
	for (size_t i = 0; i < lines.count; i++) {
		pmp_path_lines_put(&out->buf, &lines, &lines.items[i]);
		pmp_buf_printf(&out->buf, " %" PRIu64 "\n", lines.items[i].count);
		pmp_out_maybe_flush(out);
	}
	pmp_path_lines_free(&lines);
	pmp_paths_free(&paths);
}

static void write_folded_diff(struct pmp_out *out, const struct pmp_report *report,
			      const struct pmp_write_options *options)
{
	struct pmp_path_style style = pmp_paths_style(options);
	struct pmp_paths paths;
	struct pmp_path_lines lines = { .paths = &paths, .separator = ';' };
	uint64_t sum = 0, written = 0;

	style.waits = options->waits;
	if (pmp_paths_make(&paths, report, &style) || pmp_path_lines_make(&lines))
		pmp_buf_fail(&out->buf);
	for (size_t i = 0; i < lines.count; i++) {
		const struct pmp_path_line *line = &lines.items[i];
		uint64_t before = written;

		sum = line->base > UINT64_MAX - sum ? UINT64_MAX : sum + line->base;
		written = pmp_paths_rounded(&paths, sum);
		if (!line->count && written == before)
			continue;
		pmp_path_lines_put(&out->buf, &lines, line);
		pmp_buf_printf(&out->buf, " %" PRIu64 " %" PRIu64 "\n", written - before,
			       line->count);
		pmp_out_maybe_flush(out);
	}
	pmp_path_lines_free(&lines);
	pmp_paths_free(&paths);
}

const struct pmp_writer pmp_writer_folded = {
	.format = {
		.name = "folded",
		.help = "one line per stack, root first; for flame graphs",
		.extension = "folded",
		.mime = "text/plain; charset=utf-8",
		.compares = true,
	},
	.write = write_folded,
	.write_diff = write_folded_diff,
};
