/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a filter leaves of a profile: entries, runs and the last snapshot, with locations
 * of their own. Entries that become equal by filtering are merged.
 */
#ifndef PMP_REPORT_FILTERED_H
#define PMP_REPORT_FILTERED_H

#include <stddef.h>
#include <stdint.h>

#include "libpmp.h"
#include "tally/profile.h"

struct pmp_filtered;

/* The arguments are borrowed. heap: entries have heap values. beside: NULL, or another
 * one with the same filter and profile that outlives this one; the two share location
 * numbers. NULL: no memory. */
struct pmp_filtered *pmp_filtered_new(const struct pmp_filter *filter,
				      struct pmp_profile *profile, bool heap,
				      struct pmp_filtered *beside);
void pmp_filtered_free(struct pmp_filtered *filtered);

/* Filter and copy these. Runs, which may be NULL, refer to the entries passed before.
 * 0 or PMP_ENOMEM. */
int pmp_filtered_make_entries(struct pmp_filtered *filtered,
			      const struct pmp_entry *entries, size_t count);
int pmp_filtered_make_runs(struct pmp_filtered *filtered, const struct pmp_run *runs,
			   size_t count);
/* The snapshot is borrowed until the next call. 0 or PMP_ENOMEM. */
int pmp_filtered_make_snapshot(struct pmp_filtered *filtered,
			       const struct pmp_snapshot *snapshot);

/* The filtered tables. */
const struct pmp_entry *pmp_filtered_entries(const struct pmp_filtered *filtered,
					     size_t *count);
size_t pmp_filtered_distinct(const struct pmp_filtered *filtered);
const struct pmp_run *pmp_filtered_runs(const struct pmp_filtered *filtered,
					size_t *count);
const struct pmp_snapshot *pmp_filtered_snapshot(const struct pmp_filtered *filtered);
/* How many stacks of the entries, and rows of all snapshots so far, are shown. */
uint64_t pmp_filtered_stack_count(const struct pmp_filtered *filtered);
uint64_t pmp_filtered_row_count(const struct pmp_filtered *filtered);

/* Look up a location of these tables; see report/filter-stack.h. */
size_t pmp_filtered_frames(const struct pmp_filtered *filtered, pmp_location location,
			   const struct pmp_frame **frames);
void pmp_filtered_origin(const struct pmp_filtered *filtered, pmp_location location,
			 struct pmp_first_address *origin);

#endif
