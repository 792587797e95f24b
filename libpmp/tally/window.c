/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counting a window of the past: the changes of a history are replayed, starting with the
 * segment that the window begins in. A thread is counted when something about it changes,
 * for all samples since the last change, so threads that do not change cost nothing.
 *
 * Each process counts the samples and the time in the window. A thread has the values that
 * these had when it was last counted; the difference is to be counted. Before the window
 * begins they do not grow, so nothing is counted.
 */
#include <stdlib.h>
#include <string.h>

#include "libpmp-program.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/intern.h"
#include "base/sized.h"
#include "tally/cpu-time.h"
#include "tally/evict.h"
#include "tally/histogram.h"
#include "tally/history.h"
#include "tally/profile.h"

#define LEFT_OUT (UINT32_MAX - 1) /* an entry that is not wanted in the window */

struct window_process {
	uint64_t samples, wall; /* in the window so far */
	uint64_t first, last;	/* times of its first and last sample there */
	uint64_t only; /* window.last: time of the one to count; 0: it has ended */
	bool left_out; /* because of its name */
};

struct window_thread {
	uint32_t entry;	  /* in the past; PMP_ENTRY_NONE: there is no such thread */
	uint32_t owner;	  /* entry in the window for its CPU time; or NONE */
	uint32_t evicted; /* entry in the window for its evicted stacks; or NONE */
	uint32_t process;
	uint32_t root;	  /* number + 1; 0: none */
	uint32_t waiters; /* number of threads whose root it is */
	enum pmp_change_weight weight;
	/* Its process's values when it was last counted; time of the sample after that. */
	uint64_t samples, wall, since;
	/* To be counted in addition. */
	uint64_t more_wall, more_held, contentions, held_contentions;
	uint64_t cpu;		       /* in the window so far */
	uint64_t finds, evicted_finds; /* sums of weights of running finds */
};

struct window {
	uint64_t from, to;
	pid_t pid;	  /* 0: all */
	const char *name; /* among the names of the past's entries; NULL: all */
	bool last;	  /* count only the last sample of each process */
	bool counting;	  /* the current sample is in the window */
	const struct pmp_entries *past;
	struct pmp_profile_parts parts; /* of the profile that it becomes */
	uint32_t *entries;	 /* by entry of the past: that in the window; or NONE */
	struct pmp_intern *pids; /* id: index of processes */
	struct window_process *processes;
	size_t process_count, process_capacity;
	struct window_thread *threads;
	size_t thread_count;
	struct pmp_covered covered;
	uint64_t round_start; /* time of the first sample of the current round */
};

/* ---- entries ------------------------------------------------------------------------ */

static bool is_wanted(const struct window *window, const struct pmp_entry *past)
{
	return !window->name || past->process == window->name;
}

static uint32_t make_entry(struct window *window, uint32_t number)
{
	const struct pmp_entry *past = &window->past->all[number];
	struct pmp_entry_waits waits = { 0 };
	struct pmp_entry entry = *past;

	if (!is_wanted(window, past))
		return LEFT_OUT;
	entry.count = entry.running = entry.cpu = entry.settled_cpu = entry.wall = 0;
	if (entry.waits) {
		waits.lock = entry.waits->lock;
		entry.waits = &waits;
	}
	return pmp_entries_count(window->parts.entries, &entry);
}

/* The window's entry for one of the past, or LEFT_OUT; PMP_ENTRY_NONE: out of memory. */
static uint32_t find_entry(struct window *window, uint32_t number)
{
	if (window->entries[number] == PMP_ENTRY_NONE)
		window->entries[number] = make_entry(window, number);
	return window->entries[number];
}

/* ---- threads ------------------------------------------------------------------------ */

static uint64_t weight_of(const struct window_thread *thread)
{
	return thread->weight == PMP_WEIGHT_PROCESSOR ? PMP_ON_PROCESSOR : thread->weight;
}

/* Finds in evicted stacks are kept per thread, as their entry is of many threads. */
static void note_finds(struct window_thread *thread, uint32_t id, uint64_t finds,
		       bool evicted)
{
	thread->finds += finds;
	if (evicted) {
		thread->evicted = id;
		thread->evicted_finds += finds;
	} else {
		thread->owner = id;
	}
}

