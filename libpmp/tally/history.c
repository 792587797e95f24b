/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For each process, the threads of its last sample are kept, so that only what differs in
 * the next sample is recorded.
 */
#include "tally/history.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/search.h"
#include "tally/stack-table.h"

#define SEGMENT_TIME (10 * PMP_S)
#define SEGMENT_SHARE 16 /* at most this part of all memory for one segment */
#define GONE UINT32_MAX	 /* entry of a thread that is not in the next sample */

/* A thread of the last sample; flags as in a change. */
struct history_thread {
	pid_t tid;
	uint32_t number, entry, flags;
};

struct history_process {
	uint64_t pid;	  /* first, see base/search.h */
	uint64_t time;	  /* of its last sample; 0: there was none */
	uint64_t segment; /* number of the last one that it has a sample in */
	struct history_thread *threads, *next;
	size_t count, capacity, next_capacity;
};

struct pmp_history {
	uint64_t bytes, time;
	bool losses;
	struct pmp_segment *segments;
	size_t count, capacity;
	uint64_t number; /* of the newest segment, starting at 1 */
	uint64_t size;	 /* of all segments, in bytes */
	bool gap;	 /* something could not be recorded */
	struct history_process *processes;
	size_t process_count, process_capacity;
	size_t current;	 /* index of the process of the current sample */
	uint32_t *spare; /* numbers of threads that have ended */
	size_t spare_count, spare_capacity;
	size_t thread_count;
};

struct pmp_history *pmp_history_new(uint64_t bytes, uint64_t time, bool losses)
{
	struct pmp_history *history = calloc(1, sizeof(*history));

	if (!history)
		return NULL;
	history->bytes = bytes;
	history->losses = losses;
	history->time = time ? time : UINT64_MAX;
	return history;
}

static void free_segment(struct pmp_segment *segment)
{
	free(segment->samples);
	free(segment->changes);
}

void pmp_history_free(struct pmp_history *history)
{
	if (!history)
		return;
	for (size_t i = 0; i < history->count; i++)
		free_segment(&history->segments[i]);
	for (size_t i = 0; i < history->process_count; i++) {
		free(history->processes[i].threads);
		free(history->processes[i].next);
	}
	free(history->segments);
	free(history->processes);
	free(history->spare);
	free(history);
}

uint64_t pmp_history_size(const struct pmp_history *history)
{
	uint64_t size = history->size + history->capacity * sizeof(*history->segments) +
			history->process_capacity * sizeof(*history->processes) +
			history->spare_capacity * sizeof(*history->spare);

	for (size_t i = 0; i < history->process_count; i++)
		size += (history->processes[i].capacity +
			 history->processes[i].next_capacity) *
			sizeof(struct history_thread);
	return size;
}

size_t pmp_history_thread_count(const struct pmp_history *history)
{
	return history->thread_count;
}

const struct pmp_segment *pmp_history_segment(const struct pmp_history *history, size_t i)
{
	return i < history->count ? &history->segments[i] : NULL;
}

const struct pmp_past_sample *pmp_history_at(const struct pmp_history *history,
					     struct pmp_history_position *position,
					     const struct pmp_change **changes)
{
	const uint64_t first = history->count ? history->segments[0].number : 0;

	if (position->segment < first)
		*position = (struct pmp_history_position){ .segment = first };
	for (; position->segment - first < history->count; position->segment++) {
		const struct pmp_segment *segment =
			&history->segments[position->segment - first];

		if (position->sample < segment->sample_count) {
			*changes = segment->changes + position->change;
			return &segment->samples[position->sample];
		}
		/* More samples may be added to the newest segment. */
		if (segment->number == history->number)
			return NULL;
		position->sample = position->change = 0;
	}
	return NULL;
}

bool pmp_history_is_after_gap(const struct pmp_history *history,
			      const struct pmp_history_position *position)
{
	return !position->sample &&
	       history->segments[position->segment - history->segments[0].number]
		       .after_gap;
}

/* ---- segments --------------------------------------------------------------------- */

static struct pmp_segment *newest(const struct pmp_history *history)
{
	return &history->segments[history->count - 1];
}

static uint64_t size_of(const struct pmp_segment *segment)
{
	return segment->sample_capacity * sizeof(*segment->samples) +
	       segment->change_capacity * sizeof(*segment->changes);
}

static void shrink_array(void *array, size_t *capacity, size_t count, size_t size)
{
	void **items = array;
	void *less = count && count < *capacity ? realloc(*items, count * size) : NULL;

	if (!less)
		return;
	*items = less;
	*capacity = count;
}

