/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A report is the part of a profile that is written or shown. It stands between counting
 * and writing, and writers read nothing else:
 *
 *     samples -> profile (counts)  ->  report  ->  writers, the view, programs
 *                                       ^   ^
 *                                  filter   base (--diff)
 *
 * The filter (which stacks to show, which of their functions, under which names, in which
 * groups of threads) and the scale of a base are applied when the report is made. Code
 * that reads a report need not ask whether there was a filter.
 *
 * Entries, rows of the snapshot, runs and locations are numbered by the report. Pass a
 * pmp_location from it to pmp_report_frames() and the two functions after it, never to a
 * symbolizer.
 *
 * Without a filter nothing is copied: the tables are the profile's own. So a report is
 * valid until more is counted; pmp_report_update() makes it valid again and keeps what
 * the filter said of each function. With a filter the tables are those of filtered.c.
 *
 * Anybody may read the fields; only make-report.c writes them.
 */
#ifndef PMP_REPORT_REPORT_H
#define PMP_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libpmp.h"
#include "tally/profile.h"

struct pmp_filtered;
struct pmp_process_heap;
struct pmp_match;
struct pmp_wait_names;

/* Counts of the base are multiplied by to / from. */
struct pmp_scale {
	uint64_t to, from; /* rounds of both, or their sums of counts */
	bool by_totals;
};

/* What a heap profile has lost. */
struct pmp_heap_losses {
	uint64_t records;	/* lost before they were counted */
	uint64_t blocks, bytes; /* live ones dropped for want of memory */
	uint64_t stackless;	/* samples without a stack */
	uint64_t unrecorded;	/* processes there was no room for */
};

struct pmp_report {
	/* Distinct stacks and their counts. Empty in the report of a snapshot. */
	const struct pmp_entry *entries;
	size_t entry_count;
	size_t distinct; /* entries that are stacks, not just CPU time */
	/* With options.snapshot, the last sample; NULL if the profile keeps none. */
	const struct pmp_snapshot *snapshot;
	/* When threads were found in which entry; NULL: unknown. */
	const struct pmp_run *runs;
	size_t run_count;

	struct pmp_profile_info totals; /* of all that was counted, before filtering */
	struct pmp_metadata metadata;
	uint64_t shown;		       /* stacks that passed the filter */
	const struct pmp_report *base; /* to compare with, or NULL */
	struct pmp_scale scale;	       /* for the base */

	/*
	 * With options.heap, the stacks are those of a recorder and have heap values, one
	 * of which gives the counts. With options.with_heap, .heap is a second report of
	 * those stacks, with the same filter; NULL: nothing was recorded. Both have the
	 * fields after it:
	 */
	struct pmp_report *heap;
	const struct pmp_process_heap *processes; /* recorded now or before */
	size_t process_count;
	struct pmp_heap_losses losses;

	/* How it is made. */
	struct pmp_profile *profile;
	struct pmp_symbolizer *symbolizer;
	const struct pmp_filter *filter;
	struct pmp_filtered *filtered; /* NULL without a filter */
	/* For locations as found, and as left by the filter. */
	struct pmp_wait_names *found_waits, *waits;
	bool of_snapshot, of_heap, with_heap;
	struct pmp_filtered *beside; /* for .heap: that of the main report */
	enum pmp_heap_value heap_value;
	uint64_t heap_age; /* minimum age of live blocks; ns */
	uint64_t (*heap_now)(void);
	uint64_t heap_time; /* what heap_now() returned when blocks were summed */
	const struct pmp_heap_base *heap_since; /* count changes since then; or NULL */
	pid_t pid;				/* of the snapshot; 0: the last one */
	bool is_sorted;
	const struct pmp_entry **sorted; /* if is_sorted: all entries */
	bool is_matched;
	struct pmp_match *matches; /* if is_matched, with a base; else NULL: match.h */
	size_t match_count;
};

/* Like the functions of pmp_symbolizer_: frames, first_address and mapping. */
size_t pmp_report_frames(const struct pmp_report *report, pmp_location location,
			 const struct pmp_frame **frames);
void pmp_report_origin(const struct pmp_report *report, pmp_location location,
		       struct pmp_first_address *origin);
void pmp_report_mapping(const struct pmp_report *report, uint32_t number,
			struct pmp_mapping *mapping);
/*
 * The object that the thread of a row of the report's snapshot waits for. Looks up its
 * name now; strings are borrowed like those of frames. False: unknown.
 */
bool pmp_report_object(const struct pmp_report *report, const struct pmp_row *row,
		       struct pmp_object *object);
/* What the blocks in row i of the snapshot's census point to. */
void pmp_report_census_word(const struct pmp_report *report, size_t i,
			    struct pmp_object *object);
/* The object of a lock that was counted. */
void pmp_report_locate_lock(const struct pmp_report *report, const struct pmp_lock *lock,
			    struct pmp_object *object);

#endif
