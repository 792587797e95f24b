/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Comparing two reports: makes the counts of one, the base, comparable with those of the
 * other. Stacks are matched by name: write/paths.h.
 *
 * A thread that waits all the time is counted once per round, which takes one snapshot of
 * each process. So profiles are scaled by their numbers of rounds: sums of counts grow
 * with the number of threads, and snapshots with the number of processes. If either
 * number of rounds is unknown, the sums are made equal instead; values that are not
 * numbers of stacks are not scaled then, and those of heaps never are.
 */
#ifndef PMP_REPORT_DIFF_H
#define PMP_REPORT_DIFF_H

#include <stdbool.h>
#include <stdint.h>

#include "report/report.h"

/* Are its values bytes or blocks of a heap? */
bool pmp_report_is_of_heap(const struct pmp_report *report);
struct pmp_scale pmp_diff_scale(const struct pmp_report *report,
				const struct pmp_report *base);
double pmp_diff_scaled(const struct pmp_scale *scale, uint64_t count);
/* What to call the base's process: if each report has one process name and the two
 * differ, the report's name; else NULL, keep the base's own names. */
const char *pmp_diff_process(const struct pmp_report *report,
			     const struct pmp_report *base);

#endif
