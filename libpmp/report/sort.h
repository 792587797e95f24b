/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sorts the entries of a report independently of the order in which they came. */
#ifndef PMP_REPORT_SORT_H
#define PMP_REPORT_SORT_H

#include <stdbool.h>

#include "report/report.h"

/*
 * The most frequent first; equal ones by process, thread and stack. *entries gets
 * report->entry_count pointers, which the caller frees. 0 or PMP_ENOMEM.
 */
int pmp_sort_entries(const struct pmp_report *report, const struct pmp_entry ***entries);
/* How many sorted entries are stacks that were found; those with only CPU time follow. */
size_t pmp_sort_found(const struct pmp_report *report,
		      const struct pmp_entry *const *entries);
/* Like pmp_sort_entries(), but grouped by thread: by process, then by thread id. */
int pmp_sort_threads(const struct pmp_report *report, const struct pmp_entry ***entries);
/* Do both belong to one thread of one process? */
bool pmp_sort_same_thread(const struct pmp_entry *a, const struct pmp_entry *b);

#endif
