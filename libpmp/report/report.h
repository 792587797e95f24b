/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A report is what of a profile is written or shown. It stands between counting and
 * writing, and is the one thing that writers read:
 *
 *     samples -> profile (counts)  ->  report  ->  writers, the view, programs
 *                                       ^   ^
 *                                  filter   base (--diff)
 *
 * What a filter says (which stacks, which of their functions, under which names, in which
 * groups of threads) is applied when the report is made, and so is the scale of a base.
 * After that nothing but a report is read, and nothing asks whether there was a filter.
 *
 * One numbering: entries, the rows of the snapshot, runs and locations are numbered by the
 * report. A pmp_location in it is passed to pmp_report_frames() and the two after it,
 * never to a symbolizer.
 *
 * Nothing is copied without a filter: the tables are the profile's own. So a report is
 * valid until more is counted, and pmp_report_update() makes it valid again; what the
 * filter has said of a function is kept meanwhile. With a filter the tables are those of
 * filtered.c.
 *
 * Its fields are read by anybody and written by make-report.c only.
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

/* A count of the base times to / from. */
struct pmp_scale {
	uint64_t to, from; /* snapshots of both, or their sums of counts */
	bool by_totals;
};

/* What of a heap is not known. */
struct pmp_heap_losses {
	uint64_t records;	/* that were lost before they were counted */
	uint64_t blocks, bytes; /* that live, and were dropped for want of memory */
	uint64_t stackless;	/* samples that have no stack */
	uint64_t unrecorded;	/* processes for which there was no place */
};

struct pmp_report {
	/* Distinct stacks and their counts. None in the report of a snapshot. */
	const struct pmp_entry *entries;
	size_t entry_count;
	size_t distinct; /* of them, those that are stacks: not only CPU time */
	/* options.snapshot: the last sample; NULL if the profile keeps none. */
	const struct pmp_snapshot *snapshot;
	/* When threads were found with which entry; NULL: not known. */
	const struct pmp_run *runs;
	size_t run_count;

	struct pmp_profile_info totals; /* of all that was counted, filtered or not */
	struct pmp_metadata metadata;
	uint64_t shown;		       /* stacks that the filter has let pass */
	const struct pmp_report *base; /* what it is compared with, or NULL */
	struct pmp_scale scale;	       /* of the base */

	/*
	 * options.heap: the stacks are those of a recorder, and have a heap; counts are one
	 * of its values. options.with_heap: a second report is of these, with the same
	 * filter. NULL: nothing was recorded. Of both:
	 */
	struct pmp_report *heap;
	const struct pmp_process_heap *processes; /* that are or were recorded */
	size_t process_count;
	struct pmp_heap_losses losses;

	/* How it is made. */
	struct pmp_profile *profile;
	struct pmp_symbolizer *symbolizer;
	const struct pmp_filter *filter;
	struct pmp_filtered *filtered; /* NULL without a filter */
	/* Of locations as they were found, and as the filter has left them. */
	struct pmp_wait_names *found_waits, *waits;
	bool of_snapshot, of_heap, with_heap;
	struct pmp_filtered *beside; /* of .heap: of the other one */
	enum pmp_heap_value heap_value;
	uint64_t heap_age; /* of blocks that live; ns */
	uint64_t (*heap_now)(void);
	uint64_t heap_time; /* that it gave when blocks were summed up */
	const struct pmp_heap_base *heap_since; /* of what has changed since; or NULL */
	pid_t pid;				/* of this process; 0: the last one */
	bool is_sorted;
	const struct pmp_entry **sorted; /* of is_sorted: all entries */
	bool is_matched;
	struct pmp_match *matches; /* of is_matched, with a base; else NULL: match.h */
	size_t match_count;
};

/* See pmp_symbolizer_frames(), pmp_symbolizer_first_address() and pmp_symbolizer_mapping(). */
size_t pmp_report_frames(const struct pmp_report *report, pmp_location location,
			 const struct pmp_frame **frames);
void pmp_report_origin(const struct pmp_report *report, pmp_location location,
		       struct pmp_first_address *origin);
void pmp_report_mapping(const struct pmp_report *report, uint32_t number,
			struct pmp_mapping *mapping);
/*
 * What the thread of a row of the report's snapshot waits for, with its name, which is
 * looked up now; the strings are borrowed as those of frames are. False: nothing known.
 */
bool pmp_report_object(const struct pmp_report *report, const struct pmp_row *row,
		       struct pmp_object *object);
/* What blocks of row i of its snapshot's census point to. */
void pmp_report_census_word(const struct pmp_report *report, size_t i,
			    struct pmp_object *object);
/* The same of a lock that was counted. */
void pmp_report_locate_lock(const struct pmp_report *report, const struct pmp_lock *lock,
			    struct pmp_object *object);

#endif