/* Trim the newest segment, to which nothing will be added any more. */
static void close_segment(struct pmp_history *history)
{
	struct pmp_segment *segment = newest(history);

	history->size -= size_of(segment);
	shrink_array(&segment->samples, &segment->sample_capacity, segment->sample_count,
		     sizeof(*segment->samples));
	shrink_array(&segment->changes, &segment->change_capacity, segment->change_count,
		     sizeof(*segment->changes));
	history->size += size_of(segment);
}

static bool is_over(const struct pmp_history *history, uint64_t now)
{
	const struct pmp_segment *segment;

	if (!history->count || history->gap)
		return true;
	segment = newest(history);
	return segment->sample_count &&
	       ((now > segment->start && now - segment->start >= SEGMENT_TIME) ||
		segment->change_count * sizeof(*segment->changes) >
			history->bytes / SEGMENT_SHARE);
}

static int open_segment(struct pmp_history *history, const struct pmp_sample *sample)
{
	if (PMP_RESERVE(&history->segments, &history->capacity, history->count + 1))
		return PMP_ENOMEM;
	if (history->count)
		close_segment(history);
	history->segments[history->count++] = (struct pmp_segment){
		.number = ++history->number,
		.start = sample->time,
		.to_realtime = sample->realtime - sample->time,
		.after_gap = history->gap,
	};
	history->gap = false;
	return 0;
}

uint64_t pmp_history_kept(const struct pmp_history *history, uint64_t now)
{
	uint64_t size = history->size;
	size_t i = 0;

	for (; i + 1 < history->count; i++) {
		if (size <= history->bytes &&
		    (now <= history->time ||
		     history->segments[i + 1].start >= now - history->time))
			break;
		size -= size_of(&history->segments[i]);
	}
	return history->count ? history->segments[i].number : 0;
}

void pmp_history_drop(struct pmp_history *history, uint64_t kept)
{
	while (history->count && history->segments[0].number < kept) {
		history->size -= size_of(&history->segments[0]);
		free_segment(&history->segments[0]);
		memmove(history->segments, history->segments + 1,
			--history->count * sizeof(*history->segments));
	}
}

static int reserve_changes(struct pmp_history *history, size_t changes)
{
	struct pmp_segment *segment = newest(history);
	int code;

	history->size -= size_of(segment);
	code = PMP_RESERVE(&segment->changes, &segment->change_capacity,
			   segment->change_count + changes) ||
			       PMP_RESERVE(&segment->samples, &segment->sample_capacity,
					   segment->sample_count + 1)
		       ? PMP_ENOMEM
		       : 0;
	history->size += size_of(segment);
	return code;
}

static void add_change(struct pmp_history *history, const struct pmp_change *change)
{
	struct pmp_segment *segment = newest(history);

	segment->changes[segment->change_count++] = *change;
}

/* ---- processes, numbers of threads --------------------------------------------------- */

/* The index of a process; SIZE_MAX: not known. */
static size_t find_process(const struct pmp_history *history, pid_t pid)
{
	size_t after = pmp_search_after(history->processes, history->process_count,
					sizeof(*history->processes), (uint64_t)pid);

	if (after && history->processes[after - 1].pid == (uint64_t)pid)
		return after - 1;
	return SIZE_MAX;
}

static int add_process(struct pmp_history *history, pid_t pid)
{
	size_t at;

	if (PMP_RESERVE(&history->processes, &history->process_capacity,
			history->process_count + 1))
		return PMP_ENOMEM;
	at = pmp_search_after(history->processes, history->process_count,
			      sizeof(*history->processes), (uint64_t)pid);
	memmove(history->processes + at + 1, history->processes + at,
		(history->process_count++ - at) * sizeof(*history->processes));
	history->processes[at] = (struct history_process){ .pid = (uint64_t)pid };
	history->current = at;
	return 0;
}

static uint32_t take_number(struct pmp_history *history)
{
	if (history->spare_count)
		return history->spare[--history->spare_count];
	return (uint32_t)history->thread_count++;
}

/* ---- a sample -------------------------------------------------------------------------- */

