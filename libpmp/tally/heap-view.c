/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a view reads from a heap; see libpmp-program.h. */
#include "base/clock.h"
#include "base/sized.h"
#include "libpmp-program.h"
#include "tally/heap.h"
#include "tally/live-tables.h"
#include "tally/live.h"
#include "tally/profile.h"

_Static_assert((int)PMP_LIVE_AGES == (int)PMP_AGES, "there are as many ages");

static const struct pmp_heap_moment nothing;

/* The current time for a view. If all programs have ended, it stops at the last batch. */
static uint64_t time_of(const struct pmp_heap *heap, uint64_t now)
{
	const struct pmp_process_heap *processes;
	size_t count;

	processes = pmp_heap_processes(heap, &count);
	for (size_t i = 0; i < count; i++)
		if (!processes[i].ended)
			return now;
	return pmp_heap_heard(heap);
}

/* The state when the window began. */
static const struct pmp_heap_moment *moment_of(const struct pmp_heap *heap, uint64_t now,
					       enum pmp_window window)
{
	const struct pmp_heap_moment *was = NULL;
	const uint64_t span = pmp_live_window_times[window], at = time_of(heap, now);

	if (window != PMP_WINDOW_START)
		was = pmp_heap_was(heap, at > span ? at - span : 0);
	return was ? was : &nothing;
}

/* Was there no batch during the window? Then nothing has changed in it. */
static bool is_silent(const struct pmp_heap *heap, uint64_t now, enum pmp_window window)
{
	const uint64_t at = time_of(heap, now), heard = pmp_heap_heard(heap);

	return window != PMP_WINDOW_START && at > heard &&
	       at - heard >= pmp_live_window_times[window];
}

static void sum_processes(const struct pmp_heap *heap, struct pmp_live_heap *all)
{
	const struct pmp_process_heap *processes;
	bool records = false;

	processes = pmp_heap_processes(heap, &all->processes);
	all->ended = all->processes;
	for (size_t i = 0; i < all->processes; i++) {
		const struct pmp_heap_totals *totals = &processes[i].totals;

		all->ended &= processes[i].ended;
		records |= totals->state != PMP_HEAP_STATE_COUNTS;
		if (all->rate < totals->rate)
			all->rate = totals->rate;
		if (all->peak >= totals->peak)
			continue;
		all->peak = totals->peak;
		all->peak_after = totals->peak_time > totals->start
					  ? totals->peak_time - totals->start
					  : 0;
	}
	all->totals_only = all->processes && !records;
}

/* was: sums when the window began; NULL: nothing has changed in it. */
static void sum_exact(const struct pmp_heap *heap, const struct pmp_heap_exact *was,
		      struct pmp_live_heap *all)
{
	const struct pmp_heap_exact exact = pmp_heap_exact(heap);

	if (!was)
		was = &exact;
	all->live = exact.live;
	all->live_blocks = exact.blocks;
	all->allocated = exact.allocated - was->allocated;
	all->freed = exact.freed - was->freed;
	all->allocs = exact.allocs - was->allocs;
	all->frees = exact.frees - was->frees;
}

/* The time since when there are totals. */
static uint64_t first_of(const struct pmp_heap *heap)
{
	const struct pmp_process_heap *processes;
	uint64_t first = UINT64_MAX;
	size_t count;

	processes = pmp_heap_processes(heap, &count);
	for (size_t i = 0; i < count; i++) {
		const uint64_t start = processes[i].totals.start;

		if (start && start < first)
			first = start;
		if (processes[i].first < first)
			first = processes[i].first;
	}
	return count ? first : 0;
}

static uint64_t span_of(const struct pmp_heap *heap, uint64_t now, enum pmp_window window,
			const struct pmp_heap_moment *was)
{
	const uint64_t at = time_of(heap, now), first = first_of(heap);
	uint64_t from = was->from > first ? was->from : first;

	/* A moment may begin before the window. */
	if (window != PMP_WINDOW_START && at - from > pmp_live_window_times[window])
		from = at - pmp_live_window_times[window];
	return at > from ? at - from : 0;
}

static double blocks_of(uint64_t parts)
{
	return (double)parts / (double)PMP_BLOCK_PARTS;
}

