/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tally/heap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "tally/evict.h"
#include "tally/group.h"

#define PROCESSES_MAX 1024 /* beyond it, those that have ended are merged */
#define MINUTE (60 * PMP_S)

struct pmp_heap {
	struct pmp_entries entries;
	struct pmp_blocks blocks;
	struct pmp_process_heap *processes;
	size_t process_count, process_capacity;
	pmp_location *locations; /* of the current event */
	size_t location_capacity;
	struct pmp_heap_base *bases; /* list of those that exist */
	uint64_t lost;
	bool saved;		    /* of a saved profile: live sums, but no blocks */
	struct pmp_heap_past *past; /* NULL: not kept */
	uint64_t heard;		    /* time of the last batch */
};

struct pmp_heap *pmp_heap_new(bool by_thread, bool details, uint64_t memory)
{
	struct pmp_heap *heap = calloc(1, sizeof(*heap));

	if (!heap)
		return NULL;
	heap->blocks.limit = memory / sizeof(struct pmp_block);
	if (!pmp_entries_init(&heap->entries, by_thread, details, false)) {
		pmp_heap_free(heap);
		return NULL;
	}
	heap->entries.heaps = true;
	return heap;
}

void pmp_heap_free(struct pmp_heap *heap)
{
	if (!heap)
		return;
	pmp_heap_bases_detach(heap->bases);
	pmp_entries_free(&heap->entries);
	pmp_blocks_free(&heap->blocks);
	if (heap->past)
		pmp_heap_past_free(heap->past);
	free(heap->past);
	free(heap->processes);
	free(heap->locations);
	free(heap);
}

int pmp_heap_keep_past(struct pmp_heap *heap)
{
	heap->past = calloc(1, sizeof(*heap->past));
	return heap->past ? 0 : PMP_ENOMEM;
}

/* ---- processes ------------------------------------------------------------------- */

/* The index of a process that has not ended; process_count: there is none. */
static size_t find_process(const struct pmp_heap *heap, pid_t pid)
{
	size_t i = 0;

	while (i < heap->process_count &&
	       (heap->processes[i].pid != pid || heap->processes[i].ended))
		i++;
	return i;
}

/* The index of the process that ended first; process_count: none has ended. */
static size_t ended_process(const struct pmp_heap *heap)
{
	size_t oldest = heap->process_count;

	for (size_t i = 0; i < heap->process_count; i++) {
		const struct pmp_process_heap *process = &heap->processes[i];

		if (process->ended && process->pid &&
		    (oldest == heap->process_count ||
		     process->time < heap->processes[oldest].time))
			oldest = i;
	}
	return oldest;
}

/* Append a process. Returns its index; SIZE_MAX: out of memory. */
static size_t append_process(struct pmp_heap *heap)
{
	if (PMP_RESERVE(&heap->processes, &heap->process_capacity,
			heap->process_count + 1))
		return SIZE_MAX;
	heap->processes[heap->process_count] = (struct pmp_process_heap){ 0 };
	return heap->process_count++;
}

/* The index of the entry for merged processes, which is added if missing; SIZE_MAX: out of
 * memory. */
static size_t find_others(struct pmp_heap *heap)
{
	size_t i = 0;

	while (i < heap->process_count && heap->processes[i].pid)
		i++;
	if (i == heap->process_count)
		i = append_process(heap);
	if (i != SIZE_MAX && !heap->processes[i].others) {
		heap->processes[i].ended = true;
		snprintf(heap->processes[i].name, PMP_NAME_SIZE, "others");
	}
	return i;
}

static void add(uint64_t *sum, uint64_t number)
{
	*sum = pmp_count_sum(*sum, number);
}

