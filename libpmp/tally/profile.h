/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counting: samples come in, distinct stacks with their counts go out. A stack
 * is a list of locations; one that is seen again costs one addition. Names are
 * asked for when a writer wants them.
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

/* The last sample of a process, or with 0 of any. NULL without options.keep_snapshot and
 * before the first one; borrowed until the next pmp_profile_add(). */
const struct pmp_snapshot *pmp_profile_snapshot(const struct pmp_profile *profile,
						pid_t pid);

/* options.times: when threads were found with which entry. NULL: not kept, or too
 * many. Borrowed until the next pmp_profile_add(). */
const struct pmp_run *pmp_profile_runs(const struct pmp_profile *profile, size_t *count);

const struct pmp_profile_options *pmp_profile_options(const struct pmp_profile *profile);

/* Give the CPU time that was used so far to the entries, of which there may be more then.
 * To be called before entries are read. 0 or PMP_ENOMEM. */
int pmp_profile_divide_cpu(struct pmp_profile *profile);
/* Grows when numbers of locations are given to others, and what the symbolizer had lent of
 * them is gone. */
uint64_t pmp_profile_sweeps(const struct pmp_profile *profile);

/* How a profile came about. */
struct pmp_metadata {
	uint64_t realtime;   /* CLOCK_REALTIME of the first sample; 0: unknown */
	uint64_t duration;   /* from the first to the last */
	uint64_t period;     /* between samples, as was asked for; 0: unknown */
	const char *command; /* "": unknown */
	const char *host;    /* name of the machine; "": unknown */
	bool guessed;	     /* the number of samples is not known but guessed */
	struct pmp_sample_type
		sample_type; /* what is counted; to be joined: NULLs are "" */
};
void pmp_profile_metadata(const struct pmp_profile *profile,
			  struct pmp_metadata *metadata);

/* ---- for windows of the past, and for views of a heap ---------------------- */

/* A sample of a process, whose last one was at the time before (0: it is the first). A round
 * ends when a process comes again that has been in it; *start: time of its first sample. */
void pmp_profile_count_round(struct pmp_profile_info *info, uint64_t *start,
			     uint64_t before, uint64_t time);

/* What a profile is made of; its timeline is NULL without options.times, what is counted
 * for a view without options.live. */
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
/* Sum up the times of its groups, of what has been counted. 0 or PMP_ENOMEM. */
int pmp_profile_sum_groups(struct pmp_profile *profile);
/* NULL: they are not summed up. */
struct pmp_group_sums *pmp_profile_groups(struct pmp_profile *profile);
/* NULL without options.heap. */
struct pmp_heap *pmp_profile_heap(const struct pmp_profile *profile);
/* NULL without options.history. */
const struct pmp_history *pmp_profile_past(const struct pmp_profile *profile);

/* ---- for the reader of saved profiles ------------------------------------ */

struct pmp_symbolizer *pmp_profile_symbolizer(struct pmp_profile *profile);
/* Count a stack: entry's count, cpu and wall are added to those of the same key.
 * Everything is copied. 0 or PMP_ENOMEM. */
int pmp_profile_count(struct pmp_profile *profile, const struct pmp_entry *entry);
/* The same; returns the number of the entry, or UINT32_MAX: no memory. */
uint32_t pmp_profile_count_entry(struct pmp_profile *profile,
				 const struct pmp_entry *entry);
/* Add what another run has counted (times of day and distinct aside); what was not
 * known of how the profile came about is taken over. 0 or PMP_ENOMEM. */
int pmp_profile_join(struct pmp_profile *profile, const struct pmp_profile_info *info,
		     const struct pmp_metadata *metadata);

#endif
