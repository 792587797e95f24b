/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two reports side by side: how the counts of one, the base, become comparable with
 * those of the other. What belongs together is a matter of names: write/paths.h.
 *
 * A thread that waits all the time is counted once in each round of snapshots, one of
 * each process. So it is the numbers of rounds that make two profiles alike, not the sums
 * of their counts, which grow with the number of threads, nor the numbers of snapshots,
 * which grow with that of processes. Only where one of them does not know its rounds are
 * the sums made equal; what is no number of stacks is left as it is.
 */
#ifndef PMP_REPORT_DIFF_H
#define PMP_REPORT_DIFF_H

#include <stdint.h>

#include "report/report.h"

struct pmp_scale pmp_diff_scale(const struct pmp_report *report,
				const struct pmp_report *base);
double pmp_diff_scaled(const struct pmp_scale *scale, uint64_t count);
/* What the base's process is to be called: as the other's where both are of one process
 * name only. NULL: as it is. */
const char *pmp_diff_process(const struct pmp_report *report,
			     const struct pmp_report *base);

#endif
