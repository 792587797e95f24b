/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --diff: the profile that what is sampled or read is compared with. */
#ifndef PMP_PMP_DIFF_H
#define PMP_PMP_DIFF_H

#include "front.h"

/**
 * Read the base, if there is one: before anything is sampled, as it may be no profile.
 * 0, or the status to end with: the message is printed.
 */
int pmp_diff_read(struct pmp_app *app);
/** Do both count the same? 0, or a status with the message printed. */
int pmp_diff_check(const struct pmp_app *app);
/** What fits into a line of standard output if that is a terminal, for a comparison that
 * is not to be verbose; else 0. */
unsigned pmp_diff_columns(const struct pmp_app *app);
/** Say what there is to know of the comparison before its numbers are believed. */
void pmp_diff_report(const struct pmp_app *app);

#endif