static void join_totals(struct pmp_heap_totals *all, const struct pmp_heap_totals *totals)
{
	add(&all->mallocs, totals->mallocs);
	add(&all->callocs, totals->callocs);
	add(&all->aligned, totals->aligned);
	add(&all->reallocs, totals->reallocs);
	add(&all->news, totals->news);
	add(&all->frees, totals->frees);
	add(&all->allocated, totals->allocated);
	add(&all->freed, totals->freed);
	add(&all->live, totals->live);
	add(&all->live_blocks, totals->live_blocks);
	add(&all->failed, totals->failed);
	add(&all->failed_reallocs, totals->failed_reallocs);
	add(&all->brk_growth, totals->brk_growth);
	add(&all->mmap_growth, totals->mmap_growth);
	add(&all->given_back, totals->given_back);
	add(&all->lost, totals->lost);
	add(&all->untracked, totals->untracked);
	add(&all->stackless, totals->stackless);
	if (all->peak < totals->peak)
		all->peak = totals->peak;
	if (all->rate < totals->rate)
		all->rate = totals->rate;
	if (all->unrecorded < totals->unrecorded)
		all->unrecorded = totals->unrecorded;
	if (!all->start || (totals->start && totals->start < all->start))
		all->start = totals->start;
	all->ended = 1;
}

/* Merge a process that has ended. Its stacks stay, but their live blocks are dropped. */
static void join_process(struct pmp_process_heap *others,
			 const struct pmp_process_heap *process)
{
	add(&others->others, process->pid ? 1 : process->others);
	if (others->totals.state == PMP_HEAP_STATE_NONE)
		others->totals.state = process->totals.state;
	join_totals(&others->totals, &process->totals);
	add(&others->earlier_allocated, process->earlier_allocated);
	add(&others->earlier_freed, process->earlier_freed);
	add(&others->earlier_calls, process->earlier_calls);
	add(&others->earlier_frees, process->earlier_frees);
	add(&others->earlier_lost, process->earlier_lost);
	add(&others->earlier_stackless, process->earlier_stackless);
	add(&others->dropped, process->dropped + process->totals.live);
	add(&others->recorded, process->recorded);
	add(&others->recorded_bytes, process->recorded_bytes);
	add(&others->unknown_frees, process->unknown_frees);
	if (!others->first || process->first < others->first)
		others->first = process->first;
	if (others->time < process->time)
		others->time = process->time;
}

/* The index of an unused place for a process; SIZE_MAX: out of memory. */
static size_t new_process(struct pmp_heap *heap)
{
	size_t ended = heap->process_count, others;

	if (heap->process_count >= PROCESSES_MAX)
		ended = ended_process(heap);
	if (ended == heap->process_count)
		return append_process(heap);
	others = find_others(heap);
	if (others == SIZE_MAX)
		return SIZE_MAX;
	join_process(&heap->processes[others], &heap->processes[ended]);
	pmp_blocks_drop(&heap->blocks, (uint32_t)ended);
	return ended;
}

int pmp_heap_add_process(struct pmp_heap *heap, const struct pmp_process_heap *process)
{
	const size_t i = process->pid ? new_process(heap) : find_others(heap);

	if (i == SIZE_MAX)
		return PMP_ENOMEM;
	if (process->pid)
		heap->processes[i] = *process;
	else
		join_process(&heap->processes[i], process);
	return 0;
}

/* The index of a batch's process; SIZE_MAX: out of memory. */
static size_t process_of(struct pmp_heap *heap, const struct pmp_heap_batch *batch)
{
	size_t i = find_process(heap, batch->pid);

	if (i < heap->process_count)
		return i;
	i = new_process(heap);
	if (i != SIZE_MAX)
		heap->processes[i] = (struct pmp_process_heap){ .pid = batch->pid,
								.first = batch->time };
	return i;
}

void pmp_heap_forget(struct pmp_heap *heap, pid_t pid)
{
	const size_t i = find_process(heap, pid);

	if (i < heap->process_count)
		heap->processes[i].ended = true;
}

/* ---- events ---------------------------------------------------------------------- */

static bool event_fits(const struct pmp_heap_batch *batch,
		       const struct pmp_heap_event *event)
{
	return event->frame <= batch->frame_count &&
	       event->frame_count <= batch->frame_count - event->frame &&
	       (event->frame_count == 0 || batch->maps) &&
	       (event->thread < batch->thread_count || !batch->thread_count);
}

