/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the formats contention and mutex: as text, or as a pprof profile if asked to. */
#ifndef PMP_WRITE_DELAY_TEXT_H
#define PMP_WRITE_DELAY_TEXT_H

#include "write/delays.h"

void pmp_delay_text_write(struct pmp_out *out, const struct pmp_report *report,
			  const struct pmp_write_options *options, enum pmp_delays_of of);

#endif
