/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What pmp says about a run besides the profile: messages on the way, --stats. */
#ifndef PMP_SAY_SUMMARY_H
#define PMP_SAY_SUMMARY_H

#include "libpmp.h"
#include "options/options.h"
#include "run/counting.h"
#include "source/targets.h"

#include <stdbool.h>
#include <stddef.h>

/** Sampling falls behind. */
void summary_behind(const struct event_behind *event);
/** A target ended. */
void summary_ended(const struct options *options, const struct process *process,
		   bool threads_only);
/** That the options leave out all threads, if it is so. */
void summary_unwanted(const struct counting *counting, const struct targets *targets);
/** How much the filters have let pass. */
void summary_filter(const struct counting *counting);
/** A file is complete, named after a process: one line for the log. */
void summary_written(const struct counting *counting, const struct targets *targets,
		     const struct process *named, const char *path);
/** Modules without symbols or, if processes run, replaced on disk. Returns how many lack
 * symbols. */
size_t summary_modules(const struct options *options,
		       const struct pmp_symbolizer *symbolizer, bool run);
/** Stacks that memory was too small for. */
void summary_evicted(const struct counting *counting);
/** Samples of saved profiles that cannot be counted. */
void summary_negative(const struct counting *counting);
/** Records of a recorder that were lost. */
void summary_heap_lost(const struct counting *counting);
/** --stats. */
void summary_stats(const struct counting *counting, const struct targets *targets);

#endif
