/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Making a report passes each entry through the filter once; the result is counted under
 * the same rules for what keeps entries apart. Threads are also merged by group name
 * here.
 */
#include "report/filtered.h"

#include <stdlib.h>
#include <string.h>

#include "libpmp-program.h"
#include "base/alloc.h"
#include "base/regex.h"
#include "base/syscalls.h"
#include "report/filter-stack.h"
#include "report/filter.h"
#include "tally/stack-table.h"

#define NOWHERE UINT32_MAX

struct pmp_filtered {
	const struct pmp_filter *filter;
	struct pmp_profile *profile;
	struct pmp_filter_stack *stack_filter;
	uint64_t sweeps;	     /* of the locations known to stack_filter */
	bool groups;		     /* threads are merged by name */
	bool heap;		     /* entries have heap values */
	struct pmp_filtered *beside; /* owner of stack_filter; NULL: this one */
	struct pmp_entries entries;
	uint32_t *entry_of; /* by index of the profile's entry; or NOWHERE */
	size_t entry_count, entry_capacity;
	uint64_t stacks; /* of all entries */
	struct pmp_run *runs;
	size_t run_count, run_capacity;
	bool has_runs;
	/* Of the last snapshot. */
	struct pmp_snapshot snapshot;
	struct pmp_row *rows;
	struct pmp_thread *threads;
	struct pmp_raw_frame *frames;
	pmp_location *locations;
	size_t row_capacity, thread_capacity, frame_capacity, location_capacity;
	uint64_t rows_shown;
};

/* A changed copy of an entry's waits. */
struct shown_waits {
	struct pmp_entry_waits waits;
	struct pmp_lock lock;
	char name[PMP_EXPRESSION_NAME];
};

static struct pmp_filter_stack *new_filter_stack(const struct pmp_filtered *filtered)
{
	return pmp_filter_stack_new(filtered->filter,
				    pmp_profile_symbolizer(filtered->profile));
}

struct pmp_filtered *pmp_filtered_new(const struct pmp_filter *filter,
				      struct pmp_profile *profile, bool heap,
				      struct pmp_filtered *beside)
{
	struct pmp_filtered *filtered = calloc(1, sizeof(*filtered));

	if (!filtered)
		return NULL;
	filtered->heap = heap;
	filtered->beside = beside;
	filtered->filter = filter;
	filtered->profile = profile;
	filtered->groups =
		pmp_filter_has_groups(filter) && !pmp_profile_options(profile)->by_thread;
	filtered->sweeps = pmp_profile_sweeps(profile);
	filtered->stack_filter =
		beside ? beside->stack_filter : new_filter_stack(filtered);
	if (filtered->stack_filter)
		return filtered;
	free(filtered);
	return NULL;
}

void pmp_filtered_free(struct pmp_filtered *filtered)
{
	if (!filtered)
		return;
	if (!filtered->beside)
		pmp_filter_stack_free(filtered->stack_filter);
	pmp_entries_free(&filtered->entries);
	free(filtered->entry_of);
	free(filtered->runs);
	free(filtered->rows);
	free(filtered->threads);
	free(filtered->frames);
	free(filtered->locations);
	free(filtered);
}

/* After a sweep, locations may be renumbered and strings from the symbolizer are gone. */
static int renew_filter_stack(struct pmp_filtered *filtered)
{
	uint64_t sweeps = pmp_profile_sweeps(filtered->profile);
	struct pmp_filter_stack *stack_filter;

	if (filtered->beside) {
		filtered->stack_filter = filtered->beside->stack_filter;
		return 0;
	}
	if (sweeps == filtered->sweeps)
		return 0;
	stack_filter = new_filter_stack(filtered);
	if (!stack_filter)
		return PMP_ENOMEM;
	pmp_filter_stack_free(filtered->stack_filter);
	filtered->stack_filter = stack_filter;
	filtered->sweeps = sweeps;
	return 0;
}

/* ---- entries --------------------------------------------------------------------- */

/* The name to show for a thread: that of its group, or its own after renaming. */
static void call_thread(const struct pmp_filtered *filtered, const char *name,
			char *buffer, size_t size)
{
	if (filtered->groups)
		pmp_filter_thread(filtered->filter, name, buffer, size);
	else
		pmp_filter_call_thread(filtered->filter, name, buffer, size);
}

/* Replace the waits by a copy with the holder's name as shown. */
static void show_waits(const struct pmp_filtered *filtered, struct pmp_entry *entry,
		       struct shown_waits *shown)
{
	if (!entry->waits)
		return;
	shown->waits = *entry->waits;
	entry->waits = &shown->waits;
	if (!shown->waits.lock)
		return;
	shown->lock = *shown->waits.lock;
	shown->waits.lock = &shown->lock;
	if (!*shown->lock.holder_name)
		return;
	call_thread(filtered, shown->lock.holder_name, shown->name, sizeof(shown->name));
	shown->lock.holder_name = shown->name;
	if (filtered->groups)
		shown->lock.holder = 0;
}