int pmp_history_begin(struct pmp_history *history, const struct pmp_sample *sample)
{
	size_t threads = sample->thread_count, most;
	struct history_process *process;

	if (history->thread_count + threads >= PMP_HISTORY_THREADS_MAX)
		return PMP_ENOMEM;
	history->current = find_process(history, sample->pid);
	if (history->current == SIZE_MAX && add_process(history, sample->pid))
		return PMP_ENOMEM;
	process = &history->processes[history->current];
	if (is_over(history, sample->time) && open_segment(history, sample))
		return PMP_ENOMEM;
	/* Two changes for each thread, one for each that is gone; stops; losses. */
	most = 2 * threads + process->count + threads / 3 + 2;
	if (PMP_RESERVE(&process->next, &process->next_capacity, threads) ||
	    PMP_RESERVE(&history->spare, &history->spare_capacity,
			history->thread_count + threads))
		return PMP_ENOMEM;
	return reserve_changes(history, most);
}

/* Put the threads of a sample with their numbers into process->next, and mark those of the
 * last sample that are gone. */
static void number_threads(struct pmp_history *history, struct history_process *process,
			   const struct pmp_sample *sample)
{
	struct history_thread *last = process->threads;
	size_t at = 0;

	for (size_t i = 0; i < sample->thread_count; i++) {
		const pid_t tid = sample->threads[i].tid;

		while (at < process->count && last[at].tid < tid)
			last[at++].entry = GONE;
		if (at < process->count && last[at].tid == tid)
			process->next[i] = last[at++];
		else
			process->next[i] = (struct history_thread){
				.tid = tid,
				.number = take_number(history),
				.entry = PMP_ENTRY_NONE,
			};
	}
	while (at < process->count)
		last[at++].entry = GONE;
}

static uint32_t flags_of(const struct history_process *process,
			 const struct pmp_history_find *find)
{
	uint32_t root =
		find->root == PMP_NO_ROOT ? 0 : process->next[find->root].number + 1;

	return (uint32_t)find->weight << PMP_CHANGE_WEIGHT_SHIFT |
	       root << PMP_CHANGE_ROOT_SHIFT;
}

/* Add what does not fit into one change. */
static void add_more(struct pmp_history *history, uint64_t wall, uint64_t cpu)
{
	const struct pmp_change more = {
		.thread = (uint32_t)(wall >> 32),
		.entry = (uint32_t)wall,
		.cpu = (uint32_t)(cpu >> 32),
		.flags = PMP_CHANGE_MORE,
	};

	if (wall || more.cpu)
		add_change(history, &more);
}

/* all: record the thread even if it has not changed. */
static void add_thread(struct pmp_history *history, struct history_process *process,
		       size_t i, const struct pmp_history_find *find, uint64_t passed,
		       bool all)
{
	struct history_thread *thread = &process->next[i];
	const uint32_t flags = flags_of(process, find);
	const struct pmp_change change = {
		.thread = thread->number,
		.entry = find->entry,
		.cpu = (uint32_t)find->cpu,
		.flags = flags | (find->begins ? PMP_CHANGE_BEGINS : 0),
	};

	if (!all && thread->entry == find->entry && thread->flags == flags &&
	    !find->begins && !find->cpu && find->wall == passed)
		return;
	thread->entry = find->entry;
	thread->flags = flags;
	add_change(history, &change);
	/* The difference is 0, unless the thread was not in its process's last sample. */
	add_more(history, find->wall - passed, find->cpu);
}

