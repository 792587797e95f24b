/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Delays by the stacks of lock holders: see delay-text.c. */
#include "write/delay-text.h"

static void write_mutex(struct pmp_out *out, const struct pmp_report *report,
			const struct pmp_write_options *options)
{
	pmp_delay_text_write(out, report, options, PMP_DELAYS_OF_HOLDERS);
}

const struct pmp_writer pmp_writer_mutex = {
	.format = {
		.name = "mutex",
		.help = "how long others waited, by the stacks that held locks",
		.extension = "mutex",
		.mime = "text/plain; charset=utf-8",
		.waits = true,
		.proto = true,
	},
	.write = write_mutex,
};
