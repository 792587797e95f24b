/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes reports. Without a filter a report borrows the profile's tables. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/sized.h"
#include "report/diff.h"
#include "report/filtered.h"
#include "report/match.h"
#include "report/report.h"
#include "report/sort.h"
#include "report/wait-kinds.h"
#include "tally/sample-type.h"

/* The snapshot to report; NULL: report all that was counted. */
static const struct pmp_snapshot *snapshot_of(const struct pmp_report *report)
{
	return report->of_snapshot && !report->of_heap
		       ? pmp_profile_snapshot(report->profile, report->pid)
		       : NULL;
}

/* ---- of a heap ------------------------------------------------------------------- */

/* Counts are those of one value, as in a saved profile of that value. */
static void describe_heap(struct pmp_report *report)
{
	const struct pmp_heap *heap = pmp_profile_heap(report->profile);
	const struct pmp_entries *entries = pmp_heap_entries(heap);

	report->metadata.sample_type = (struct pmp_sample_type){
		pmp_heap_value_name(report->heap_value),
		pmp_heap_value_unit(report->heap_value),
	};
	report->totals.stacks = 0;
	for (size_t i = 0; i < entries->count; i++)
		report->totals.stacks =
			pmp_count_sum(report->totals.stacks, entries->all[i].count);
	report->totals.distinct = entries->count;
	report->totals.truncated = report->totals.not_stopped = 0;
	report->totals.evicted = report->totals.evicted_distinct = 0;
	if (report->heap_since) {
		report->metadata.realtime = report->heap_since->realtime;
		report->metadata.duration = pmp_clock() - report->heap_since->time;
	}
}

static void describe_processes(struct pmp_report *report)
{
	const struct pmp_heap *heap = pmp_profile_heap(report->profile);
	const struct pmp_blocks *blocks;

	if (!heap)
		return;
	blocks = pmp_heap_blocks(heap);
	report->processes = pmp_heap_processes(heap, &report->process_count);
	report->losses = (struct pmp_heap_losses){
		.records = pmp_heap_lost(heap),
		.blocks = blocks->evicted,
		.bytes = blocks->evicted_bytes,
		.stackless = pmp_heap_stackless(heap),
		.unrecorded = pmp_heap_unrecorded(heap),
	};
}

/* The stacks as recorded. 0 or PMP_ENOMEM. */
static int take_heap(struct pmp_report *report)
{
	struct pmp_heap *heap = pmp_profile_heap(report->profile);
	const struct pmp_entries *entries = pmp_heap_entries(heap);

	report->heap_time = report->heap_now ? report->heap_now() : 0;
	pmp_heap_sum(heap, report->heap_time, report->heap_age, report->heap_value,
		     report->heap_since);
	describe_heap(report);
	report->shown = report->totals.stacks;
	report->entries = entries->all;
	report->entry_count = report->distinct = entries->count;
	if (!report->filtered)
		return 0;
	if (pmp_filtered_make_entries(report->filtered, entries->all, entries->count))
		return PMP_ENOMEM;
	report->entries = pmp_filtered_entries(report->filtered, &report->entry_count);
	report->distinct = report->entry_count;
	report->shown = pmp_filtered_stack_count(report->filtered);
	return 0;
}

/* ---- of samples ------------------------------------------------------------------- */

/* Borrow all that was counted, unfiltered. */
static void borrow(struct pmp_report *report)
{
	report->shown = report->totals.stacks;
	report->snapshot = snapshot_of(report);
	if (report->snapshot)
		return;
	report->entry_count = pmp_profile_entry_count(report->profile);
	report->distinct = report->totals.distinct;
	report->entries = pmp_profile_entry(report->profile, 0);
	report->runs = pmp_profile_runs(report->profile, &report->run_count);
}

/* Like borrow(), through the filter. 0 or PMP_ENOMEM. */
static int filter(struct pmp_report *report)
{
	const struct pmp_snapshot *snapshot = snapshot_of(report);
	struct pmp_filtered *filtered = report->filtered;
	const struct pmp_run *runs;
	size_t count;

	if (snapshot) {
		if (pmp_filtered_make_snapshot(filtered, snapshot))
			return PMP_ENOMEM;
		report->snapshot = pmp_filtered_snapshot(filtered);
		report->shown = pmp_filtered_row_count(filtered);
		return 0;
	}
	runs = pmp_profile_runs(report->profile, &count);
	if (pmp_filtered_make_entries(filtered, pmp_profile_entry(report->profile, 0),
				      pmp_profile_entry_count(report->profile)) ||
	    pmp_filtered_make_runs(filtered, runs, count))
		return PMP_ENOMEM;
	report->entries = pmp_filtered_entries(filtered, &report->entry_count);
	report->distinct = pmp_filtered_distinct(filtered);
	report->runs = pmp_filtered_runs(filtered, &report->run_count);
	report->shown = pmp_filtered_stack_count(filtered);
	return 0;
}

static void forget(struct pmp_report *report)
{
	free(report->sorted);
	report->sorted = NULL;
	free(report->matches);
	report->matches = NULL;
	report->match_count = 0;
	report->entries = NULL;
	report->snapshot = NULL;
	report->runs = NULL;
	report->entry_count = report->distinct = report->run_count = 0;
	report->shown = 0;
	report->processes = NULL;
	report->process_count = 0;
}

static int make_beside(struct pmp_report *report);