static int add_run(struct window *window, const struct window_thread *thread, uint32_t id,
		   uint64_t count)
{
	const struct window_process *process = &window->processes[thread->process];
	const struct pmp_entry *entry = &window->past->all[thread->entry];
	const struct pmp_run run = {
		.entry = id,
		.first = thread->since > process->first ? thread->since : process->first,
		.last = process->last,
		.sample = (uint32_t)process->samples,
	};

	return pmp_timeline_put(window->parts.timeline, entry->pid, entry->tid, &run,
				(uint32_t)count);
}

/* Count a thread in its current entry, for all samples so far. 0 or PMP_ENOMEM. */
static int count_thread(struct window *window, struct window_thread *thread)
{
	const struct window_process *process = &window->processes[thread->process];
	const uint64_t count = process->samples - thread->samples;
	const uint64_t wall = process->wall - thread->wall;
	struct pmp_entry_waits waits = {
		.contentions = thread->contentions,
		.held_contentions = thread->held_contentions,
		.held_delay = thread->waiters * wall + thread->more_held,
	};
	struct pmp_entry times = { .count = count,
				   .wall = wall + thread->more_wall,
				   .waits = &waits };
	bool evicted;
	uint32_t id;

	thread->samples = process->samples;
	thread->wall = process->wall;
	thread->more_wall = thread->more_held = 0;
	thread->contentions = thread->held_contentions = 0;
	if (!count)
		return 0;
	id = find_entry(window, thread->entry);
	if (id == PMP_ENTRY_NONE)
		return PMP_ENOMEM;
	if (id == LEFT_OUT)
		return 0;
	evicted = window->parts.entries->all[id].end == PMP_END_EVICTED;
	times.state = window->past->all[thread->entry].state;
	if (evicted)
		window->parts.info->evicted += count;
	else
		times.running = count * weight_of(thread);
	note_finds(thread, id, count * weight_of(thread), evicted);
	pmp_entry_add(&window->parts.entries->all[id], &times);
	return window->parts.timeline ? add_run(window, thread, id, count) : 0;
}

/* Give a thread's CPU time to entries, when all of its finds are known. 0 or PMP_ENOMEM. */
static int give_cpu(struct window *window, struct window_thread *thread)
{
	struct pmp_entries *entries = window->parts.entries;
	struct pmp_entry evicted = { .cpu = 0, .state = '?' };

	if (thread->evicted_finds)
		evicted.cpu = (uint64_t)((unsigned __int128)thread->cpu *
					 thread->evicted_finds / thread->finds);
	if (evicted.cpu)
		pmp_entry_add(&entries->all[thread->evicted], &evicted);
	thread->cpu -= evicted.cpu;
	if (!thread->cpu)
		return 0;
	if (thread->owner == PMP_ENTRY_NONE)
		thread->owner = thread->evicted;
	return thread->owner == PMP_ENTRY_NONE
		       ? 0
		       : pmp_cpu_time_give(window->parts.times, entries, thread->owner,
					   thread->cpu);
}

/* One thread less (-1), or one more (1), waits for the root. 0 or PMP_ENOMEM. */
static int charge(struct window *window, uint32_t root, int waiters)
{
	struct window_thread *thread = root ? &window->threads[root - 1] : NULL;

	if (!thread)
		return 0;
	if (thread->entry != PMP_ENTRY_NONE && count_thread(window, thread))
		return PMP_ENOMEM;
	if (waiters > 0)
		thread->waiters++;
	else if (thread->waiters)
		thread->waiters--;
	return 0;
}

static int begin_thread(struct window *window, struct window_thread *thread,
			uint32_t process, const struct pmp_entry *entry)
{
	const struct window_process *its = &window->processes[process];
	const uint32_t waiters = thread->waiters;

	*thread = (struct window_thread){
		.owner = PMP_ENTRY_NONE,
		.evicted = PMP_ENTRY_NONE,
		.process = process,
		.waiters = waiters,
		.samples = its->samples,
		.wall = its->wall,
	};
	/* This numbers threads in the order in which they were found. */
	return window->parts.timeline
		       ? pmp_timeline_know(window->parts.timeline, entry->pid, entry->tid)
		       : 0;
}

static int end_thread(struct window *window, struct window_thread *thread)
{
	int code = 0;

	if (thread->entry != PMP_ENTRY_NONE)
		code = count_thread(window, thread) || give_cpu(window, thread) ||
				       charge(window, thread->root, -1)
			       ? PMP_ENOMEM
			       : 0;
	*thread = (struct window_thread){ .entry = PMP_ENTRY_NONE };
	return code;
}

