/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What pmp says about a run besides the profile: notes on the way, --stats. */
#ifndef PMP_PMP_REPORT_H
#define PMP_PMP_REPORT_H

#include "front.h"

/** Sampling falls behind. */
void pmp_report_behind(const struct pmp_note_behind *note);
/** A target ended. */
void pmp_report_ended(const struct pmp_app *app, const struct pmp_process *process,
		      bool threads_only);
/** That no thread was wanted, if it is so. */
void pmp_report_unwanted(const struct pmp_app *app);
/** How much the filters have let pass. */
void pmp_report_filter(const struct pmp_app *app);
/** A file is complete: one line for the log. */
void pmp_report_written(const struct pmp_app *app);
/** Modules without symbols or replaced on disk. Returns how many lack symbols. */
size_t pmp_report_modules(const struct pmp_symbolizer *symbolizer);
/** Stacks that memory was too small for. */
void pmp_report_evicted(const struct pmp_app *app);
/** --stats. */
void pmp_report_stats(const struct pmp_app *app);

#endif
