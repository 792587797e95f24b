/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts for a view. A counter is of a thread with a stack in a state (running, asleep,
 * waiting for a lock), and has three counts: since the start and in two windows of
 * time, so that a view reads its numbers (live-read.c) without adding anything up. A log
 * of counters takes off a window what has become too old. A saved profile is counted by
 * live-saved.c.
 *
 * Memory is bounded: threads and processes that come and go are put together by name once
 * they have been gone for longer than any window. When there are too many stacks, those
 * that are counted least, and in no window, are counted as one. All tables are made again
 * then.
 */
#include "tally/live.h"

#include <stdlib.h>
#include <string.h>

#include "libpmp-program.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/intern.h"
#include "base/syscalls.h"
#include "tally/group.h"
#include "tally/live-tables.h"

#define RATE_TIME PMP_S /* what CPU time and switches are measured over */
#define LOG_COUNTERS_MAX (8u * 1024 * 1024) /* counters in the log: 32 MiB */
#define LOG_SAMPLES_MAX (64u * 1024)	    /* samples in the log */
#define THREADS_MAX 16384  /* rows; more, and the ended are put together */
#define PROCESSES_MAX 4096 /* likewise */
#define ENDED_MAX 4096	   /* names of threads that have ended; more are one */
#define CHAIN_MAX 32 /* threads from one that waits to the one that has to finish first */
#define CIRCLE_MAX 64		/* threads in a deadlock */
#define MERGE_TIME (10 * PMP_S) /* at least, between two times of putting together */

static const uint64_t window_times[PMP_WINDOW_COUNT] = {
	[PMP_WINDOW_START] = UINT64_MAX,
	[PMP_WINDOW_MINUTE] = PMP_LIVE_WINDOW_MAX,
	[PMP_WINDOW_SECONDS] = 10 * PMP_S,
};

/* ---- life ------------------------------------------------------------------ */

struct pmp_live *pmp_live_new(void)
{
	struct pmp_live *live = calloc(1, sizeof(*live));
	const uint32_t none = PMP_END_EVICTED;

	if (!live)
		return NULL;
	live->process_keys = pmp_intern_new();
	live->thread_keys = pmp_intern_new();
	live->stack_keys = pmp_intern_new();
	live->counter_keys = pmp_intern_new();
	live->log_size = live->log_samples_size = 1024;
	live->log = malloc(live->log_size * sizeof(*live->log));
	live->log_samples = malloc(live->log_samples_size * sizeof(*live->log_samples));
	/* Stack 0 stands for all that are too many. */
	live->locks = pmp_locks_new();
	if (!live->process_keys || !live->thread_keys || !live->stack_keys ||
	    !live->counter_keys || !live->log || !live->log_samples || !live->locks ||
	    pmp_intern(live->stack_keys, &none, sizeof(none)) == PMP_INTERN_NONE) {
		pmp_live_free(live);
		return NULL;
	}
	return live;
}

void pmp_live_free(struct pmp_live *live)
{
	if (!live)
		return;
	pmp_intern_free(live->process_keys);
	pmp_intern_free(live->thread_keys);
	pmp_intern_free(live->stack_keys);
	pmp_intern_free(live->counter_keys);
	pmp_intern_free(live->calls);
	pmp_locks_free(live->locks);
	pmp_sample_locks_free(&live->sample_locks);
	free(live->processes);
	free(live->threads);
	free(live->counters);
	free(live->waits);
	free(live->rows);
	free(live->log);
	free(live->log_samples);
	free(live->words);
	free(live);
}

/* ---- tables ---------------------------------------------------------------- */

uint32_t pmp_live_find_process(struct pmp_live *live, const struct pmp_process_key *key)
{
	struct pmp_counted_process *process;
	uint32_t id;

	if (PMP_RESERVE(&live->processes, &live->process_capacity,
			live->process_count + 1))
		return PMP_INTERN_NONE;
	id = pmp_intern(live->process_keys, key, sizeof(*key));
	if (id == PMP_INTERN_NONE || id < live->process_count)
		return id;
	process = &live->processes[live->process_count++];
	*process = (struct pmp_counted_process){ .pid = key->pid };
	memcpy(process->name, key->name, sizeof(process->name));
	return id;
}

