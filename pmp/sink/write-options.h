/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How all that is written looks, by the command line. */
#ifndef PMP_SINK_WRITE_OPTIONS_H
#define PMP_SINK_WRITE_OPTIONS_H

#include "libpmp.h"
#include "options/options.h"

#include <stdbool.h>

/** For what a run writes, and for the key w of the live view; compares: --diff. */
struct pmp_write_options write_options(const struct options *options, bool compares);

#endif