static int make(struct pmp_report *report)
{
	const bool has_snapshot = snapshot_of(report);

	forget(report);
	if (!has_snapshot && pmp_profile_divide_cpu(report->profile))
		return PMP_ENOMEM;
	report->totals.size = sizeof(report->totals);
	pmp_profile_info(report->profile, &report->totals);
	pmp_profile_metadata(report->profile, &report->metadata);
	describe_processes(report);
	if (report->of_heap) {
		if (take_heap(report))
			return PMP_ENOMEM;
	} else if (!report->filtered) {
		borrow(report);
	} else if (filter(report)) {
		return PMP_ENOMEM;
	}
	if (make_beside(report))
		return PMP_ENOMEM;
	if (report->is_sorted)
		return pmp_sort_entries(report, &report->sorted);
	return 0;
}

/* Refuses to compare bytes with stacks. */
static int compare(struct pmp_report *report, struct pmp_error *err)
{
	const struct pmp_sample_type *its = &report->metadata.sample_type;
	const struct pmp_sample_type *bases = &report->base->metadata.sample_type;
	char one[128], other[128];

	if (!pmp_sample_type_is_same(its, bases))
		return pmp_error_set(err, PMP_EINVAL,
				     "cannot compare %s with a base of %s",
				     pmp_sample_type_text(its, one, sizeof(one)),
				     pmp_sample_type_text(bases, other, sizeof(other)));
	report->scale = pmp_diff_scale(report, report->base);
	if (report->is_matched && !report->snapshot && pmp_match_make(report)) {
		forget(report);
		return pmp_error_nomem(err, "comparing profiles");
	}
	return 0;
}

int pmp_report_update(struct pmp_report *report, struct pmp_error *err)
{
	bool failed;
	int code;

	if (report->of_snapshot && report->pid && !snapshot_of(report)) {
		forget(report);
		return pmp_error_set(err, PMP_ESRCH, "there is no snapshot of process %d",
				     (int)report->pid);
	}
	failed = make(report);
	code = pmp_filter_problem(report->filter, err);
	if (failed || code) {
		forget(report);
		return code ? code : pmp_error_nomem(err, "filtering a profile");
	}
	return report->base ? compare(report, err) : 0;
}

/* Make what lives as long as the report. 0 or PMP_ENOMEM. */
static int prepare(struct pmp_report *report)
{
	report->found_waits = pmp_wait_names_new();
	report->waits = pmp_wait_names_new();
	if (!report->found_waits || !report->waits)
		return PMP_ENOMEM;
	if (!pmp_filter_is_active(report->filter))
		return 0;
	report->filtered = pmp_filtered_new(report->filter, report->profile,
					    report->of_heap, report->beside);
	return report->filtered ? 0 : PMP_ENOMEM;
}

/* Make or update the second report, of the heap, if anything was recorded. */
static int make_beside(struct pmp_report *report)
{
	const struct pmp_heap *heap = pmp_profile_heap(report->profile);
	struct pmp_report *new;

	if (!report->with_heap || report->of_heap || !heap || !pmp_heap_is_used(heap))
		return 0;
	if (report->heap)
		return make(report->heap);
	new = calloc(1, sizeof(*new));
	if (!new)
		return PMP_ENOMEM;
	report->heap = new;
	new->profile = report->profile;
	new->symbolizer = report->symbolizer;
	new->filter = report->filter;
	new->of_heap = true;
	new->heap_value = PMP_HEAP_INUSE_SPACE;
	new->heap_age = report->heap_age;
	new->heap_now = report->heap_now;
	new->beside = report->filtered;
	return prepare(new) ? PMP_ENOMEM : make(new);
}

int pmp_report_new(struct pmp_profile *profile, const struct pmp_filter *filter,
		   const struct pmp_report_options *options, struct pmp_report **report,
		   struct pmp_error *err)
{
	struct pmp_report *new = calloc(1, sizeof(*new));
	struct pmp_report_options all = { 0 };
	int code;

	*report = NULL;
	if (!new)
		return pmp_error_nomem(err, "making a report");
	pmp_sized_take(&all, sizeof(all), options);
	new->profile = profile;
	new->symbolizer = pmp_profile_symbolizer(profile);
	new->of_snapshot = all.snapshot;
	new->pid = all.pid;
	new->is_sorted = all.sorted;
	new->base = all.base;
	new->is_matched = all.matched;
	new->filter = filter;
	new->of_heap = all.heap &&pmp_profile_heap(profile);
	new->with_heap = all.with_heap;
	new->heap_age = all.heap_age;
	new->heap_now = all.heap_now;
	new->heap_since = all.heap_since;
	new->heap_value = PMP_HEAP_INUSE_SPACE;
	if (all.heap_value)
		pmp_heap_value_find(all.heap_value, &new->heap_value);
	if (prepare(new)) {
		pmp_report_free(new);
		return pmp_error_nomem(err, "making a report");
	}
	code = pmp_report_update(new, err);
	if (code) {
		pmp_report_free(new);
		return code;
	}
	*report = new;
	return 0;
}

void pmp_report_free(struct pmp_report *report)
{
	if (!report)
		return;
	pmp_report_free(report->heap);
	forget(report);
	pmp_filtered_free(report->filtered);
	pmp_wait_names_free(report->found_waits);
	pmp_wait_names_free(report->waits);
	free(report);
}
