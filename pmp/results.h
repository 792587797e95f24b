/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a run writes, and when. */
#ifndef PMP_PMP_RESULTS_H
#define PMP_PMP_RESULTS_H

#include "front.h"

#include <stdint.h>

/** Open the output, named after app->named. A failure is told and noted in app. */
void pmp_results_open(struct pmp_app *app);
/** Write the profile in its format, as far as it has come; it is not complete by that. */
void pmp_results_write(struct pmp_app *app);
/** USR1: what there is, now. Snapshots are written when they arrive. */
void pmp_results_now(struct pmp_app *app);
/**
 * --every: the file in hand is complete; another one begins, with a profile of its own.
 * now: when a snapshot was taken, which may have waited long for us, or this moment.
 */
void pmp_results_next(struct pmp_app *app, uint64_t now);
/** There will be no more samples: complete what is in hand. */
void pmp_results_end(struct pmp_app *app);

#endif