/* The entry of an event's stack; PMP_ENTRY_NONE: out of memory. */
static uint32_t entry_of(struct pmp_heap *heap, const struct pmp_heap_batch *batch,
			 const struct pmp_heap_event *event,
			 struct pmp_symbolizer *symbolizer)
{
	char process[PMP_NAME_SIZE], name[PMP_NAME_SIZE] = "", group[PMP_NAME_SIZE];
	struct pmp_entry entry = {
		.pid = batch->pid,
		.process = process,
		.thread = group,
		.syscall = "",
		.wchan = "",
		.reason = "",
		.end = event->end < PMP_END_COUNT ? (enum pmp_end)event->end
						  : PMP_END_ROOT,
		.state = '?',
		.location_count = event->frame_count,
	};

	memcpy(process, batch->name, sizeof(process));
	process[sizeof(process) - 1] = '\0';
	if (event->thread < batch->thread_count) {
		memcpy(name, batch->threads[event->thread].name, sizeof(name));
		name[sizeof(name) - 1] = '\0';
		if (heap->entries.by_thread)
			entry.tid = batch->threads[event->thread].tid;
	}
	pmp_group_fold(name, group, sizeof(group));
	if (heap->entries.by_thread)
		entry.thread = name;
	if (PMP_RESERVE(&heap->locations, &heap->location_capacity,
			event->frame_count + 1))
		return PMP_ENTRY_NONE;
	for (uint32_t i = 0; i < event->frame_count; i++) {
		heap->locations[i] = pmp_symbolizer_locate(
			symbolizer, batch->maps, &batch->frames[event->frame + i]);
		if (heap->locations[i] == PMP_LOCATION_NONE)
			return PMP_ENTRY_NONE;
	}
	entry.locations = heap->locations;
	return pmp_entries_count(&heap->entries, &entry);
}

static int add_block(struct pmp_heap *heap, uint32_t process, uint32_t entry,
		     const struct pmp_heap_event *event)
{
	const struct pmp_block block = {
		.pointer = event->pointer,
		.size = event->asked,
		.time = event->time,
		.weight = 1 / pmp_heap_chance(event->usable, event->rate),
		.process = process,
		.entry = entry,
	};

	pmp_heap_sums_allocated(heap->entries.all[entry].heap, block.size, block.weight);
	return pmp_blocks_put(&heap->blocks, &block);
}

static uint64_t calls_of(const struct pmp_heap_totals *totals)
{
	return totals->mallocs + totals->callocs + totals->aligned + totals->reallocs +
	       totals->news;
}

uint64_t pmp_process_heap_calls(const struct pmp_process_heap *process)
{
	return process->earlier_calls + calls_of(&process->totals);
}

/* While the process runs, calls and records cannot be compared: some records are still in
 * transit. */
uint64_t pmp_process_heap_missing(const struct pmp_process_heap *process)
{
	const uint64_t calls = pmp_process_heap_calls(process),
		       lost = process->earlier_lost + process->totals.lost;
	const bool exact =
		process->totals.state == PMP_HEAP_STATE_RECORDS && !process->totals.rate;

	if (!exact || !process->ended || calls < process->recorded ||
	    calls - process->recorded < lost)
		return lost;
	return calls - process->recorded;
}

uint64_t pmp_process_heap_stackless(const struct pmp_process_heap *process)
{
	return pmp_count_sum(process->earlier_stackless, process->totals.stackless);
}

/* A new program of this process, unless only a new sampler has begun to read the old one. */
static void start(struct pmp_heap *heap, uint32_t number, uint64_t program)
{
	struct pmp_process_heap *process = &heap->processes[number];

	if (program && process->program == program) {
		/* Counted by the sampler, and a new one counts from 0. */
		process->earlier_stackless += process->totals.stackless;
		process->totals.stackless = 0;
		return;
	}
	process->program = program;
	pmp_blocks_drop(&heap->blocks, number);
	process->earlier_allocated += process->totals.allocated;
	process->earlier_freed += process->totals.freed;
	process->earlier_calls += calls_of(&process->totals);
	process->earlier_frees += process->totals.frees;
	process->earlier_lost += process->totals.lost;
	process->earlier_stackless += process->totals.stackless;
	process->dropped += process->totals.live;
	process->totals = (struct pmp_heap_totals){ 0 };
}

/* Add an event to its stack. */
static int add_to_stack(struct pmp_heap *heap, const struct pmp_heap_batch *batch,
			uint32_t process, const struct pmp_heap_event *event,
			struct pmp_symbolizer *symbolizer)
{
	const uint32_t entry = entry_of(heap, batch, event, symbolizer);
	struct pmp_heap_sums *sums;