uint32_t pmp_live_find_thread(struct pmp_live *live, const struct pmp_thread_key *key)
{
	uint32_t id = pmp_intern(live->thread_keys, key, sizeof(*key));
	struct pmp_counted_thread *thread;

	if (id == PMP_INTERN_NONE ||
	    PMP_RESERVE(&live->threads, &live->thread_capacity, (size_t)id + 1))
		return PMP_INTERN_NONE;
	if (id < live->thread_count)
		return id;
	thread = &live->threads[live->thread_count++];
	*thread = (struct pmp_counted_thread){ .process = key->process,
					       .tid = key->tid,
					       .counter = PMP_INTERN_NONE,
					       .lock = PMP_LOCK_NONE,
					       .holder = PMP_INTERN_NONE,
					       .syscall = PMP_SYSCALL_UNKNOWN,
					       .cpu_share = -1,
					       .switches = -1 };
	memcpy(thread->name, key->name, sizeof(thread->name));
	return id;
}

/* A new one. There is room for it. */
static void add_counter(struct pmp_live *live, const struct pmp_counter_key *key)
{
	uint32_t wait = PMP_INTERN_NONE;

	if (key->lock != PMP_LOCK_NONE) {
		wait = (uint32_t)live->wait_count++;
		live->waits[wait] = (struct pmp_live_wait_times){ 0 };
	}
	live->counters[live->counter_count++] =
		(struct pmp_counted_counter){ .thread = key->thread,
					      .stack = key->stack,
					      .lock = key->lock,
					      .wait = wait,
					      .state = (char)key->state };
}

uint32_t pmp_live_find_counter(struct pmp_live *live,
			       const struct pmp_counted_counter *like)
{
	struct pmp_counter_key key = {
		like->thread,
		like->stack,
		(unsigned char)like->state,
		like->lock,
	};
	uint32_t id;

	if (live->counter_count >= PMP_LIVE_COUNTERS_MAX &&
	    pmp_intern_find(live->counter_keys, &key, sizeof(key)) == PMP_INTERN_NONE) {
		key.stack = 0;
		key.lock = PMP_LOCK_NONE;
	}
	if (PMP_RESERVE(&live->counters, &live->counter_capacity,
			live->counter_count + 1) ||
	    PMP_RESERVE(&live->waits, &live->wait_capacity, live->wait_count + 1))
		return PMP_INTERN_NONE;
	id = pmp_intern(live->counter_keys, &key, sizeof(key));
	if (id != PMP_INTERN_NONE && id == live->counter_count)
		add_counter(live, &key);
	return id;
}

uint32_t pmp_live_find_stack(struct pmp_live *live, const struct pmp_thread *thread,
			     const pmp_location *locations)
{
	size_t count = thread->frame_count, bytes;

	if (PMP_RESERVE(&live->words, &live->words_capacity, count + 1))
		return PMP_INTERN_NONE;
	live->words[0] = thread->end;
	if (count)
		memcpy(live->words + 1, locations + thread->frame,
		       count * sizeof(*locations));
	bytes = (count + 1) * sizeof(*live->words);
	if (pmp_intern_count(live->stack_keys) >= PMP_LIVE_STACKS_MAX) {
		uint32_t known = pmp_intern_find(live->stack_keys, live->words, bytes);

		live->info.merged += known == PMP_INTERN_NONE;
		return known == PMP_INTERN_NONE ? 0 : known;
	}
	return pmp_intern(live->stack_keys, live->words, bytes);
}

uint64_t pmp_live_longest(const struct pmp_live *live, uint32_t wait,
			  enum pmp_window window)
{
	const struct pmp_live_wait_times *counted = &live->waits[wait];

	if (window == PMP_WINDOW_START)
		return counted->longest;
	return pmp_longest_get(&counted->longest_of[window], window_times[window],
			       live->info.time);
}

uint64_t pmp_live_size(const struct pmp_live *live)
{
	return pmp_intern_size(live->process_keys) + pmp_intern_size(live->thread_keys) +
	       pmp_intern_size(live->stack_keys) + pmp_intern_size(live->counter_keys) +
	       live->process_capacity * sizeof(*live->processes) +
	       live->thread_capacity * sizeof(*live->threads) +
	       live->counter_capacity * sizeof(*live->counters) +
	       live->wait_capacity * sizeof(*live->waits) + pmp_locks_size(live->locks);
}

void pmp_live_mark(const struct pmp_live *live, bool *used)
{
	for (uint32_t i = 0; i < pmp_intern_count(live->stack_keys); i++) {
		size_t length;
		const uint32_t *words = pmp_intern_data(live->stack_keys, i, &length);

		for (size_t k = 1; k < length / sizeof(*words); k++)
			used[words[k]] = true;
	}
	for (uint32_t i = 0; i < pmp_locks_count(live->locks); i++) {
		pmp_location location = pmp_locks_get(live->locks, i)->object.location;

		if (location != PMP_LOCATION_NONE)
			used[location] = true;
	}
}

