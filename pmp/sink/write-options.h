/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How output looks, according to the options. */
#ifndef PMP_SINK_WRITE_OPTIONS_H
#define PMP_SINK_WRITE_OPTIONS_H

#include "libpmp.h"
#include "options/options.h"

#include <stdbool.h>

/** For the output of a run, and for the key w of the live view; compares: --diff. */
struct pmp_write_options write_options(const struct options *options, bool compares);

#endif
