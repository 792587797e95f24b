/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What pmp says about a run besides the profile: notes on the way, --stats. */
#ifndef PMP_SAY_SUMMARY_H
#define PMP_SAY_SUMMARY_H

#include "run/run.h"

/** Sampling falls behind. */
void report_behind(const struct note_behind *note);
/** A target ended. */
void report_ended(const struct run *run, const struct process *process,
		  bool threads_only);
/** That the options leave out all threads, if it is so. */
void report_unwanted(const struct run *run);
/** How much the filters have let pass. */
void report_filter(const struct run *run);
/** A file is complete: one line for the log. */
void report_written(const struct run *run);
/** Modules without symbols or replaced on disk. Returns how many lack symbols. */
size_t report_modules(const struct pmp_symbolizer *symbolizer);
/** Stacks that memory was too small for. */
void report_evicted(const struct run *run);
/** --stats. */
void report_stats(const struct run *run);

#endif