void pmp_live_renumbered(struct pmp_live *live)
{
	live->info.renumbered++;
}

/* ---- the log ------------------------------------------------------------------ */

/* One counter number for each thread of each sample of the longest window. */

/* Double a ring of which [tail, head) is in use; sizes are powers of two. */
static void *grow_ring(void *ring, size_t *size, size_t element, uint64_t tail,
		       uint64_t head)
{
	char *larger = reallocarray(NULL, *size, 2 * element);

	if (!larger)
		return NULL;
	for (uint64_t i = tail; i < head; i++)
		memcpy(larger + (i & (2 * *size - 1)) * element,
		       (char *)ring + (i & (*size - 1)) * element, element);
	free(ring);
	*size *= 2;
	return larger;
}

static uint32_t *log_at(const struct pmp_live *live, uint64_t position)
{
	return &live->log[position & (live->log_size - 1)];
}

static struct pmp_log_sample *sample_at(const struct pmp_live *live, uint64_t position)
{
	return &live->log_samples[position & (live->log_samples_size - 1)];
}

/* Take the oldest sample of a window off its counts. */
static void expire(struct pmp_live *live, int window)
{
	struct pmp_log_tail *tail = &live->tails[window];
	const struct pmp_log_sample *sample = sample_at(live, tail->sample++);

	for (uint32_t i = 0; i < sample->counters; i++) {
		uint32_t logged = *log_at(live, tail->counter++);
		struct pmp_counted_counter *counter =
			&live->counters[logged & ~PMP_LOG_NEW];

		counter->counts[window]--;
		if (counter->wait != PMP_INTERN_NONE && !(logged & PMP_LOG_NEW))
			live->waits[counter->wait].delays[window] -= sample->passed;
	}
	live->windows[window].stacks -= sample->counters;
	live->windows[window].samples--;
	live->processes[sample->process].samples[window]--;
}

static int log_reserve(struct pmp_live *live, size_t counters)
{
	struct pmp_log_tail *tail = &live->tails[PMP_WINDOW_MINUTE];
	struct pmp_log_tail *inner = &live->tails[PMP_WINDOW_SECONDS];

	/* Too much for the log: its windows become shorter, and say so. */
	while (tail->sample < live->head.sample &&
	       (live->head.counter + counters - tail->counter > LOG_COUNTERS_MAX ||
		live->head.sample + 1 - tail->sample > LOG_SAMPLES_MAX)) {
		if (inner->sample == tail->sample)
			expire(live, PMP_WINDOW_SECONDS);
		expire(live, PMP_WINDOW_MINUTE);
	}
	while (live->head.counter + counters - tail->counter > live->log_size) {
		uint32_t *log = grow_ring(live->log, &live->log_size, sizeof(*log),
					  tail->counter, live->head.counter);

		if (!log)
			return PMP_ENOMEM;
		live->log = log;
	}
	if (live->head.sample + 1 - tail->sample > live->log_samples_size) {
		struct pmp_log_sample *samples =
			grow_ring(live->log_samples, &live->log_samples_size,
				  sizeof(*samples), tail->sample, live->head.sample);

		if (!samples)
			return PMP_ENOMEM;
		live->log_samples = samples;
	}
	return 0;
}

static void log_counter(struct pmp_live *live, uint32_t counter)
{
	*log_at(live, live->head.counter++) = counter;
}

static void log_sample(struct pmp_live *live, const struct pmp_log_sample *sample)
{
	*sample_at(live, live->head.sample++) = *sample;
}

static void log_expire(struct pmp_live *live, uint64_t now)
{
	for (int window = PMP_WINDOW_MINUTE; window < PMP_WINDOW_COUNT; window++) {
		struct pmp_log_tail *tail = &live->tails[window];

		while (tail->sample < live->head.sample &&
		       now - sample_at(live, tail->sample)->time > window_times[window])
			expire(live, window);
		live->windows[window].span =
			tail->sample < live->head.sample
				? now - sample_at(live, tail->sample)->time
				: 0;
	}
	live->windows[PMP_WINDOW_START].span = now - live->first_time;
}

/* ---- putting together ---------------------------------------------------------- */

/* Those that have ended are put together by name, and when there are many names as
 * "[others]". live has those that are moved already. */
