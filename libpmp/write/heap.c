/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Live and allocated memory for google-pprof: see heap-text.c. */
#include "write/heap-text.h"

static void write_heap(struct pmp_out *out, const struct pmp_report *report,
		       const struct pmp_write_options *options)
{
	(void)options;
	pmp_heap_text_write(out, report, false);
}

const struct pmp_writer pmp_writer_heap = {
	.format = {
		.name = "heap",
		.help = "live and allocated memory, for google-pprof (--heap)",
		.extension = "heap",
		.mime = "text/plain; charset=utf-8",
		.heap = PMP_HEAP_ALONE,
	},
	.write = write_heap,
};
