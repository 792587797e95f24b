/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stacks of a report and of its base by their names, for programs: equal ones are one,
 * with the counts of both. Writers do the same with write/paths.h, as their own styles of
 * names say.
 */
#ifndef PMP_REPORT_MATCH_H
#define PMP_REPORT_MATCH_H

#include <stddef.h>
#include <stdint.h>

#include "report/report.h"

struct pmp_match {
	const struct pmp_report *report; /* itself or its base: whose the entry is */
	const struct pmp_entry *entry;	 /* the first of those that are one */
	uint64_t count, base_count;	 /* of all of them; the base's unscaled */
	uint64_t cpu, wall;		 /* without the base's */
};

/* Fill report->matches, of a report with a base. 0 or PMP_ENOMEM. */
int pmp_match_make(struct pmp_report *report);

#endif