	if (entry == PMP_ENTRY_NONE)
		return PMP_ENOMEM;
	sums = heap->entries.all[entry].heap;
	switch (event->kind) {
	case PMP_HEAP_ALLOC:
		heap->processes[process].recorded++;
		heap->processes[process].recorded_bytes += event->usable;
		return add_block(heap, process, entry, event);
	case PMP_HEAP_GROWTH:
		sums->growths++;
		sums->growth_bytes = pmp_count_sum(sums->growth_bytes, event->usable);
		return 0;
	default: pmp_heap_sums_failed(sums, event->asked); return 0;
	}
}

static int add_event(struct pmp_heap *heap, const struct pmp_heap_batch *batch,
		     uint32_t process, const struct pmp_heap_event *event,
		     struct pmp_symbolizer *symbolizer)
{
	struct pmp_block block;

	switch (event->kind) {
	case PMP_HEAP_FREE:
		if (!pmp_blocks_take(&heap->blocks, process, event->pointer, &block))
			heap->processes[process].unknown_frees += !batch->totals.rate;
		return 0;
	case PMP_HEAP_START: start(heap, process, event->count); return 0;
	case PMP_HEAP_LOST: heap->lost += event->count; return 0;
	case PMP_HEAP_ALLOC:
	case PMP_HEAP_GROWTH:
	case PMP_HEAP_FAILED:
	case PMP_HEAP_REALLOC_FAILED:
		return add_to_stack(heap, batch, process, event, symbolizer);
	default: return 0;
	}
}

/* Keep the current state, which has not changed since the last batch. 0 or PMP_ENOMEM. */
static int keep_moment(struct pmp_heap *heap)
{
	const struct pmp_heap_exact exact = pmp_heap_exact(heap);

	pmp_heap_sum(heap, heap->heard, 0, PMP_HEAP_INUSE_SPACE, NULL);
	return pmp_heap_past_keep(heap->past, heap->heard, &exact, &heap->entries);
}

/* After the first batch of a process that has been counting for a while, start the past
 * again: what was counted before that batch belongs to no window. */
static int begin_past(struct pmp_heap *heap, const struct pmp_process_heap *process)
{
	if (process->first != process->time || !process->totals.start ||
	    process->totals.start + PMP_S > process->first)
		return 0;
	pmp_heap_past_clear(heap->past);
	return keep_moment(heap);
}

int pmp_heap_add(struct pmp_heap *heap, const struct pmp_heap_batch *batch,
		 struct pmp_symbolizer *symbolizer)
{
	struct pmp_process_heap *process;
	size_t number;
	int code = 0;

	for (size_t i = 0; i < batch->event_count; i++)
		if (!event_fits(batch, &batch->events[i]))
			return PMP_EINVAL;
	if (heap->past && pmp_heap_past_is_due(heap->past, heap->heard) &&
	    keep_moment(heap))
		return PMP_ENOMEM;
	number = process_of(heap, batch);
	if (number == SIZE_MAX)
		return PMP_ENOMEM;
	for (size_t i = 0; i < batch->event_count && !code; i++)
		code = add_event(heap, batch, (uint32_t)number, &batch->events[i],
				 symbolizer);
	process = &heap->processes[number];
	memcpy(process->name, batch->name, sizeof(process->name));
	process->name[sizeof(process->name) - 1] = '\0';
	process->totals = batch->totals;
	process->totals.allocator_name[PMP_NAME_SIZE - 1] = '\0';
	process->time = batch->time;
	process->ended = batch->totals.ended;
	if (heap->heard < batch->time)
		heap->heard = batch->time;
	if (!code && heap->past)
		code = begin_past(heap, process);
	return code;
}

/* ---- sums ------------------------------------------------------------------------ */

uint64_t pmp_process_heap_time(const struct pmp_process_heap *process, uint64_t now)
{
	return process->ended || !process->first || now < process->time ? process->time
									: now;
}

/* The bytes per second of a block that is one to two minutes old: its bytes, divided by the
 * part of that minute for which the process has been recorded. */
