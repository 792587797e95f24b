/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Delays by the stacks of waiting threads: see delay-text.c. */
#include "write/delay-text.h"

static void write_contention(struct pmp_out *out, const struct pmp_report *report,
			     const struct pmp_write_options *options)
{
	pmp_delay_text_write(out, report, options, PMP_DELAYS_OF_WAITERS);
}

const struct pmp_writer pmp_writer_contention = {
	.format = {
		.name = "contention",
		.help = "for how long each stack waited for locks",
		.extension = "contention",
		.mime = "text/plain; charset=utf-8",
		.waits = true,
		.proto = true,
	},
	.write = write_contention,
};
