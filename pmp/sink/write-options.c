/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See write-options.h. */
#include "sink/write-options.h"

#include <sys/ioctl.h>
#include <unistd.h>

/* The width of standard output if that is a terminal, for formats that cut lines:
 * comparisons and who waits for whom, without -v; else 0. */
static unsigned columns(const struct options *options, bool compares)
{
	bool cuts = compares || (options->format && options->format->live);
	struct winsize size = { 0 };

	if (!cuts || options->output || options->verbose ||
	    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0)
		return 0;
	return size.ws_col;
}

struct pmp_write_options write_options(const struct options *options, bool compares)
{
	return (struct pmp_write_options){
		.size = sizeof(struct pmp_write_options),
		.by_thread = options->by_thread || options->by_group,
		.lines = options->lines,
		.module = options->module,
		.raw_names = options->by_thread,
		.title = options->title,
		.width = (unsigned)options->width,
		.icicle = options->icicle,
		.by_state = options->by_state,
		.legend = options->verbose > 0,
		.all_rows = options->verbose > 0,
		.columns = columns(options, compares),
		.sort = (enum pmp_sort)options->sort,
		.proto = options->proto,
		.waits = options->waits,
		.by_lock = options->by_lock,
	};
}