static uint32_t narrow(uint64_t value)
{
	return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

/* Add the times for which threads were stopped, three to a change. */
static void add_stops(struct pmp_history *history, const struct pmp_sample *sample)
{
	const struct pmp_change none = { .flags = PMP_CHANGE_STOPS };
	struct pmp_change stops = none;

	for (size_t i = 0; i < sample->thread_count; i++) {
		const struct pmp_thread *thread = &sample->threads[i];
		const uint32_t stop = narrow(thread->stopped + 1);

		if (thread->obtained != PMP_STOPPED && !thread->stopped)
			continue;
		if (!stops.thread) {
			stops.thread = stop;
		} else if (!stops.entry) {
			stops.entry = stop;
		} else {
			stops.cpu = stop;
			add_change(history, &stops);
			stops = none;
		}
	}
	if (stops.thread)
		add_change(history, &stops);
}

static void add_losses(struct pmp_history *history, const struct pmp_sample *sample,
		       struct pmp_past_sample *past)
{
	struct pmp_change losses = { .cpu = narrow(sample->any_stopped) };

	for (size_t i = 0; i < sample->thread_count; i++) {
		const struct pmp_thread *thread = &sample->threads[i];
		const bool left = thread->obtained == PMP_NOT_STOPPED ||
				  thread->end == PMP_END_NOT_STOPPED;

		past->peeked += thread->obtained == PMP_PEEKED;
		past->unchanged += thread->obtained == PMP_UNCHANGED;
		losses.entry += left;
		losses.thread += !left && thread->end != PMP_END_ROOT;
	}
	losses.flags = narrow(sample->vanished) << PMP_CHANGE_ROOT_SHIFT;
	if (!losses.thread && !losses.entry && !losses.cpu && !losses.flags)
		return;
	losses.flags |= PMP_CHANGE_LOSSES;
	add_change(history, &losses);
}

/* These come last in a sample: until then, time of other threads may be charged to them. */
static void add_gone(struct pmp_history *history, const struct history_process *process)
{
	for (size_t i = 0; i < process->count; i++) {
		const struct pmp_change gone = {
			.thread = process->threads[i].number,
			.flags = PMP_CHANGE_GONE,
		};

		if (process->threads[i].entry != GONE)
			continue;
		add_change(history, &gone);
		history->spare[history->spare_count++] = gone.thread;
	}
}

static void end_sample(struct pmp_history *history, struct history_process *process,
		       struct pmp_past_sample *past, size_t first)
{
	struct pmp_segment *segment = newest(history);
	struct history_thread *threads = process->threads;
	size_t capacity = process->capacity;

	past->changes = (uint32_t)(segment->change_count - first);
	segment->samples[segment->sample_count++] = *past;
	process->threads = process->next;
	process->capacity = process->next_capacity;
	process->next = threads;
	process->next_capacity = capacity;
	process->count = past->stacks;
	process->time = past->time;
	process->segment = segment->number;
}

void pmp_history_add(struct pmp_history *history, const struct pmp_sample *sample,
		     const struct pmp_history_find *finds)
{
	struct history_process *process = &history->processes[history->current];
	const bool all = process->segment != newest(history)->number;
	const size_t first = newest(history)->change_count;
	struct pmp_past_sample past = {
		.time = sample->time,
		.pid = sample->pid,
		.stacks = (uint32_t)sample->thread_count,
	};

	if (process->time && sample->time > process->time)
		past.passed = sample->time - process->time;
	number_threads(history, process, sample);
	for (size_t i = 0; i < sample->thread_count; i++)
		add_thread(history, process, i, &finds[i], past.passed, all);
	if (history->losses) {
		add_stops(history, sample);
		add_losses(history, sample, &past);
	}
	add_gone(history, process);
	end_sample(history, process, &past, first);
}

/* ---- all of it ------------------------------------------------------------------------- */

void pmp_history_forget(struct pmp_history *history, pid_t pid)
{
	size_t i = find_process(history, pid), first;
	struct history_process *process = i < SIZE_MAX ? &history->processes[i] : NULL;
	struct pmp_past_sample past = { .pid = pid, .ended = true };

	if (!process)
		return;
	past.time = process->time;
	for (size_t k = 0; k < process->count; k++)
		process->threads[k].entry = GONE;
	/* Without room to record the end, leave a gap, or its threads would seem to go
	 * on. */
	if (!history->count || reserve_changes(history, process->count)) {
		history->gap = true;
		for (size_t k = 0; k < process->count; k++)
			history->spare[history->spare_count++] =
				process->threads[k].number;
	} else {
		first = newest(history)->change_count;
		add_gone(history, process);
		end_sample(history, process, &past, first);
	}
	free(process->threads);
	free(process->next);
	memmove(process, process + 1,
		(--history->process_count - i) * sizeof(*history->processes));
}

void pmp_history_renumber(struct pmp_history *history, const uint32_t *new)
{
	for (size_t i = 0; i < history->count; i++) {
		const struct pmp_segment *segment = &history->segments[i];

		for (size_t k = 0; k < segment->change_count; k++)
			if (pmp_change_kind(&segment->changes[k]) == PMP_CHANGE_THREAD)
				segment->changes[k].entry =
					new[segment->changes[k].entry];
	}
	for (size_t i = 0; i < history->process_count; i++)
		for (size_t k = 0; k < history->processes[i].count; k++) {
			struct history_thread *thread = &history->processes[i].threads[k];

			thread->entry = new[thread->entry];
		}
}

void pmp_history_count(const struct pmp_history *history, uint64_t *counts)
{
	for (size_t i = 0; i < history->count; i++) {
		const struct pmp_segment *segment = &history->segments[i];

		for (size_t k = 0; k < segment->change_count; k++)
			if (pmp_change_kind(&segment->changes[k]) == PMP_CHANGE_THREAD)
				counts[segment->changes[k].entry]++;
	}
}