static uint32_t move_process(struct pmp_live *live, const struct pmp_counted_process *old,
			     uint64_t now)
{
	struct pmp_process_key key = { .pid = old->pid };
	struct pmp_counted_process *process;
	uint32_t id;

	if (!old->pid || now - old->seen > PMP_LIVE_WINDOW_MAX) {
		key.pid = 0;
		memcpy(key.name, old->name, sizeof(key.name));
		if (live->process_count >= ENDED_MAX &&
		    pmp_intern_find(live->process_keys, &key, sizeof(key)) ==
			    PMP_INTERN_NONE)
			key = (struct pmp_process_key){ .name = "[others]" };
	}
	id = pmp_live_find_process(live, &key);
	if (id == PMP_INTERN_NONE)
		return id;
	process = &live->processes[id];
	if (key.pid)
		*process = *old;
	else
		for (int i = 0; i < PMP_WINDOW_COUNT; i++)
			process->samples[i] += old->samples[i];
	return id;
}

/* The row that a thread has after those that have ended were put together. */
static uint32_t move_thread(struct pmp_live *live, const struct pmp_counted_thread *old,
			    uint32_t process, uint64_t now)
{
	struct pmp_thread_key key = { .process = process, .tid = old->tid };
	bool ended = now - old->seen > PMP_LIVE_WINDOW_MAX;
	size_t count;
	uint32_t id;

	if (ended || !old->tid) {
		key.tid = 0;
		/* The threads of a pool are one row when they are gone. */
		pmp_group_fold(old->name, key.name, sizeof(key.name));
		/* Each has a name of its own. */
		if (live->ended_count >= ENDED_MAX &&
		    pmp_intern_find(live->thread_keys, &key, sizeof(key)) ==
			    PMP_INTERN_NONE)
			key = (struct pmp_thread_key){ .process = process,
						       .name = "[others]" };
	}
	count = live->thread_count;
	id = pmp_live_find_thread(live, &key);
	if (id == PMP_INTERN_NONE)
		return id;
	live->ended_count += !key.tid && live->thread_count > count;
	if (key.tid)
		live->threads[id] = *old;
	else if (old->tid)
		live->info.merged++;
	live->threads[id].process = process;
	live->threads[id].counter = PMP_INTERN_NONE;
	/* They have other numbers now; the next sample has them again. */
	live->threads[id].holder = PMP_INTERN_NONE;
	return id;
}

/* What the old counter has of its lock goes to the new one. */
static void add_wait_times(struct pmp_live_wait_times *to,
			   const struct pmp_live_wait_times *from, uint64_t now)
{
	if (to->longest < from->longest)
		to->longest = from->longest;
	for (int i = 0; i < PMP_WINDOW_COUNT; i++) {
		to->delays[i] += from->delays[i];
		if (i != PMP_WINDOW_START)
			pmp_longest_add(&to->longest_of[i], window_times[i], now,
					pmp_longest_get(&from->longest_of[i],
							window_times[i], now));
	}
}

static void add_counts(struct pmp_live *live, uint32_t id, const struct pmp_live *old,
		       const struct pmp_counted_counter *from)
{
	struct pmp_counted_counter *to = &live->counters[id];

	to->syscall = from->syscall;
	for (int i = 0; i < PMP_WINDOW_COUNT; i++)
		to->counts[i] += from->counts[i];
	if (from->wait != PMP_INTERN_NONE && to->wait != PMP_INTERN_NONE)
		add_wait_times(&live->waits[to->wait], &old->waits[from->wait],
			       live->info.time);
}

/* How much a stack is worth to be kept. */
struct worth {
	uint64_t recent, count;
	uint32_t stack;
};

static int compare_worth(const void *a, const void *b)
{
	const struct worth *one = a, *other = b;

	if (one->recent != other->recent)
		return one->recent < other->recent ? 1 : -1;
	if (one->count != other->count)
		return one->count < other->count ? 1 : -1;
	return (one->stack < other->stack) - (one->stack > other->stack);
}