static uint64_t survived(const struct pmp_process_heap *process,
			 const struct pmp_block *block, uint64_t now, uint64_t age)
{
	const uint64_t past = now > process->first ? now - process->first : 0;
	const uint64_t window = past < 2 * MINUTE ? past - MINUTE : MINUTE;

	if (age < MINUTE || age >= 2 * MINUTE || past <= MINUTE)
		return 0;
	return (uint64_t)(block->weight * (double)block->size * (double)PMP_S /
			  (double)(window > PMP_S ? window : PMP_S));
}

static void sum_blocks(struct pmp_heap *heap, uint64_t now, uint64_t at_least)
{
	const struct pmp_block *block;

	for (size_t i = 0; i < heap->entries.count; i++)
		pmp_heap_sums_clear_live(heap->entries.all[i].heap);
	for (size_t slot = 0; (block = pmp_blocks_next(&heap->blocks, &slot));) {
		const struct pmp_process_heap *process = &heap->processes[block->process];
		struct pmp_heap_sums *sums = heap->entries.all[block->entry].heap;
		const uint64_t then = pmp_process_heap_time(process, now);
		const uint64_t age = then > block->time ? then - block->time : 0;

		if (age < at_least)
			continue;
		pmp_heap_sums_lives(sums, block->size, block->weight, age);
		sums->survived = pmp_count_sum(sums->survived,
					       survived(process, block, then, age));
	}
}

/* In a saved profile: sum up the ages[] that start at `at_least` or later. */
static void sum_ages(struct pmp_heap *heap, uint64_t at_least)
{
	for (size_t i = 0; i < heap->entries.count; i++) {
		struct pmp_heap_sums *sums = heap->entries.all[i].heap;

		sums->live_parts = sums->live_bytes = 0;
		sums->live_variance = 0;
		for (size_t k = 0; k < PMP_AGES; k++) {
			if (pmp_heap_age_start(k) < at_least)
				continue;
			sums->live_parts =
				pmp_count_sum(sums->live_parts, sums->ages[k].parts);
			sums->live_bytes =
				pmp_count_sum(sums->live_bytes, sums->ages[k].bytes);
			sums->live_variance += sums->ages[k].variance;
		}
	}
}

void pmp_heap_sum(struct pmp_heap *heap, uint64_t now, uint64_t age,
		  enum pmp_heap_value value, const struct pmp_heap_base *since)
{
	pmp_heap_base_apply(since, &heap->entries);
	if (!heap->saved)
		sum_blocks(heap, now, age);
	else if (age)
		sum_ages(heap, age);
	for (size_t i = 0; i < heap->entries.count; i++) {
		struct pmp_entry *entry = &heap->entries.all[i];

		entry->count = pmp_heap_sums_value(entry->heap, value);
	}
}

int pmp_heap_take_base(struct pmp_heap *heap, uint64_t now, uint64_t age,
		       struct pmp_heap_base **base)
{
	pmp_heap_sum(heap, now, age, PMP_HEAP_INUSE_SPACE, NULL);
	return pmp_heap_base_new(&heap->bases, &heap->entries, base);
}

int pmp_heap_count(struct pmp_heap *heap, const struct pmp_entry *entry)
{
	heap->saved = true;
	return pmp_entries_count(&heap->entries, entry) == PMP_ENTRY_NONE ? PMP_ENOMEM
									  : 0;
}

/* ---- what there is --------------------------------------------------------------- */

const struct pmp_entries *pmp_heap_entries(const struct pmp_heap *heap)
{
	return &heap->entries;
}

const struct pmp_process_heap *pmp_heap_processes(const struct pmp_heap *heap,
						  size_t *count)
{
	*count = heap->process_count;
	return heap->processes;
}

const struct pmp_blocks *pmp_heap_blocks(const struct pmp_heap *heap)
{
	return &heap->blocks;
}

const struct pmp_heap_moment *pmp_heap_was(const struct pmp_heap *heap, uint64_t time)
{
	return heap->past ? pmp_heap_past_at(heap->past, time) : NULL;
}

struct pmp_heap_exact pmp_heap_exact(const struct pmp_heap *heap)
{
	struct pmp_heap_exact all = { 0 };

