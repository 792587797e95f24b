/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls that took memory from the kernel: see heap-text.c. */
#include "write/heap-text.h"

static void write_growth(struct pmp_out *out, const struct pmp_report *report,
			 const struct pmp_write_options *options)
{
	(void)options;
	pmp_heap_text_write(out, report, true);
}

const struct pmp_writer pmp_writer_growth = {
	.format = {
		.name = "growth",
		.help = "calls that made the heap grow, for google-pprof (--heap)",
		.extension = "growth",
		.mime = "text/plain; charset=utf-8",
		.unsaved = true,
		.heap = PMP_HEAP_ALONE,
	},
	.write = write_growth,
};