void pmp_profile_sum_heap(struct pmp_profile *profile, uint64_t now,
			  enum pmp_window window, struct pmp_live_heap *given)
{
	struct pmp_heap *heap = pmp_profile_heap(profile);
	struct pmp_live_heap all = { .counts = heap };
	const struct pmp_entries *entries;
	const struct pmp_heap_moment *was;

	if (!heap) {
		pmp_sized_give(given, &all, sizeof(all));
		return;
	}
	pmp_heap_sum(heap, now, 0, PMP_HEAP_INUSE_SPACE, NULL);
	was = moment_of(heap, now, window);
	entries = pmp_heap_entries(heap);
	sum_processes(heap, &all);
	sum_exact(heap, is_silent(heap, now, window) ? NULL : &was->exact, &all);
	all.span = span_of(heap, now, window, was);
	all.stacks = entries->count;
	all.lost = pmp_heap_lost(heap);
	all.stackless = pmp_heap_stackless(heap);
	all.unrecorded = pmp_heap_unrecorded(heap);
	all.dropped = pmp_heap_blocks(heap)->evicted;
	all.dropped_bytes = pmp_heap_blocks(heap)->evicted_bytes;
	for (size_t i = 0; i < entries->count; i++) {
		const struct pmp_heap_sums *sums = entries->all[i].heap;

		all.sum_live = pmp_count_sum(all.sum_live, sums->live_bytes);
		all.sum_allocated = pmp_count_sum(all.sum_allocated, sums->alloc_bytes);
		all.sum_blocks += blocks_of(sums->live_parts);
		all.sum_allocs += blocks_of(sums->alloc_parts);
	}
	pmp_sized_give(given, &all, sizeof(all));
}

static void take_values(const struct pmp_heap_sums *sums, const struct pmp_heap_was *was,
			struct pmp_live_heap_stack *stack)
{
	stack->live = (int64_t)sums->live_bytes - (int64_t)was->live_bytes;
	stack->allocated = (int64_t)sums->alloc_bytes - (int64_t)was->alloc_bytes;
	stack->blocks = blocks_of(sums->live_parts) - blocks_of(was->live_parts);
	stack->allocs = blocks_of(sums->alloc_parts) - blocks_of(was->alloc_parts);
}

static void take_ages(const struct pmp_heap_sums *sums, struct pmp_live_heap_stack *stack)
{
	stack->live_error = pmp_square_root(sums->live_variance);
	stack->alloc_error = pmp_square_root(sums->alloc_variance);
	stack->oldest = sums->oldest;
	stack->stays = sums->survived;
	for (size_t i = 0; i < PMP_AGES; i++) {
		stack->age_bytes[i] = sums->ages[i].bytes;
		stack->age_blocks[i] = blocks_of(sums->ages[i].parts);
	}
}

int pmp_profile_heap_stack(struct pmp_profile *profile, size_t i, uint64_t now,
			   enum pmp_window window, struct pmp_live_heap_stack *given)
{
	struct pmp_heap *heap = pmp_profile_heap(profile);
	struct pmp_live *live = pmp_profile_parts(profile).live;
	const struct pmp_entries *entries = heap ? pmp_heap_entries(heap) : NULL;
	struct pmp_heap_was was = { 0 };
	const struct pmp_heap_moment *moment;
	struct pmp_live_heap_stack all;
	const struct pmp_entry *entry;
	struct pmp_thread frames;
	uint32_t number;

	if (!heap || !live || i >= entries->count)
		return PMP_EINVAL;
	entry = &entries->all[i];
	frames = (struct pmp_thread){ .end = entry->end,
				      .frame_count = entry->location_count };
	number = pmp_live_find_stack(live, &frames, entry->locations);
	if (number == PMP_INTERN_NONE)
		return PMP_ENOMEM;
	all = (struct pmp_live_heap_stack){ .stack = number,
					    .pid = entry->pid,
					    .process = entry->process,
					    .thread = entry->thread };
	moment = moment_of(heap, now, window);
	if (i < moment->count)
		was = moment->was[i];
	take_values(entry->heap, &was, &all);
	/* Without a batch in the window, show no change. */
	if (is_silent(heap, now, window)) {
		all.live = all.allocated = 0;
		all.blocks = all.allocs = 0;
	}
	take_ages(entry->heap, &all);
	pmp_sized_give(given, &all, sizeof(all));
	return 0;
}