/* Set stays[i] of the half of all stacks that are worth most; 0 is one of them. */
static int choose_stacks(const struct pmp_live *live, uint32_t *stays)
{
	size_t count = pmp_intern_count(live->stack_keys);
	struct worth *worth = calloc(count, sizeof(*worth));

	if (!worth)
		return PMP_ENOMEM;
	for (size_t i = 0; i < count; i++)
		worth[i].stack = (uint32_t)i;
	for (size_t i = 0; i < live->counter_count; i++) {
		const struct pmp_counted_counter *counter = &live->counters[i];

		worth[counter->stack].count += counter->counts[PMP_WINDOW_START];
		worth[counter->stack].recent += counter->counts[PMP_WINDOW_MINUTE];
	}
	worth[0].recent = UINT64_MAX;
	qsort(worth, count, sizeof(*worth), compare_worth);
	for (size_t i = 0; i < count / 2 + 1 && i < count; i++)
		stays[worth[i].stack] = true;
	free(worth);
	return 0;
}

static bool has_many_stacks(const struct pmp_live *live)
{
	return live->counter_count >= PMP_LIVE_COUNTERS_MAX ||
	       pmp_intern_count(live->stack_keys) >= PMP_LIVE_STACKS_MAX;
}

/* Put the stacks, or half of them if they are many, into the new table. stacks[i]
 * becomes the new number of stack i, 0 for those that are left out. */
static int move_stacks(struct pmp_live *live, const struct pmp_live *old, bool many,
		       uint32_t *stacks)
{
	size_t count = pmp_intern_count(old->stack_keys), length;

	if (many && choose_stacks(old, stacks))
		return PMP_ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		const void *words = pmp_intern_data(old->stack_keys, i, &length);

		if (many && !stacks[i]) {
			live->info.merged++;
			continue;
		}
		stacks[i] = pmp_intern(live->stack_keys, words, length);
		if (stacks[i] == PMP_INTERN_NONE)
			return PMP_ENOMEM;
	}
	live->info.renumbered += many;
	return 0;
}

/* The new number of each process, stack and counter. */
struct moves {
	uint32_t *processes, *stacks, *counters;
};

static bool make_moves(struct moves *moves, const struct pmp_live *live)
{
	moves->processes = calloc(live->process_count + 1, sizeof(*moves->processes));
	moves->stacks =
		calloc(pmp_intern_count(live->stack_keys), sizeof(*moves->stacks));
	moves->counters = calloc(live->counter_count + 1, sizeof(*moves->counters));
	return moves->processes && moves->stacks && moves->counters;
}

static void free_moves(struct moves *moves)
{
	free(moves->processes);
	free(moves->stacks);
	free(moves->counters);
}

static int move_counters(struct pmp_live *live, const struct pmp_live *old,
			 const uint32_t *threads, const struct moves *moves)
{
	for (size_t i = 0; i < old->counter_count; i++) {
		struct pmp_counted_counter moved = old->counters[i];

		moved.thread = threads[moved.thread];
		moved.stack = moves->stacks[moved.stack];
		moves->counters[i] = pmp_live_find_counter(live, &moved);
		if (moves->counters[i] == PMP_INTERN_NONE)
			return PMP_ENOMEM;
		add_counts(live, moves->counters[i], old, &old->counters[i]);
	}
	return 0;
}

/* Fill the new tables, which are empty but for stacks, from the old ones. */
static int move_all(struct pmp_live *live, const struct pmp_live *old, uint64_t now,
		    const struct moves *moves)
{
	uint32_t *threads = calloc(old->thread_count + 1, sizeof(*threads));
	int code = threads ? 0 : PMP_ENOMEM;

	for (size_t i = 0; i < old->process_count && !code; i++) {
		moves->processes[i] = move_process(live, &old->processes[i], now);
		code = moves->processes[i] == PMP_INTERN_NONE ? PMP_ENOMEM : 0;
	}
	for (size_t i = 0; i < old->thread_count && !code; i++) {
		const struct pmp_counted_thread *thread = &old->threads[i];

		threads[i] =
			move_thread(live, thread, moves->processes[thread->process], now);
		code = threads[i] == PMP_INTERN_NONE ? PMP_ENOMEM : 0;
	}
	if (!code)
		code = move_counters(live, old, threads, moves);
	free(threads);
	return code;
}

static void free_tables(struct pmp_live *live)
{
	pmp_intern_free(live->process_keys);
	pmp_intern_free(live->thread_keys);
	pmp_intern_free(live->stack_keys);
	pmp_intern_free(live->counter_keys);
	free(live->processes);
	free(live->threads);
	free(live->counters);
	free(live->waits);
}

