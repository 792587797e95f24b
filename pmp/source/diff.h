/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --diff: the profile that what is sampled or read is compared with. */
#ifndef PMP_SOURCE_DIFF_H
#define PMP_SOURCE_DIFF_H

struct counting;
struct source;

/**
 * Read the base, if there is one: before anything is sampled, as it may be no profile.
 * 0, or the status to end with: the message is printed.
 */
int diff_read(struct source *source);
/** Do both count the same? 0, or a status with the message printed. */
int diff_check(const struct counting *counting);
/** Say what there is to know of the comparison before its numbers are believed. */
void diff_report(const struct counting *counting);

#endif
