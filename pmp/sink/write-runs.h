/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a run writes: the tables are in sink.h. */
#ifndef PMP_SINK_WRITE_RUNS_H
#define PMP_SINK_WRITE_RUNS_H

#include "run/run.h"

/** How all that is written looks, by the command line: what the run writes, and what the
 * key w of the live view does. */
struct pmp_write_options results_options(const struct run *run);

#endif
