/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --diff: reads the base, the profile to compare with. */
#ifndef PMP_SOURCE_DIFF_H
#define PMP_SOURCE_DIFF_H

struct counting;
struct source;

/**
 * Read the base, if there is one: before anything is sampled, as it may not be a profile.
 * 0, or the status to exit with, with the message printed.
 */
int diff_read(struct source *source);
/** Check that both count the same. 0, or a status with the message printed. */
int diff_check(const struct counting *counting);
/** Report what limits the comparison. */
void diff_report(const struct counting *counting);

#endif
