/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Matches the stacks of a report and of its base by name, for programs: equal stacks
 * become one, with the counts of both. Writers match with write/paths.h instead, by their
 * own styles of names.
 */
#ifndef PMP_REPORT_MATCH_H
#define PMP_REPORT_MATCH_H

#include <stddef.h>
#include <stdint.h>

#include "report/report.h"

struct pmp_match {
	const struct pmp_report *report; /* the report or its base: owns entry */
	const struct pmp_entry *entry;	 /* the first of the merged ones */
	uint64_t count, base_count;	 /* sums; the base's is not scaled */
	uint64_t cpu, wall;		 /* of the report only */
};

/* Fill report->matches; the report must have a base. 0 or PMP_ENOMEM. */
int pmp_match_make(struct pmp_report *report);

#endif