static int change_thread(struct window *window, uint32_t process,
			 const struct pmp_change *change, uint64_t time)
{
	struct window_thread *thread = &window->threads[change->thread];
	const uint32_t root = pmp_change_root(change);
	const enum pmp_change_weight weight = pmp_change_weight(change);

	if (thread->entry == PMP_ENTRY_NONE) {
		if (begin_thread(window, thread, process,
				 &window->past->all[change->entry]))
			return PMP_ENOMEM;
	} else if (thread->entry == change->entry && thread->weight == weight &&
		   thread->root == root) {
		return 0;
	} else if (count_thread(window, thread)) {
		return PMP_ENOMEM;
	}
	thread->entry = change->entry;
	thread->weight = weight;
	thread->since = time;
	if (thread->root != root) {
		const uint32_t before = thread->root;

		thread->root = root;
		if (charge(window, before, -1) || charge(window, root, 1))
			return PMP_ENOMEM;
	}
	/* This makes entries in the order in which they are found. */
	return window->counting && find_entry(window, change->entry) == PMP_ENTRY_NONE
		       ? PMP_ENOMEM
		       : 0;
}

/* ---- samples ------------------------------------------------------------------------ */

/* The index of a process; PMP_INTERN_NONE: out of memory. */
static uint32_t find_process(struct window *window, pid_t pid)
{
	uint32_t id;

	if (PMP_RESERVE(&window->processes, &window->process_capacity,
			window->process_count + 1))
		return PMP_INTERN_NONE;
	id = pmp_intern(window->pids, &pid, sizeof(pid));
	if (id == window->process_count)
		window->processes[window->process_count++] =
			(struct window_process){ .left_out = window->name != NULL };
	return id;
}

/* Apply the changes of a sample to its threads. 0 or PMP_ENOMEM. */
static int apply(struct window *window, uint32_t process, uint64_t time,
		 const struct pmp_change *changes, size_t count)
{
	int code = 0;

	for (size_t i = 0; i < count && !code; i++) {
		const struct pmp_change *change = &changes[i];

		if (pmp_change_kind(change) == PMP_CHANGE_GONE) {
			code = end_thread(window, &window->threads[change->thread]);
		} else if (pmp_change_kind(change) == PMP_CHANGE_THREAD) {
			code = change_thread(window, process, change, time);
			window->processes[process].left_out =
				!is_wanted(window, &window->past->all[change->entry]);
		}
	}
	return code;
}

static void count_stops(struct window *window, const struct pmp_change *change)
{
	const uint32_t stops[] = { change->thread, change->entry, change->cpu };

	for (int i = 0; i < 3 && stops[i]; i++) {
		window->parts.info->stops++;
		window->parts.info->stopped += stops[i] - 1;
		pmp_histogram_add(window->parts.stops, stops[i] - 1);
	}
}

/* Count what belongs to this sample alone. If a change is MORE, change[-1] is the one that
 * it continues. */
static void count_change(struct window *window, const struct pmp_change *change)
{
	struct pmp_profile_info *info = window->parts.info;
	struct window_thread *thread, *root;
	uint64_t wall;

	switch (pmp_change_kind(change)) {
	case PMP_CHANGE_THREAD:
		thread = &window->threads[change->thread];
		thread->cpu += change->cpu;
		if (!(change->flags & PMP_CHANGE_BEGINS))
			return;
		thread->contentions++;
		if (thread->root)
			window->threads[thread->root - 1].held_contentions++;
		return;
	case PMP_CHANGE_MORE:
		thread = &window->threads[change[-1].thread];
		root = thread->root ? &window->threads[thread->root - 1] : thread;
		wall = pmp_change_wall(change);
		thread->cpu += (uint64_t)change->cpu << 32;
		thread->more_wall += wall;
		if (thread->root)
			root->more_held += wall;
		return;
	case PMP_CHANGE_STOPS: count_stops(window, change); return;
	case PMP_CHANGE_LOSSES:
		info->truncated += change->thread;
		info->not_stopped += change->entry;
		info->any_stopped += change->cpu;
		info->vanished += pmp_change_root(change);
		return;
	case PMP_CHANGE_GONE: return;
	}
}