/* 1: shown, with index *to; 0: not shown; or PMP_ENOMEM. */
static int show_entry(struct pmp_filtered *filtered, const struct pmp_entry *entry,
		      uint32_t *to)
{
	struct pmp_filtered_stack stack = {
		.locations = entry->locations,
		.count = entry->location_count,
		.state = entry->state,
		.syscall = entry->syscall,
	};
	struct pmp_entry left = *entry;
	struct shown_waits waits;
	char name[PMP_EXPRESSION_NAME];
	int code;

	if (!pmp_filter_passes_thread(filtered->filter, entry->thread, entry->pid,
				      entry->tid))
		return 0;
	code = pmp_filter_stack_take(filtered->stack_filter, &stack);
	if (code <= 0)
		return code;
	call_thread(filtered, entry->thread, name, sizeof(name));
	left.thread = name;
	if (filtered->groups)
		left.tid = 0;
	left.locations = stack.left;
	left.location_count = stack.left_count;
	show_waits(filtered, &left, &waits);
	if (stack.trimmed) {
		left.end = PMP_END_ROOT;
		left.reason = "";
	}
	*to = pmp_entries_count(&filtered->entries, &left);
	return *to == PMP_ENTRY_NONE ? PMP_ENOMEM : 1;
}

/* Start with no entries, kept apart as in the profile. */
static int empty_entries(struct pmp_filtered *filtered)
{
	const struct pmp_profile_options *options =
		pmp_profile_options(filtered->profile);

	pmp_entries_free(&filtered->entries);
	if (!pmp_entries_init(&filtered->entries, options->by_thread || filtered->groups,
			      options->details, options->waits && !filtered->heap))
		return PMP_ENOMEM;
	filtered->entries.heaps = filtered->heap;
	return 0;
}

int pmp_filtered_make_entries(struct pmp_filtered *filtered,
			      const struct pmp_entry *entries, size_t count)
{
	filtered->stacks = 0;
	filtered->entry_count = 0;
	if (empty_entries(filtered) || renew_filter_stack(filtered) ||
	    PMP_RESERVE(&filtered->entry_of, &filtered->entry_capacity, count + 1))
		return PMP_ENOMEM;
	for (size_t i = 0; i < count; i++) {
		int code = show_entry(filtered, &entries[i], &filtered->entry_of[i]);

		if (code < 0)
			return code;
		if (code)
			filtered->stacks += entries[i].count;
		else
			filtered->entry_of[i] = NOWHERE;
	}
	filtered->entry_count = count;
	return 0;
}

/* A thread counts as absent while its stack is not shown. */
int pmp_filtered_make_runs(struct pmp_filtered *filtered, const struct pmp_run *runs,
			   size_t count)
{
	uint32_t threads = 0;
	bool *gone;

	filtered->run_count = 0;
	/* Threads of a group run at the same time, so there is no sequence of runs. */
	filtered->has_runs = runs && !filtered->groups;
	if (!filtered->has_runs)
		return 0;
	for (size_t i = 0; i < count; i++)
		threads = runs[i].thread >= threads ? runs[i].thread + 1 : threads;
	gone = calloc((size_t)threads + 1, sizeof(*gone));
	if (!gone || PMP_RESERVE(&filtered->runs, &filtered->run_capacity, count + 1)) {
		free(gone);
		return PMP_ENOMEM;
	}
	for (size_t i = 0; i < count; i++) {
		uint32_t entry = runs[i].entry < filtered->entry_count
					 ? filtered->entry_of[runs[i].entry]
					 : NOWHERE;
		struct pmp_run *run = &filtered->runs[filtered->run_count];

		if (entry == NOWHERE) {
			gone[runs[i].thread] = true;
			continue;
		}
		*run = runs[i];
		run->entry = entry;
		run->absent |= gone[run->thread];
		gone[run->thread] = false;
		filtered->run_count++;
	}
	free(gone);
	return 0;
}

/* ---- the last sample ------------------------------------------------------------- */

/* The address of a function in this sample, not in all, as pmp_filter_stack_origin(). */
static struct pmp_raw_frame raw_frame(const struct pmp_filtered *filtered,
				      const struct pmp_raw_frame *raw,
				      pmp_location location)
{
	struct pmp_raw_frame frame = *raw;
	struct pmp_first_address origin;

	pmp_filter_stack_origin(filtered->stack_filter, location, &origin);
	if (origin.mapping == UINT32_MAX)
		frame.pc = 0;
	else if (origin.exact != (bool)(raw->flags & PMP_FRAME_EXACT) && raw->pc)
		frame.pc += origin.exact ? UINT64_C(-1) : 1;
	return frame;
}

