/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The entries of a report in an order that does not depend on when they came. */
#ifndef PMP_REPORT_SORT_H
#define PMP_REPORT_SORT_H

#include <stdbool.h>

#include "report/report.h"

/*
 * The most frequent first; equal ones by process, thread and stack. *entries has
 * report->entry_count pointers and is to be freed. 0 or PMP_ENOMEM.
 */
int pmp_sort_entries(const struct pmp_report *report, const struct pmp_entry ***entries);
/* How many of these stand for stacks that were found; after them come those that have CPU
 * time only. */
size_t pmp_sort_found(const struct pmp_report *report,
		      const struct pmp_entry *const *entries);
/* As pmp_sort_entries(), thread by thread: of each process the threads in the order of their ids. */
int pmp_sort_threads(const struct pmp_report *report, const struct pmp_entry ***entries);
/* Do both belong to one thread of one process? */
bool pmp_sort_same_thread(const struct pmp_entry *a, const struct pmp_entry *b);

#endif
