/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --diff: the profile that what is sampled or read is compared with. */
#ifndef PMP_SOURCE_DIFF_H
#define PMP_SOURCE_DIFF_H

#include "run/run.h"

/**
 * Read the base, if there is one: before anything is sampled, as it may be no profile.
 * 0, or the status to end with: the message is printed.
 */
int diff_read(struct run *run);
/** Do both count the same? 0, or a status with the message printed. */
int diff_check(const struct run *run);
/** What fits into a line of standard output if that is a terminal, for a comparison that
 * is not to be verbose; else 0. */
unsigned diff_columns(const struct run *run);
/** Say what there is to know of the comparison before its numbers are believed. */
void diff_report(const struct run *run);

#endif
