/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folded stacks: one line per distinct stack, root first, then its count.
 *
 *     mariadbd;start_thread;handle_one_connection;do_command;poll 42
 *
 * The first frame is the process: `mariadbd`, with its id where there is more than
 * one process, and with the thread's as well (`mariadbd-4100/4102;conn-17;...`)
 * where threads are kept apart. Where the root of a stack is not known its place
 * is taken by `[not stopped: epoll_wait]` or `[truncated: ...]`. No line's last
 * frame ends in a blank and digits: some readers would take them for the count.
 */
#include <inttypes.h>

#include "write/listing.h"
#include "write/writer.h"

static void write_folded(struct pmp_out *out, struct pmp_profile *profile,
			 const struct pmp_write_options *options)
{
	struct pmp_path_style style = pmp_paths_style(options);
	struct pmp_paths paths;
	struct pmp_listing listing = { .paths = &paths, .separator = ';' };

	style.root = PMP_ROOT_IDS;
	if (pmp_paths_make(&paths, profile, &style) || pmp_listing_make(&listing))
		out->buf.failed = true;
	for (size_t i = 0; i < listing.count; i++) {
		pmp_listing_put(&out->buf, &listing, &listing.lines[i]);
		pmp_buf_printf(&out->buf, " %" PRIu64 "\n", listing.lines[i].count);
		pmp_out_maybe_flush(out);
	}
	pmp_listing_free(&listing);
	pmp_paths_free(&paths);
}

const struct pmp_writer pmp_writer_folded = {
	.format = {
		.name = "folded",
		.help = "one line per stack, root first; for flame graphs",
		.extension = "folded",
		.mime = "text/plain; charset=utf-8",
	},
	.write = write_folded,
};