/* Empty ones. False: no memory. */
static bool make_tables(struct pmp_live *live)
{
	live->process_keys = pmp_intern_new();
	live->thread_keys = pmp_intern_new();
	live->stack_keys = pmp_intern_new();
	live->counter_keys = pmp_intern_new();
	live->processes = NULL;
	live->threads = NULL;
	live->counters = NULL;
	live->waits = NULL;
	live->wait_count = live->wait_capacity = 0;
	live->process_count = live->process_capacity = 0;
	live->thread_count = live->thread_capacity = live->ended_count = 0;
	live->counter_count = live->counter_capacity = 0;
	return live->process_keys && live->thread_keys && live->stack_keys &&
	       live->counter_keys;
}

static void log_renumber(struct pmp_live *live, const struct moves *moves)
{
	const struct pmp_log_tail *tail = &live->tails[PMP_WINDOW_MINUTE];

	for (uint64_t i = tail->counter; i < live->head.counter; i++)
		*log_at(live, i) = moves->counters[*log_at(live, i) & ~PMP_LOG_NEW] |
				   (*log_at(live, i) & PMP_LOG_NEW);
	for (uint64_t i = tail->sample; i < live->head.sample; i++)
		sample_at(live, i)->process =
			moves->processes[sample_at(live, i)->process];
}

/* Put processes and threads together that ended before any window starts, and the lesser
 * half of the stacks if they are too many. On failure all is as before. */
static int merge(struct pmp_live *live, bool many)
{
	struct pmp_live new = *live;
	struct moves moves;
	bool made = make_tables(&new);
	int code = PMP_ENOMEM;

	if (make_moves(&moves, live) && made)
		code = move_stacks(&new, live, many, moves.stacks);
	if (!code)
		code = move_all(&new, live, live->info.time, &moves);
	free_tables(code ? &new : live);
	if (!code) {
		*live = new;
		live->info.moved++;
		log_renumber(live, &moves);
	}
	free_moves(&moves);
	return code;
}

static bool is_full(const struct pmp_live *live)
{
	return live->thread_count > THREADS_MAX || live->process_count > PROCESSES_MAX ||
	       has_many_stacks(live);
}

static int merge_if_full(struct pmp_live *live, uint64_t now)
{
	if (!is_full(live) || now < live->merge_time)
		return 0;
	live->merge_time = now + MERGE_TIME;
	return merge(live, has_many_stacks(live));
}

int pmp_live_shrink(struct pmp_live *live)
{
	return live->saved ? 0 : merge(live, true);
}

/* ---- counting --------------------------------------------------------------- */

/* CPU time and times put on a CPU since the mark, which moves on each second. */
static void measure(struct pmp_counted_thread *thread, const struct pmp_thread *now,
		    uint64_t time)
{
	uint64_t passed = time - thread->mark_time;
	bool begun = thread->mark_time && now->cpu >= thread->mark_cpu &&
		     now->runs >= thread->mark_runs;

	if (begun && passed < RATE_TIME)
		return;
	thread->cpu_share = -1;
	thread->switches = -1;
	if (begun && now->runs) {
		thread->cpu_share =
			(double)(now->cpu - thread->mark_cpu) / (double)passed;
		thread->switches = (double)(now->runs - thread->mark_runs) *
				   (double)PMP_S / (double)passed;
	}
	thread->mark_time = time;
	thread->mark_cpu = now->cpu;
	thread->mark_runs = now->runs;
}

static void copy_text(char *to, const char *from, size_t size)
{
	memcpy(to, from, size);
	to[size - 1] = '\0';
}

static void describe(struct pmp_counted_thread *thread, const struct pmp_thread *now,
		     uint64_t time)
{
	measure(thread, now, time);
	copy_text(thread->name, now->name, sizeof(thread->name));
	copy_text(thread->reason, now->reason, sizeof(thread->reason));
	copy_text(thread->wchan, now->wchan, sizeof(thread->wchan));
	memcpy(thread->args, now->args, sizeof(thread->args));
	thread->syscall = now->syscall;
	thread->state = now->state;
	thread->cpu = now->cpu;
	thread->seen = time;
	thread->obtained = (unsigned)now->obtained <= PMP_NOT_STOPPED ? now->obtained
								      : PMP_NOT_STOPPED;
}

/* The same wait as in its last sample: it has not run since. A stop adds two runs. */
static bool waits_on(const struct pmp_counted_thread *thread,
		     const struct pmp_thread *now)
{
	uint64_t stopped = thread->obtained == PMP_STOPPED ? 2 : 0;

	if (thread->lock == PMP_LOCK_NONE || thread->wait.kind != now->wait.kind ||
	    thread->wait.object != now->wait.object)
		return false;
	return now->obtained == PMP_UNCHANGED ||
	       (now->runs && now->runs == thread->runs + stopped);
}

