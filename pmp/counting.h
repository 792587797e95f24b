/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The profile in which samples are counted, and its names: as the options want them. */
#ifndef PMP_PMP_COUNTING_H
#define PMP_PMP_COUNTING_H

#include "front.h"

#include <stdbool.h>

/** A profile of a saved one or of samples, with its symbolizer. 0 or an enum pmp_status. */
int pmp_counting_make(const struct pmp_app *app, bool saved,
		      struct pmp_symbolizer **symbolizer, struct pmp_profile **profile,
		      struct pmp_error *err);
/** Count from the beginning; on failure what was counted stays. 0 or PMP_ENOMEM. */
int pmp_counting_restart(struct pmp_app *app, struct pmp_error *err);

#endif