/* Append a row if it is shown; *frames counts the frames of all rows so far. */
static int show_row(struct pmp_filtered *filtered, const struct pmp_row *row,
		    const char *syscall, size_t *frames)
{
	struct pmp_filtered_stack stack = {
		.locations = row->locations,
		.count = row->thread->frame_count,
		.state = row->thread->state,
		.syscall = syscall,
	};
	struct pmp_thread *thread = &filtered->threads[filtered->snapshot.row_count];
	char name[PMP_EXPRESSION_NAME];
	int code;

	if (!pmp_filter_passes_thread(filtered->filter, row->thread->name,
				      filtered->snapshot.info.pid, row->thread->tid))
		return 0;
	code = pmp_filter_stack_take(filtered->stack_filter, &stack);
	if (code <= 0)
		return code;
	*thread = *row->thread;
	call_thread(filtered, thread->name, name, sizeof(name));
	memcpy(thread->name, name, strnlen(name, sizeof(thread->name) - 1));
	thread->name[strnlen(name, sizeof(thread->name) - 1)] = '\0';
	thread->frame = *frames;
	thread->frame_count = stack.left_count;
	if (stack.trimmed) {
		thread->end = PMP_END_ROOT;
		thread->reason[0] = '\0';
	}
	if (PMP_RESERVE(&filtered->frames, &filtered->frame_capacity,
			*frames + stack.left_count + 1) ||
	    PMP_RESERVE(&filtered->locations, &filtered->location_capacity,
			*frames + stack.left_count + 1))
		return PMP_ENOMEM;
	for (size_t i = 0; i < stack.left_count; i++) {
		filtered->locations[*frames] = stack.left[i];
		filtered->frames[(*frames)++] =
			raw_frame(filtered, &row->raw[stack.origins[i]], stack.left[i]);
	}
	filtered->rows[filtered->snapshot.row_count++] = *row;
	return 0;
}

int pmp_filtered_make_snapshot(struct pmp_filtered *filtered,
			       const struct pmp_snapshot *snapshot)
{
	size_t count = snapshot->row_count, frames = 0;
	uint64_t last = filtered->snapshot.number;
	char number[16];

	if (renew_filter_stack(filtered) ||
	    PMP_RESERVE(&filtered->rows, &filtered->row_capacity, count + 1) ||
	    PMP_RESERVE(&filtered->threads, &filtered->thread_capacity, count + 1))
		return PMP_ENOMEM;
	filtered->snapshot = *snapshot;
	filtered->snapshot.row_count = 0;
	filtered->snapshot.rows = filtered->rows;
	for (size_t i = 0; i < count; i++) {
		const char *syscall = pmp_syscall_text(snapshot->rows[i].thread->syscall,
						       number, sizeof(number));

		if (show_row(filtered, &snapshot->rows[i], syscall, &frames))
			return PMP_ENOMEM;
	}
	/* The arrays no longer move: set the pointers. */
	for (size_t i = 0; i < filtered->snapshot.row_count; i++) {
		struct pmp_row *row = &filtered->rows[i];

		row->thread = &filtered->threads[i];
		row->raw = filtered->frames + row->thread->frame;
		row->locations = filtered->locations + row->thread->frame;
	}
	if (snapshot->number != last)
		filtered->rows_shown += filtered->snapshot.row_count;
	return 0;
}

/* ---- what is left ---------------------------------------------------------------- */

const struct pmp_entry *pmp_filtered_entries(const struct pmp_filtered *filtered,
					     size_t *count)
{
	*count = filtered->entries.count;
	return filtered->entries.all;
}

size_t pmp_filtered_distinct(const struct pmp_filtered *filtered)
{
	return filtered->entries.count - filtered->entries.between_count;
}

const struct pmp_run *pmp_filtered_runs(const struct pmp_filtered *filtered,
					size_t *count)
{
	*count = filtered->run_count;
	return filtered->has_runs ? filtered->runs : NULL;
}

const struct pmp_snapshot *pmp_filtered_snapshot(const struct pmp_filtered *filtered)
{
	return &filtered->snapshot;
}

uint64_t pmp_filtered_stack_count(const struct pmp_filtered *filtered)
{
	return filtered->stacks;
}

uint64_t pmp_filtered_row_count(const struct pmp_filtered *filtered)
{
	return filtered->rows_shown;
}

size_t pmp_filtered_frames(const struct pmp_filtered *filtered, pmp_location location,
			   const struct pmp_frame **frames)
{
	return pmp_filter_stack_frames(filtered->stack_filter, location, frames);
}

void pmp_filtered_origin(const struct pmp_filtered *filtered, pmp_location location,
			 struct pmp_first_address *origin)
{
	pmp_filter_stack_origin(filtered->stack_filter, location, origin);
}