static void count_sample(struct window *window, struct window_process *process,
			 const struct pmp_past_sample *sample, uint64_t to_realtime)
{
	struct pmp_profile_info *info = window->parts.info;
	const uint64_t begin = sample->time - sample->passed;
	/* Otherwise .last may be of an earlier process with the same pid. */
	const uint64_t before = sample->passed ? process->last : 0;

	process->samples++;
	process->wall += sample->passed;
	process->last = sample->time;
	if (!process->first)
		process->first = sample->time;
	if (process->left_out)
		return;
	pmp_profile_count_round(info, &window->round_start, before, sample->time);
	info->stacks += sample->stacks;
	info->peeked += sample->peeked;
	info->unchanged += sample->unchanged;
	if (!info->samples++) {
		info->first_time = begin;
		window->parts.metadata->realtime = begin + to_realtime;
	}
	if (begin < info->first_time)
		info->first_time = begin;
	if (sample->time > info->last_time)
		info->last_time = sample->time;
}

static bool is_counted(const struct window *window, const struct window_process *process,
		       const struct pmp_past_sample *sample)
{
	return !sample->ended && sample->time > window->from &&
	       (!window->last || sample->time == process->only);
}

static int replay_sample(struct window *window, const struct pmp_past_sample *sample,
			 const struct pmp_change *changes, uint64_t to_realtime)
{
	struct window_process *process;
	uint32_t id;

	if (window->pid && sample->pid != window->pid)
		return 0;
	id = find_process(window, sample->pid);
	if (id == PMP_INTERN_NONE)
		return PMP_ENOMEM;
	window->counting = is_counted(window, &window->processes[id], sample);
	if (apply(window, id, sample->time, changes, sample->changes))
		return PMP_ENOMEM;
	if (!window->counting)
		return 0;
	process = &window->processes[id];
	count_sample(window, process, sample, to_realtime);
	for (size_t i = 0; i < sample->changes && !process->left_out; i++)
		count_change(window, &changes[i]);
	return 0;
}

/* Count and end all threads. 0 or PMP_ENOMEM. */
static int end_all(struct window *window)
{
	int code = 0;

	/* Count all of them before ending any: a root is charged with the time of threads
	 * that still wait for it. */
	for (size_t i = 0; i < window->thread_count && !code; i++)
		if (window->threads[i].entry != PMP_ENTRY_NONE)
			code = count_thread(window, &window->threads[i]);
	for (size_t i = 0; i < window->thread_count && !code; i++)
		code = end_thread(window, &window->threads[i]);
	return code;
}

static int replay_segment(struct window *window, const struct pmp_segment *segment)
{
	const struct pmp_change *changes = segment->changes;
	int code = segment->after_gap ? end_all(window) : 0;

	for (size_t i = 0; i < segment->sample_count && !code; i++) {
		const struct pmp_past_sample *sample = &segment->samples[i];

		if (sample->time <= window->to)
			code = replay_sample(window, sample, changes,
					     segment->to_realtime);
		changes += sample->changes;
	}
	return code;
}

/* Find the last sample of each process. 0 or PMP_ENOMEM. */
static int find_last(struct window *window, const struct pmp_history *history)
{
	const struct pmp_segment *segment;

	for (size_t i = 0; (segment = pmp_history_segment(history, i)); i++) {
		for (size_t k = 0; k < segment->sample_count; k++) {
			const struct pmp_past_sample *sample = &segment->samples[k];
			uint32_t id;

			if (sample->time > window->to)
				continue;
			id = find_process(window, sample->pid);
			if (id == PMP_INTERN_NONE)
				return PMP_ENOMEM;
			window->processes[id].only = sample->ended ? 0 : sample->time;
		}
	}
	return 0;
}

static int replay(struct window *window, const struct pmp_history *history)
{
	const struct pmp_segment *segment, *next;
	int code = 0;

	for (size_t i = 0; (segment = pmp_history_segment(history, i)) && !code; i++) {
		next = pmp_history_segment(history, i + 1);
		/* Each segment can be read on its own. */
		if (next && next->start <= window->from)
			continue;
		if (segment->start > window->to)
			break;
		code = replay_segment(window, segment);
	}
	return code ? code : end_all(window);
}

/* ---- a window ------------------------------------------------------------------------ */

/* Find the name in the past's entries, so that pointers can be compared. */
static void find_name(struct window *window, const char *name)
{
	uint32_t id = pmp_intern_find(window->past->names, name, strlen(name));

	window->name = id == PMP_INTERN_NONE
			       ? "" /* no entry has it */
			       : pmp_intern_data(window->past->names, id, NULL);
}

