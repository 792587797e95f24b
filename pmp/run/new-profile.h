/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The profile in which samples are counted, and its names: as the options want them. */
#ifndef PMP_RUN_NEW_PROFILE_H
#define PMP_RUN_NEW_PROFILE_H

#include "run/run.h"

#include <stdbool.h>

/** A profile of a saved one or of samples, with its symbolizer. 0 or an enum pmp_status. */
int counting_make(const struct run *run, bool saved, struct pmp_symbolizer **symbolizer,
		  struct pmp_profile **profile, struct pmp_error *err);
/** Count from the beginning; on failure what was counted stays. 0 or PMP_ENOMEM. */
int counting_restart(struct run *run, struct pmp_error *err);
/** What is to be written of all that was counted so far: run->report. 0 or an error. */
int counting_report(struct run *run, struct pmp_error *err);

#endif
