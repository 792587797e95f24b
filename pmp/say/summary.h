/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages about a run, during and after it, and --stats. */
#ifndef PMP_SAY_SUMMARY_H
#define PMP_SAY_SUMMARY_H

#include "libpmp.h"
#include "options/options.h"
#include "run/counting.h"
#include "source/targets.h"

#include <stdbool.h>
#include <stddef.h>

/** Sampling is falling behind. */
void summary_behind(const struct event_behind *event);
/** A target ended. */
void summary_ended(const struct options *options, const struct process *process,
		   bool threads_only);
/** Report that the options exclude all threads, if so. */
void summary_unwanted(const struct counting *counting, const struct targets *targets);
/** Report how much passed the filters. */
void summary_filter(const struct counting *counting);
/** A file is complete, named after a process: one line for the log. */
void summary_written(const struct counting *counting, const struct targets *targets,
		     const struct process *named, const char *path);
/** Report modules without symbols and, for running processes (run), those replaced on
 * disk. Returns how many of them have no symbols. */
size_t summary_modules(const struct options *options,
		       const struct pmp_symbolizer *symbolizer, bool run);
/** Stacks evicted for lack of memory. */
void summary_evicted(const struct counting *counting);
/** Samples of saved profiles with negative values, which cannot be counted. */
void summary_negative(const struct counting *counting);
/** Records lost by a recorder. */
void summary_heap_lost(const struct counting *counting);
/** --stats. */
void summary_stats(const struct counting *counting, const struct targets *targets);

#endif