static int open_window(struct window *window, const struct pmp_window_options *options,
		       const struct pmp_history *history)
{
	window->from = options->from;
	window->to = options->to ? options->to : UINT64_MAX;
	window->pid = options->pid;
	window->last = options->last;
	if (options->process)
		find_name(window, options->process);
	window->thread_count = pmp_history_thread_count(history);
	window->threads = malloc((window->thread_count + 1) * sizeof(*window->threads));
	window->entries = malloc((window->past->count + 1) * sizeof(*window->entries));
	window->pids = pmp_intern_new();
	if (!window->threads || !window->entries || !window->pids)
		return PMP_ENOMEM;
	for (size_t i = 0; i < window->thread_count; i++)
		window->threads[i] = (struct window_thread){ .entry = PMP_ENTRY_NONE };
	memset(window->entries, 0xff, window->past->count * sizeof(*window->entries));
	return 0;
}

static void close_window(struct window *window)
{
	free(window->threads);
	free(window->entries);
	free(window->processes);
	pmp_intern_free(window->pids);
}

/* Make an empty profile like this one. */
static int make_profile(struct pmp_profile *profile,
			const struct pmp_window_options *options,
			struct pmp_profile **window, struct pmp_error *err)
{
	const struct pmp_profile_options *past = pmp_profile_options(profile);
	const bool details = past->details || past->for_filter;
	struct pmp_metadata metadata;
	struct pmp_profile_options its = {
		.size = sizeof(its),
		.by_thread = options->by_thread && (past->by_thread || details),
		.details = options->details && details,
		.for_filter = options->for_filter && details,
		.times = options->times,
		.waits = options->waits && past->waits,
		.period = past->period,
	};

	pmp_profile_metadata(profile, &metadata);
	its.command = metadata.command;
	its.host = metadata.host;
	return pmp_profile_new(&its, pmp_profile_symbolizer(profile), window, err);
}

int pmp_profile_window(struct pmp_profile *profile,
		       const struct pmp_window_options *options,
		       struct pmp_profile **window, struct pmp_covered *covered,
		       struct pmp_error *err)
{
	const struct pmp_history *history = pmp_profile_past(profile);
	struct window replayed = { .past = pmp_profile_parts(profile).entries };
	struct pmp_window_options all = { 0 };
	struct pmp_covered its = { 0 };
	int code;

	*window = NULL;
	if (!history)
		return pmp_error_set(err, PMP_EINVAL, "no past is kept");
	pmp_sized_take(&all, sizeof(all), options);
	code = make_profile(profile, &all, window, err);
	if (code)
		return code;
	replayed.parts = pmp_profile_parts(*window);
	if (open_window(&replayed, &all, history) ||
	    (all.last && find_last(&replayed, history)) || replay(&replayed, history) ||
	    (all.groups && pmp_profile_sum_groups(*window))) {
		pmp_profile_free(*window);
		*window = NULL;
		code = pmp_error_nomem(err, "counting a window");
	} else if (covered) {
		its.from = replayed.parts.info->first_time;
		its.to = replayed.parts.info->last_time;
		its.samples = replayed.parts.info->samples;
		its.rounds = replayed.parts.info->rounds;
		pmp_sized_give(covered, &its, sizeof(its));
	}
	close_window(&replayed);
	return code;
}

static void cover(struct pmp_covered *covered, const struct pmp_past_sample *sample)
{
	const uint64_t begin = sample->time - sample->passed;

	if (sample->ended)
		return;
	/* Like a window of the whole history: it includes the time of each sample. */
	if (!covered->samples++ || begin < covered->from)
		covered->from = begin;
	if (sample->time > covered->to)
		covered->to = sample->time;
}

bool pmp_profile_history(const struct pmp_profile *profile, struct pmp_covered *covered)
{
	const struct pmp_history *history = pmp_profile_past(profile);
	const struct pmp_segment *segment;
	struct pmp_covered all = { 0 };

	if (!history)
		return false;
	for (size_t i = 0; (segment = pmp_history_segment(history, i)); i++)
		for (size_t k = 0; k < segment->sample_count; k++)
			cover(&all, &segment->samples[k]);
	if (!all.samples)
		return false;
	all.memory = pmp_history_size(history);
	pmp_sized_give(covered, &all, sizeof(all));
	return true;
}
