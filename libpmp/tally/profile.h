/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counting: samples come in, distinct stacks with their counts go out. A stack
 * is a list of locations; seeing one again costs one addition. Names are looked
 * up only when a writer asks for them.
 */
#ifndef PMP_TALLY_PROFILE_H
#define PMP_TALLY_PROFILE_H

#include "libpmp.h"
#include "resolve/symbolizer.h"
#include "tally/heap.h"
#include "tally/sample-type.h"
#include "tally/snapshot.h"
#include "tally/stack-table.h"
#include "tally/timeline.h"

#include <stddef.h>
#include <stdint.h>

size_t pmp_profile_entry_count(const struct pmp_profile *profile);
/* Borrowed until the next pmp_profile_add(). */
const struct pmp_entry *pmp_profile_entry(const struct pmp_profile *profile, size_t i);

/* The last sample of a process; pid 0: of any process. NULL without options.keep_snapshot
 * and before the first one. Borrowed until the next pmp_profile_add(). */
const struct pmp_snapshot *pmp_profile_snapshot(const struct pmp_profile *profile,
						pid_t pid);

/* options.times: when threads were found in which entry. NULL: not kept, or too many runs.
 * Borrowed until the next pmp_profile_add(). */
const struct pmp_run *pmp_profile_runs(const struct pmp_profile *profile, size_t *count);

const struct pmp_profile_options *pmp_profile_options(const struct pmp_profile *profile);

/* Divide the CPU time used so far among the entries; may add entries. Call it before
 * reading entries. 0 or PMP_ENOMEM. */
int pmp_profile_divide_cpu(struct pmp_profile *profile);
/* Grows whenever unused locations have been dropped: their numbers may be reused then, and
 * what was borrowed from the symbolizer is no longer valid. */
uint64_t pmp_profile_sweeps(const struct pmp_profile *profile);

/* How a profile came about. */
struct pmp_metadata {
	uint64_t realtime;   /* CLOCK_REALTIME of the first sample; 0: unknown */
	uint64_t duration;   /* ns from the first to the last sample */
	uint64_t period;     /* ns between samples, as requested; 0: unknown, or files
			      * of different ones */
	const char *command; /* "": unknown */
	const char *host;    /* name of the machine; "": unknown */
	bool guessed;	     /* the number of samples is a guess */
	struct pmp_sample_type
		sample_type; /* what is counted; pmp_profile_join(): NULL means "" */
};
void pmp_profile_metadata(const struct pmp_profile *profile,
			  struct pmp_metadata *metadata);

/* ---- for windows of the past, and for views of a heap ---------------------- */

/* Count rounds: a round ends with the first process that is sampled again. time: of the
 * sample; before: of the previous sample of its process, 0: there was none; *start: of the
 * first sample in the round. */
void pmp_profile_count_round(struct pmp_profile_info *info, uint64_t *start,
			     uint64_t before, uint64_t time);

/* The parts of a profile; timeline is NULL without options.times, live without
 * options.live. */
struct pmp_profile_parts {
	struct pmp_entries *entries;
	struct pmp_cpu_time *times;
	struct pmp_timeline *timeline;
	struct pmp_histogram *stops;
	struct pmp_profile_info *info;
	struct pmp_metadata *metadata;
	struct pmp_live *live;
};
struct pmp_profile_parts pmp_profile_parts(struct pmp_profile *profile);
/* Sum up the times of groups of threads from what has been counted. 0 or PMP_ENOMEM. */
int pmp_profile_sum_groups(struct pmp_profile *profile);
/* NULL: no times of groups are summed up. */
struct pmp_group_sums *pmp_profile_groups(struct pmp_profile *profile);
/* NULL without options.heap. */
struct pmp_heap *pmp_profile_heap(const struct pmp_profile *profile);
/* NULL without options.history. */
const struct pmp_history *pmp_profile_past(const struct pmp_profile *profile);

/* ---- for the reader of saved profiles ------------------------------------ */

struct pmp_symbolizer *pmp_profile_symbolizer(struct pmp_profile *profile);
/* Count a stack: add the entry's counts and times to those of the entry with the same key.
 * Everything is copied. 0 or PMP_ENOMEM. */
int pmp_profile_count(struct pmp_profile *profile, const struct pmp_entry *entry);
/* The same, but without bounding memory or counting for a view. Returns the index of the
 * entry; UINT32_MAX: out of memory. */
uint32_t pmp_profile_count_entry(struct pmp_profile *profile,
				 const struct pmp_entry *entry);
/* Add the counts of another run (but not .distinct or times of day), and take over the
 * metadata that this profile lacks. 0 or PMP_ENOMEM. */
int pmp_profile_join(struct pmp_profile *profile, const struct pmp_profile_info *info,
		     const struct pmp_metadata *metadata);

#endif