	for (size_t i = 0; i < heap->process_count; i++) {
		const struct pmp_process_heap *process = &heap->processes[i];
		const struct pmp_heap_totals *totals = &process->totals;

		all.allocated += process->earlier_allocated + totals->allocated;
		all.freed += process->earlier_freed + totals->freed;
		all.live += totals->live;
		all.blocks += totals->live_blocks;
		all.allocs += pmp_process_heap_calls(process);
		all.frees += process->earlier_frees + totals->frees;
	}
	return all;
}

uint64_t pmp_heap_heard(const struct pmp_heap *heap)
{
	return heap->heard;
}

bool pmp_heap_is_used(const struct pmp_heap *heap)
{
	return heap->process_count || heap->entries.count;
}

uint64_t pmp_heap_lost(const struct pmp_heap *heap)
{
	uint64_t lost = heap->lost;

	for (size_t i = 0; i < heap->process_count; i++)
		lost = pmp_count_sum(lost, pmp_process_heap_missing(&heap->processes[i]));
	return lost;
}

uint64_t pmp_heap_stackless(const struct pmp_heap *heap)
{
	uint64_t stackless = 0;

	for (size_t i = 0; i < heap->process_count; i++)
		stackless = pmp_count_sum(
			stackless, pmp_process_heap_stackless(&heap->processes[i]));
	return stackless;
}

/* Each process has the total of all processes so far, so the maximum is the newest. */
uint64_t pmp_heap_unrecorded(const struct pmp_heap *heap)
{
	uint64_t most = 0;

	for (size_t i = 0; i < heap->process_count; i++)
		if (heap->processes[i].totals.unrecorded > most)
			most = heap->processes[i].totals.unrecorded;
	return most;
}

/* ---- bounded memory -------------------------------------------------------------- */

uint64_t pmp_heap_size(const struct pmp_heap *heap)
{
	return pmp_entries_size(&heap->entries) + pmp_blocks_size(&heap->blocks) +
	       pmp_heap_bases_size(heap->bases) +
	       heap->process_capacity * sizeof(*heap->processes) +
	       (heap->past ? pmp_heap_past_size(heap->past) : 0);
}

/* Count the entries again; those that do not stay go into the sum of their process. */
static int count_again(struct pmp_entries *new, const struct pmp_entries *old,
		       const bool *stays, uint32_t *numbers)
{
	const bool by_name = pmp_evict_is_crowded(old->all, old->count);

	for (size_t i = 0; i < old->count; i++) {
		struct pmp_entry entry = old->all[i];

		if (!stays[i])
			entry = pmp_evict_sum(&entry, by_name);
		entry.heap = old->all[i].heap;
		numbers[i] = pmp_entries_count(new, &entry);
		if (numbers[i] == PMP_ENTRY_NONE)
			return PMP_ENOMEM;
	}
	return 0;
}

int pmp_heap_shrink(struct pmp_heap *heap)
{
	struct pmp_entries *old = &heap->entries, new;
	bool *stays = calloc(old->count + 1, sizeof(*stays));
	uint32_t *numbers = calloc(old->count + 1, sizeof(*numbers));
	struct pmp_block *block;
	int code = PMP_ENOMEM;

	pmp_heap_sum(heap, 0, 0, PMP_HEAP_ALLOC_SPACE, NULL);
	if (pmp_entries_init(&new, old->by_thread, old->details, false) && stays &&
	    numbers) {
		new.heaps = true;
		code = pmp_evict_choose(old->all, old->count, NULL, stays);
		if (!code)
			code = count_again(&new, old, stays, numbers);
	}
	if (code) {
		pmp_entries_free(&new);
	} else {
		pmp_entries_free(old);
		*old = new;
		for (size_t slot = 0; (block = pmp_blocks_next(&heap->blocks, &slot));)
			block->entry = numbers[block->entry];
		pmp_heap_bases_renumber(heap->bases, numbers);
		if (heap->past) {
			pmp_heap_past_clear(heap->past);
			code = keep_moment(heap);
		}
	}
	free(stays);
	free(numbers);
	return code;
}

void pmp_heap_mark(const struct pmp_heap *heap, bool *used)
{
	for (size_t i = 0; i < heap->entries.count; i++) {
		const struct pmp_entry *entry = &heap->entries.all[i];

		for (size_t k = 0; k < entry->location_count; k++)
			used[entry->locations[k]] = true;
	}
}