/* What it waits for, whoever holds that. False: no memory. */
static bool find_lock(struct pmp_live *live, size_t i, uint32_t *number)
{
	struct pmp_lock lock;

	*number = PMP_LOCK_NONE;
	if (!pmp_sample_locks_get(&live->sample_locks, i, &lock))
		return true;
	lock.holder_is = lock.absent = 0;
	lock.holder = 0;
	lock.holder_name = "";
	*number = pmp_locks_add(live->locks, &lock);
	return *number != PMP_LOCK_NONE;
}

/* Take up what it waits for. False: no memory. */
static bool take_wait(struct pmp_live *live, uint32_t row, size_t i, uint64_t time)
{
	struct pmp_counted_thread *thread = &live->threads[row];
	const struct pmp_thread *now = &live->sample_locks.sample->threads[i];

	if (!waits_on(thread, now)) {
		if (!find_lock(live, i, &thread->lock))
			return false;
		thread->wait_since = time;
	}
	thread->wait = now->wait;
	thread->runs = now->runs;
	thread->holder = PMP_INTERN_NONE;
	thread->behind = 0;
	return true;
}

static bool same_state(const struct pmp_counted_counter *one,
		       const struct pmp_counted_counter *other)
{
	return one->state == other->state && one->lock == other->lock;
}

/* passed: time since the process's last sample, if the thread was in that. */
static void count_wait(struct pmp_live *live, const struct pmp_counted_counter *counter,
		       uint64_t passed, uint64_t time)
{
	struct pmp_live_wait_times *wait;
	uint64_t waited = time - live->threads[counter->thread].wait_since;

	if (counter->wait == PMP_INTERN_NONE)
		return;
	wait = &live->waits[counter->wait];
	if (wait->longest < waited)
		wait->longest = waited;
	for (int i = 0; i < PMP_WINDOW_COUNT; i++) {
		wait->delays[i] += passed;
		if (i != PMP_WINDOW_START)
			pmp_longest_add(&wait->longest_of[i], window_times[i], time,
					waited);
	}
}

/* The counter of a thread now, or PMP_INTERN_NONE: no memory. */
static uint32_t find_counter(struct pmp_live *live, uint32_t row,
			     const struct pmp_thread *thread,
			     const pmp_location *locations)
{
	struct pmp_counted_counter like = { .thread = row,
					    .state = thread->state,
					    .lock = live->threads[row].lock };
	uint32_t id = live->threads[row].counter;

	if (thread->obtained == PMP_UNCHANGED && id != PMP_INTERN_NONE &&
	    same_state(&live->counters[id], &like))
		return id;
	like.stack = pmp_live_find_stack(live, thread, locations);
	return like.stack == PMP_INTERN_NONE ? PMP_INTERN_NONE
					     : pmp_live_find_counter(live, &like);
}

/* Thread i of a sample. */
static int count_thread(struct pmp_live *live, size_t i,
			const struct pmp_log_sample *logged,
			const pmp_location *locations)
{
	const struct pmp_thread *thread = &live->sample_locks.sample->threads[i];
	struct pmp_thread_key key = { .process = logged->process, .tid = thread->tid };
	uint32_t row = pmp_live_find_thread(live, &key), id;
	bool is_new;

	if (row == PMP_INTERN_NONE || !take_wait(live, row, i, logged->time))
		return PMP_ENOMEM;
	is_new = live->threads[row].seen + logged->passed != logged->time;
	id = find_counter(live, row, thread, locations);
	if (id == PMP_INTERN_NONE)
		return PMP_ENOMEM;
	describe(&live->threads[row], thread, logged->time);
	live->threads[row].counter = id;
	live->rows[i] = row;
	live->counters[id].syscall = thread->syscall;
	for (int window = 0; window < PMP_WINDOW_COUNT; window++)
		live->counters[id].counts[window]++;
	count_wait(live, &live->counters[id], is_new ? 0 : logged->passed, logged->time);
	log_counter(live, is_new ? id | PMP_LOG_NEW : id);
	return 0;
}

/* ---- who waits for whom ------------------------------------------------------- */

/* The thread that thread i of the sample waits for. */
static uint32_t find_holder(const struct pmp_live *live, size_t i)
{
	size_t holder = pmp_sample_locks_holder(&live->sample_locks, i);

	return holder == PMP_NO_HOLDER ? PMP_INTERN_NONE : live->rows[holder];
}

