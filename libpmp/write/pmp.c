/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The line of poormansprofiler.org and pt-pmp: a count, then the stack, leaf
 * first; the most frequent first.
 *
 *          12 poll(libc.so.6),vio_io_wait(mariadbd),vio_read(mariadbd),main(mariadbd)
 *
 * It is what pt-pmp makes of the raw format, module names included, except that
 * brackets whose contents are left out stay (`std::map<>::find`, `S::operator()`):
 * where pt-pmp leaves arguments standing their commas look like callers.
 */
#include <inttypes.h>

#include "write/listing.h"
#include "write/writer.h"

static void write_pmp(struct pmp_out *out, struct pmp_profile *profile,
		      const struct pmp_write_options *options)
{
	const struct pmp_path_style style = {
		.names = { .elide = true, .lines = options->lines, .module = true },
		.root = PMP_ROOT_NONE,
		.by_thread = options->by_thread,
	};
	struct pmp_paths paths;
	struct pmp_listing listing = { .paths = &paths, .separator = ',',
				       .leaf_first = true };

	if (pmp_paths_make(&paths, profile, &style) || pmp_listing_make(&listing))
		out->buf.failed = true;
	/* As `sort | uniq -c | sort -r -n -k 1,1` leaves them. */
	pmp_listing_by_count(&listing);
	for (size_t i = 0; i < listing.count; i++) {
		pmp_buf_printf(&out->buf, "%7" PRIu64 " ", listing.lines[i].count);
		pmp_listing_put(&out->buf, &listing, &listing.lines[i]);
		pmp_buf_putc(&out->buf, '\n');
		pmp_out_maybe_flush(out);
	}
	pmp_listing_free(&listing);
	pmp_paths_free(&paths);
}

const struct pmp_writer pmp_writer_pmp = {
	.format = {
		.name = "pmp",
		.help = "one line per stack, leaf first, as pt-pmp prints them",
		.extension = "pmp",
		.mime = "text/plain; charset=utf-8",
	},
	.write = write_pmp,
};