static bool is_deadlocked(const struct pmp_live *live, uint32_t row)
{
	return live->threads[row].wait.flags & PMP_WAIT_DEADLOCK;
}

/* It waits for all on its way to the root; those in a circle do for each other. */
static void count_behind(struct pmp_live *live, uint32_t row)
{
	uint32_t at = live->threads[row].holder;

	for (int i = 0; i < CHAIN_MAX && at != PMP_INTERN_NONE && at != row; i++) {
		live->threads[at].behind++;
		if (is_deadlocked(live, at))
			return;
		at = live->threads[at].holder;
	}
}

/* Is it the thread of its circle that comes first? */
static bool begins_circle(const struct pmp_live *live, uint32_t row)
{
	uint32_t at = row;

	for (int i = 0; i < CIRCLE_MAX && is_deadlocked(live, at); i++) {
		at = live->threads[at].holder;
		if (at == PMP_INTERN_NONE || at < row)
			return false;
		if (at == row)
			return true;
	}
	return false;
}

/* When all threads of a sample are counted. The number of deadlocks. */
static size_t connect_threads(struct pmp_live *live, const struct pmp_sample *sample)
{
	size_t deadlocks = 0;

	for (size_t i = 0; i < sample->thread_count; i++)
		if (sample->threads[i].wait.kind)
			live->threads[live->rows[i]].holder = find_holder(live, i);
	for (size_t i = 0; i < sample->thread_count; i++) {
		uint32_t row = live->rows[i];

		if (live->threads[row].holder == PMP_INTERN_NONE)
			continue;
		if (!is_deadlocked(live, row))
			count_behind(live, row);
		else
			deadlocks += begins_circle(live, row);
	}
	return deadlocks;
}

static int begin_sample(struct pmp_live *live, const struct pmp_sample *sample,
			struct pmp_symbolizer *symbolizer)
{
	if (log_reserve(live, sample->thread_count) ||
	    merge_if_full(live, sample->time) ||
	    PMP_RESERVE(&live->rows, &live->rows_capacity, sample->thread_count + 1) ||
	    pmp_sample_locks_start(&live->sample_locks, sample, symbolizer, true))
		return PMP_ENOMEM;
	if (!live->first_time)
		live->first_time = sample->time;
	live->info.time = sample->time;
	return 0;
}

/* The sample has been counted in its process. */
static void end_sample(struct pmp_live *live, const struct pmp_sample *sample,
		       const struct pmp_log_sample *logged)
{
	struct pmp_counted_process *owner = &live->processes[logged->process];

	copy_text(owner->name, sample->name, sizeof(owner->name));
	owner->seen = sample->time;
	owner->last.size = sizeof(owner->last);
	pmp_sample_info(sample, &owner->last);
	owner->last.name = NULL; /* that one is freed with the sample */
	for (int i = 0; i < PMP_WINDOW_COUNT; i++) {
		owner->samples[i]++;
		live->windows[i].samples++;
		live->windows[i].stacks += logged->counters;
	}
}

int pmp_live_add(struct pmp_live *live, const struct pmp_sample *sample,
		 const pmp_location *locations, struct pmp_symbolizer *symbolizer)
{
	const struct pmp_process_key key = { .pid = sample->pid };
	struct pmp_log_sample logged = { .time = sample->time };
	int code = begin_sample(live, sample, symbolizer);

	if (code)
		return code;
	logged.process = pmp_live_find_process(live, &key);
	if (logged.process == PMP_INTERN_NONE)
		return PMP_ENOMEM;
	if (live->processes[logged.process].seen)
		logged.passed = sample->time - live->processes[logged.process].seen;
	for (size_t i = 0; i < sample->thread_count && !code; i++) {
		code = count_thread(live, i, &logged, locations);
		logged.counters += !code;
	}
	if (!code)
		live->processes[logged.process].deadlocks = connect_threads(live, sample);
	log_sample(live, &logged);
	end_sample(live, sample, &logged);
	log_expire(live, sample->time);
	return code;
}

void pmp_live_forget(struct pmp_live *live, pid_t pid)
{
	const struct pmp_process_key key = { .pid = pid };
	uint32_t id = pmp_intern_find(live->process_keys, &key, sizeof(key));

	/* Its threads are not there any more, and do not count as if they were. */
	if (id == PMP_INTERN_NONE)
		return;
	live->processes[id].last =
		(struct pmp_sample_info){ .size = sizeof(struct pmp_sample_info) };
	live->processes[id].deadlocks = 0;
}
