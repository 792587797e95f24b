/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts for a view. A cell is a thread with a stack in a state (running, asleep,
 * waiting for a lock), and has three counts: since the start and in two windows of
 * time. What was counted in the longest window is remembered in a log, one cell number
 * for each thread of each sample; what falls out of a window at its old end is taken off
 * its count again, so that a view reads its numbers without adding anything up.
 *
 * All is bounded. Threads that come and go are put together by name once they have
 * been gone for longer than any window. When there are too many stacks, those that are
 * counted least, and in no window, are counted as one.
 *
 * A saved profile comes as entries, which know no time: there is no log of them.
 */
#include "tally/live.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/intern.h"
#include "base/syscalls.h"
#include "tally/group.h"

#define THREADS_MAX 16384	/* rows; more, and the ended are put together */
#define STACKS_MAX (256u * 1024)
#define ENDED_MAX 4096		/* names of threads that have ended; more are one */
#define CELLS_MAX (1024u * 1024)
#define LOG_MAX (8u * 1024 * 1024)	/* cells in the log: 32 MiB */
#define ROUNDS_MAX (64u * 1024)		/* samples in the log */
#define PROCESSES_MAX 256		/* of saved profiles, and */
#define SAVED_THREADS_MAX (64u * 1024)	/* their threads; more are counted as one */
#define SAVED_CALLS (1 << 20)		/* numbers of their calls, which have names only */
#define MERGE_TIME (10 * PMP_S)		/* at least, between two times of putting together */
#define LOCK 256			/* in a key */
#define RATE_TIME PMP_S			/* what CPU time and switches are measured over */

static const uint64_t window_times[PMP_WINDOW_COUNT] = {
	[PMP_WINDOW_START] = UINT64_MAX,
	[PMP_WINDOW_MINUTE] = 60 * PMP_S,
	[PMP_WINDOW_SECONDS] = 10 * PMP_S,
};

struct process {
	pid_t pid;
	char name[PMP_NAME_SIZE];
	uint64_t samples[PMP_WINDOW_COUNT];
	struct pmp_sample_info last;
};

struct thread {
	uint32_t process;
	pid_t tid;			/* 0: threads that have ended */
	char name[PMP_NAME_SIZE];
	uint64_t seen;			/* time of its last sample */
	char state;
	enum pmp_how how;
	uint32_t cell;			/* of its last sample */
	char why[PMP_WHY_SIZE];
	char wchan[PMP_WCHAN_SIZE];
	int syscall;
	bool waits_for_lock;
	uint64_t args[6];
	uint64_t cpu;
	uint64_t wall;			/* of saved profiles */
	uint64_t mark_time, mark_cpu, mark_runs; /* where the measurement began */
	double cpu_share, switches;
};

struct cell {
	uint32_t thread, stack;
	int syscall;
	char state;
	bool waits_for_lock;
	uint64_t counts[PMP_WINDOW_COUNT];
};

/* What a thread or a cell is known by. */
struct thread_key {
	uint32_t process;
	pid_t tid;
	char name[PMP_NAME_SIZE];	/* zero unless tid is 0 */
};

struct cell_key {
	uint32_t thread, stack;
	uint32_t state; /* and LOCK */
};

/* One sample in the log. */
struct round {
	uint64_t time;
	uint32_t process;
	uint32_t cells;
};

/* Where a window begins in the log; positions grow for ever. */
struct tail {
	uint64_t round, cell;
};

struct pmp_live {
	struct process *processes;
	size_t process_count, process_capacity;
	struct pmp_intern *thread_keys, *stack_keys, *cell_keys;
	struct pmp_intern *calls;	/* of saved profiles, else NULL */
	struct thread *threads;
	size_t thread_count, thread_capacity;
	size_t ended_count;		/* of them, names of those that have ended */
	struct cell *cells;
	size_t cell_count, cell_capacity;
	uint32_t *log;			/* ring of cells */
	struct round *rounds;		/* ring */
	size_t log_size, rounds_size;	/* powers of two */
	struct tail head, tails[PMP_WINDOW_COUNT];
	uint32_t *words;		/* the stack at hand: its end, its locations */
	size_t words_capacity;
	struct pmp_live_info info;
	uint64_t first_time;
	bool saved;			/* it was entries that were counted */
	uint64_t merge_time;		/* not before it */
};

/* ---- life ------------------------------------------------------------------ */

struct pmp_live *pmp_live_new(void)
{
	struct pmp_live *live = calloc(1, sizeof(*live));
	const uint32_t none = PMP_END_EVICTED;

	if (!live)
		return NULL;
	live->thread_keys = pmp_intern_new();
	live->stack_keys = pmp_intern_new();
	live->cell_keys = pmp_intern_new();
	live->log_size = live->rounds_size = 1024;
	live->log = malloc(live->log_size * sizeof(*live->log));
	live->rounds = malloc(live->rounds_size * sizeof(*live->rounds));
	/* Stack 0 stands for all that are too many. */
	if (!live->thread_keys || !live->stack_keys || !live->cell_keys || !live->log ||
	    !live->rounds ||
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
	pmp_intern_free(live->thread_keys);
	pmp_intern_free(live->stack_keys);
	pmp_intern_free(live->cell_keys);
	pmp_intern_free(live->calls);
	free(live->processes);
	free(live->threads);
	free(live->cells);
	free(live->log);
	free(live->rounds);
	free(live->words);
	free(live);
}

/* ---- the log --------------------------------------------------------------- */

/* Double a ring of which [tail, head) is in use; sizes are powers of two. */
static void *grow_ring(void *ring, size_t *size, size_t element, uint64_t tail, uint64_t head)
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

static struct round *round_at(const struct pmp_live *live, uint64_t position)
{
	return &live->rounds[position & (live->rounds_size - 1)];
}

/* Take the oldest round of a window off its counts. */
static void expire(struct pmp_live *live, int window)
{
	struct tail *tail = &live->tails[window];
	const struct round *round = round_at(live, tail->round++);

	for (uint32_t i = 0; i < round->cells; i++)
		live->cells[*log_at(live, tail->cell++)].counts[window]--;
	live->info.stacks[window] -= round->cells;
	live->info.samples[window]--;
	live->processes[round->process].samples[window]--;
}

static int make_room(struct pmp_live *live, size_t cells)
{
	struct tail *tail = &live->tails[PMP_WINDOW_MINUTE];
	struct tail *inner = &live->tails[PMP_WINDOW_SECONDS];

	/* Too much for the log: its windows become shorter, and say so. */
	while (tail->round < live->head.round &&
	       (live->head.cell + cells - tail->cell > LOG_MAX ||
		live->head.round + 1 - tail->round > ROUNDS_MAX)) {
		if (inner->round == tail->round)
			expire(live, PMP_WINDOW_SECONDS);
		expire(live, PMP_WINDOW_MINUTE);
	}
	while (live->head.cell + cells - tail->cell > live->log_size) {
		uint32_t *log = grow_ring(live->log, &live->log_size, sizeof(*log),
					  tail->cell, live->head.cell);

		if (!log)
			return PMP_ENOMEM;
		live->log = log;
	}
	if (live->head.round + 1 - tail->round > live->rounds_size) {
		struct round *rounds = grow_ring(live->rounds, &live->rounds_size,
						 sizeof(*rounds), tail->round,
						 live->head.round);

		if (!rounds)
			return PMP_ENOMEM;
		live->rounds = rounds;
	}
	return 0;
}

static void move_windows(struct pmp_live *live, uint64_t now)
{
	for (int window = PMP_WINDOW_MINUTE; window < PMP_WINDOW_COUNT; window++) {
		struct tail *tail = &live->tails[window];

		while (tail->round < live->head.round &&
		       now - round_at(live, tail->round)->time > window_times[window])
			expire(live, window);
		live->info.span[window] =
			tail->round < live->head.round
				? now - round_at(live, tail->round)->time
				: 0;
	}
	live->info.span[PMP_WINDOW_START] = now - live->first_time;
}

/* ---- threads that have ended ------------------------------------------------ */

static uint32_t find_thread(struct pmp_live *live, const struct thread_key *key)
{
	uint32_t id = pmp_intern(live->thread_keys, key, sizeof(*key));
	struct thread *thread;

	if (id == PMP_INTERN_NONE ||
	    PMP_RESERVE(&live->threads, &live->thread_capacity, (size_t)id + 1))
		return PMP_INTERN_NONE;
	if (id < live->thread_count)
		return id;
	thread = &live->threads[live->thread_count++];
	*thread = (struct thread){ .process = key->process,
				   .tid = key->tid,
				   .cell = PMP_INTERN_NONE,
				   .syscall = PMP_SYSCALL_UNKNOWN,
				   .cpu_share = -1,
				   .switches = -1 };
	memcpy(thread->name, key->name, sizeof(thread->name));
	return id;
}

static uint32_t find_cell(struct pmp_live *live, const struct cell *like)
{
	struct cell_key key = {
		like->thread,
		like->stack,
		(unsigned char)like->state | (like->waits_for_lock ? LOCK : 0),
	};
	uint32_t id;

	if (live->cell_count >= CELLS_MAX &&
	    pmp_intern_find(live->cell_keys, &key, sizeof(key)) == PMP_INTERN_NONE)
		key.stack = 0;
	id = pmp_intern(live->cell_keys, &key, sizeof(key));
	if (id == PMP_INTERN_NONE ||
	    PMP_RESERVE(&live->cells, &live->cell_capacity, (size_t)id + 1))
		return PMP_INTERN_NONE;
	if (id == live->cell_count)
		live->cells[live->cell_count++] =
			(struct cell){ .thread = key.thread,
				       .stack = key.stack,
				       .state = like->state,
				       .waits_for_lock = like->waits_for_lock };
	return id;
}

/* The row that a thread has after those that have ended were put together. */
static uint32_t move_thread(struct pmp_live *live, const struct thread *old, uint64_t now)
{
	struct thread_key key = { .process = old->process, .tid = old->tid };
	bool ended = now - old->seen > window_times[PMP_WINDOW_MINUTE];
	size_t count;
	uint32_t id;

	if (ended || !old->tid) {
		key.tid = 0;
		/* The threads of a pool are one row when they are gone. */
		pmp_group_fold(old->name, key.name, sizeof(key.name));
		/* Each has a name of its own. */
		if (live->ended_count >= ENDED_MAX &&
		    pmp_intern_find(live->thread_keys, &key, sizeof(key)) == PMP_INTERN_NONE)
			key = (struct thread_key){ .process = old->process,
						   .name = "[others]" };
	}
	count = live->thread_count;
	id = find_thread(live, &key);
	if (id == PMP_INTERN_NONE)
		return id;
	live->ended_count += !key.tid && live->thread_count > count;
	if (key.tid)
		live->threads[id] = *old;
	else if (old->tid)
		live->info.merged++;
	live->threads[id].cell = PMP_INTERN_NONE;
	return id;
}

static void add_counts(struct cell *to, const struct cell *from)
{
	to->syscall = from->syscall;
	for (int i = 0; i < PMP_WINDOW_COUNT; i++)
		to->counts[i] += from->counts[i];
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
	for (size_t i = 0; i < live->cell_count; i++) {
		const struct cell *cell = &live->cells[i];

		worth[cell->stack].count += cell->counts[PMP_WINDOW_START];
		worth[cell->stack].recent += cell->counts[PMP_WINDOW_MINUTE];
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
	return live->cell_count >= CELLS_MAX ||
	       pmp_intern_count(live->stack_keys) >= STACKS_MAX;
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

/* Fill the new tables, which are empty, from the old ones. cells[i] becomes the new
 * number of cell i, stacks[i] is that of stack i. */
static int move_all(struct pmp_live *live, const struct pmp_live *old, uint64_t now,
		    const uint32_t *stacks, uint32_t *cells)
{
	uint32_t *threads = calloc(old->thread_count + 1, sizeof(*threads));
	int code = threads ? 0 : PMP_ENOMEM;

	for (size_t i = 0; i < old->thread_count && !code; i++) {
		threads[i] = move_thread(live, &old->threads[i], now);
		code = threads[i] == PMP_INTERN_NONE ? PMP_ENOMEM : 0;
	}
	for (size_t i = 0; i < old->cell_count && !code; i++) {
		const struct cell *cell = &old->cells[i];

		struct cell moved = *cell;

		moved.thread = threads[cell->thread];
		moved.stack = stacks[cell->stack];
		cells[i] = find_cell(live, &moved);
		if (cells[i] == PMP_INTERN_NONE)
			code = PMP_ENOMEM;
		else
			add_counts(&live->cells[cells[i]], cell);
	}
	free(threads);
	return code;
}

static void free_tables(struct pmp_live *live)
{
	pmp_intern_free(live->thread_keys);
	pmp_intern_free(live->stack_keys);
	pmp_intern_free(live->cell_keys);
	free(live->threads);
	free(live->cells);
}

static int make_anew(struct pmp_live *new, const struct pmp_live *old, bool many,
		     uint32_t *cells)
{
	uint32_t *stacks = calloc(pmp_intern_count(old->stack_keys), sizeof(*stacks));
	int code = PMP_ENOMEM;

	new->thread_keys = pmp_intern_new();
	new->stack_keys = pmp_intern_new();
	new->cell_keys = pmp_intern_new();
	new->threads = NULL;
	new->cells = NULL;
	new->thread_count = new->thread_capacity = new->ended_count = 0;
	new->cell_count = new->cell_capacity = 0;
	if (stacks && cells && new->thread_keys && new->stack_keys && new->cell_keys)
		code = move_stacks(new, old, many, stacks);
	if (!code)
		code = move_all(new, old, old->info.time, stacks, cells);
	free(stacks);
	return code;
}

/* Put threads together that ended before any window begins, and the lesser half of the
 * stacks if they are too many. On failure all is as before. */
static int merge(struct pmp_live *live, bool many)
{
	struct pmp_live new = *live;
	uint32_t *cells = calloc(live->cell_count + 1, sizeof(*cells));
	int code = make_anew(&new, live, many, cells);

	if (code) {
		free_tables(&new);
		free(cells);
		return code;
	}
	free_tables(live);
	*live = new;
	live->info.moved++;
	for (uint64_t i = live->tails[PMP_WINDOW_MINUTE].cell; i < live->head.cell; i++)
		*log_at(live, i) = cells[*log_at(live, i)];
	free(cells);
	return 0;
}

static bool is_full(const struct pmp_live *live)
{
	return live->thread_count > THREADS_MAX || has_many_stacks(live);
}

uint64_t pmp_live_size(const struct pmp_live *live)
{
	return pmp_intern_size(live->stack_keys) + pmp_intern_size(live->cell_keys) +
	       live->cell_capacity * sizeof(*live->cells);
}

int pmp_live_shrink(struct pmp_live *live)
{
	return live->saved ? 0 : merge(live, true);
}

/* ---- counting --------------------------------------------------------------- */

static uint32_t find_process(struct pmp_live *live, const struct pmp_sample *sample)
{
	size_t i = 0;

	while (i < live->process_count && live->processes[i].pid != sample->pid)
		i++;
	if (i == live->process_count) {
		if (PMP_RESERVE(&live->processes, &live->process_capacity, i + 1))
			return PMP_INTERN_NONE;
		live->processes[live->process_count++] =
			(struct process){ .pid = sample->pid };
	}
	return (uint32_t)i;
}

static uint32_t find_stack(struct pmp_live *live, const struct pmp_thread *thread,
			   const pmp_location *locations)
{
	size_t count = thread->frame_count, bytes;

	if (PMP_RESERVE(&live->words, &live->words_capacity, count + 1))
		return PMP_INTERN_NONE;
	live->words[0] = thread->end;
	if (count)
		memcpy(live->words + 1, locations + thread->frame, count * sizeof(*locations));
	bytes = (count + 1) * sizeof(*live->words);
	if (pmp_intern_count(live->stack_keys) >= STACKS_MAX) {
		uint32_t known = pmp_intern_find(live->stack_keys, live->words, bytes);

		live->info.merged += known == PMP_INTERN_NONE;
		return known == PMP_INTERN_NONE ? 0 : known;
	}
	return pmp_intern(live->stack_keys, live->words, bytes);
}

/* CPU time and times put on a CPU since the mark, which moves on each second. */
static void measure(struct thread *thread, const struct pmp_thread *now, uint64_t time)
{
	uint64_t passed = time - thread->mark_time;
	bool begun = thread->mark_time && now->cpu >= thread->mark_cpu &&
		     now->runs >= thread->mark_runs;

	if (begun && passed < RATE_TIME)
		return;
	thread->cpu_share = -1;
	thread->switches = -1;
	if (begun && now->runs) {
		thread->cpu_share = (double)(now->cpu - thread->mark_cpu) / (double)passed;
		thread->switches = (double)(now->runs - thread->mark_runs) * (double)PMP_S /
				   (double)passed;
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

static void describe(struct thread *thread, const struct pmp_thread *now, uint64_t time)
{
	static const enum pmp_how how[] = {
		[PMP_STOPPED] = PMP_HOW_STOPPED,
		[PMP_LOOKED] = PMP_HOW_LOOKED,
		[PMP_UNCHANGED] = PMP_HOW_UNCHANGED,
		[PMP_NOT_STOPPED] = PMP_HOW_NOT_STOPPED,
	};

	measure(thread, now, time);
	copy_text(thread->name, now->name, sizeof(thread->name));
	copy_text(thread->why, now->why, sizeof(thread->why));
	copy_text(thread->wchan, now->wchan, sizeof(thread->wchan));
	memcpy(thread->args, now->args, sizeof(thread->args));
	thread->syscall = now->syscall;
	thread->state = now->state;
	thread->cpu = now->cpu;
	thread->seen = time;
	thread->how = (size_t)now->obtained < sizeof(how) / sizeof(*how)
			      ? how[now->obtained]
			      : PMP_HOW_NOT_STOPPED;
}

/*
 * glibc's mutexes wait with FUTEX_WAIT, those with priority inheritance with LOCK_PI;
 * its condition variables and semaphores with FUTEX_WAIT_BITSET.
 */
static bool waits_for_lock(const struct pmp_thread *thread)
{
	enum { WAIT = 0, LOCK_PI = 6, LOCK_PI2 = 13, COMMAND = 0x7f };
	const char *name = pmp_syscall_name(thread->syscall);
	uint64_t command = thread->args[1] & COMMAND;

	return name && strcmp(name, "futex") == 0 &&
	       (command == WAIT || command == LOCK_PI || command == LOCK_PI2);
}

static bool same_state(const struct cell *one, const struct cell *other)
{
	return one->state == other->state && one->waits_for_lock == other->waits_for_lock;
}

static int count_thread(struct pmp_live *live, uint32_t process, uint64_t time,
			const struct pmp_thread *thread, const pmp_location *locations)
{
	struct thread_key key = { .process = process, .tid = thread->tid };
	uint32_t row = find_thread(live, &key), id;
	struct cell like = { .thread = row,
			     .state = thread->state,
			     .waits_for_lock = waits_for_lock(thread) };

	if (row == PMP_INTERN_NONE)
		return PMP_ENOMEM;
	id = live->threads[row].cell;
	if (thread->obtained != PMP_UNCHANGED || id == PMP_INTERN_NONE ||
	    !same_state(&live->cells[id], &like)) {
		like.stack = find_stack(live, thread, locations);
		id = like.stack == PMP_INTERN_NONE ? PMP_INTERN_NONE :
						     find_cell(live, &like);
	}
	if (id == PMP_INTERN_NONE)
		return PMP_ENOMEM;
	describe(&live->threads[row], thread, time);
	live->threads[row].cell = id;
	live->threads[row].waits_for_lock = like.waits_for_lock;
	live->cells[id].syscall = thread->syscall;
	for (int i = 0; i < PMP_WINDOW_COUNT; i++)
		live->cells[id].counts[i]++;
	*log_at(live, live->head.cell++) = id;
	return 0;
}

int pmp_live_add(struct pmp_live *live, const struct pmp_sample *sample,
		 const pmp_location *locations)
{
	uint32_t process = find_process(live, sample), counted = 0;
	struct process *owner;
	int code = 0;

	if (process == PMP_INTERN_NONE || make_room(live, sample->thread_count))
		return PMP_ENOMEM;
	if (!live->first_time)
		live->first_time = sample->time;
	live->info.time = sample->time;
	if (is_full(live) && sample->time >= live->merge_time) {
		live->merge_time = sample->time + MERGE_TIME;
		code = merge(live, has_many_stacks(live));
	}
	for (size_t i = 0; i < sample->thread_count && !code; i++) {
		code = count_thread(live, process, sample->time, &sample->threads[i],
				    locations);
		counted += !code;
	}
	*round_at(live, live->head.round++) =
		(struct round){ sample->time, process, counted };
	owner = &live->processes[process];
	copy_text(owner->name, sample->name, sizeof(owner->name));
	owner->last.size = sizeof(owner->last);
	pmp_sample_info(sample, &owner->last);
	for (int i = 0; i < PMP_WINDOW_COUNT; i++) {
		owner->samples[i]++;
		live->info.samples[i]++;
		live->info.stacks[i] += counted;
	}
	move_windows(live, sample->time);
	return code;
}

/* ---- saved profiles ------------------------------------------------------------ */

static void cut_text(char *to, const char *from, size_t size)
{
	size_t length = strnlen(from, size - 1);

	memcpy(to, from, length);
	memset(to + length, 0, size - length);
}

static uint64_t sum(uint64_t a, uint64_t b)
{
	return b > INT64_MAX - a ? INT64_MAX : a + b;
}

/* Processes are the same if their ids and names are. */
static uint32_t find_saved_process(struct pmp_live *live, const struct pmp_entry *entry)
{
	struct process process = { .pid = entry->pid };
	size_t i = 0;

	cut_text(process.name, entry->process, sizeof(process.name));
	if (live->process_count >= PROCESSES_MAX - 1)
		process = (struct process){ .name = "[others]" };
	while (i < live->process_count && (live->processes[i].pid != process.pid ||
					   strcmp(live->processes[i].name, process.name) != 0))
		i++;
	if (i < live->process_count)
		return (uint32_t)i;
	if (PMP_RESERVE(&live->processes, &live->process_capacity, i + 1))
		return PMP_INTERN_NONE;
	live->processes[live->process_count++] = process;
	return (uint32_t)i;
}

static uint32_t find_saved_thread(struct pmp_live *live, const struct pmp_entry *entry,
				  uint32_t process)
{
	struct thread_key key = { .process = process, .tid = entry->tid };

	cut_text(key.name, entry->thread, sizeof(key.name));
	if (live->thread_count >= SAVED_THREADS_MAX &&
	    pmp_intern_find(live->thread_keys, &key, sizeof(key)) == PMP_INTERN_NONE) {
		live->info.merged++;
		key = (struct thread_key){ .process = process, .name = "[others]" };
	}
	return find_thread(live, &key);
}

static int number_of_call(struct pmp_live *live, const char *name)
{
	uint32_t id;

	if (!*name)
		return PMP_SYSCALL_UNKNOWN;
	if (!live->calls)
		live->calls = pmp_intern_new();
	if (!live->calls)
		return PMP_SYSCALL_UNKNOWN;
	id = pmp_intern(live->calls, name, strlen(name));
	return id < INT_MAX - SAVED_CALLS ? SAVED_CALLS + (int)id : PMP_SYSCALL_UNKNOWN;
}

/* A thread is shown with what it was found at most often. */
static void count_saved(struct pmp_live *live, uint32_t row, uint32_t id,
			const struct pmp_entry *entry)
{
	struct thread *thread = &live->threads[row];
	struct cell *cell = &live->cells[id];

	cell->counts[PMP_WINDOW_START] = sum(cell->counts[PMP_WINDOW_START], entry->count);
	cell->syscall = number_of_call(live, entry->syscall);
	thread->cpu = sum(thread->cpu, entry->cpu);
	thread->wall = sum(thread->wall, entry->wall);
	if (thread->wall)
		thread->cpu_share = (double)thread->cpu / (double)thread->wall;
	thread->how = PMP_HOW_UNKNOWN;
	if (thread->cell != PMP_INTERN_NONE && thread->cell != id &&
	    cell->counts[PMP_WINDOW_START] <=
		    live->cells[thread->cell].counts[PMP_WINDOW_START])
		return;
	thread->cell = id;
	thread->state = entry->state;
	thread->syscall = cell->syscall;
	cut_text(thread->wchan, entry->wchan, sizeof(thread->wchan));
	cut_text(thread->why, entry->why, sizeof(thread->why));
}

int pmp_live_count(struct pmp_live *live, const struct pmp_entry *entry)
{
	const struct pmp_thread stack = { .end = entry->end,
					  .frame_count = entry->location_count };
	uint32_t process = find_saved_process(live, entry), id;
	struct cell like = { .state = entry->state };

	if (process == PMP_INTERN_NONE)
		return PMP_ENOMEM;
	live->saved = true;
	like.thread = find_saved_thread(live, entry, process);
	like.stack = find_stack(live, &stack, entry->locations);
	if (like.thread == PMP_INTERN_NONE || like.stack == PMP_INTERN_NONE)
		return PMP_ENOMEM;
	id = find_cell(live, &like);
	if (id == PMP_INTERN_NONE)
		return PMP_ENOMEM;
	count_saved(live, like.thread, id, entry);
	live->info.stacks[PMP_WINDOW_START] =
		sum(live->info.stacks[PMP_WINDOW_START], entry->count);
	return 0;
}

void pmp_live_mark(const struct pmp_live *live, bool *used)
{
	for (uint32_t i = 0; i < pmp_intern_count(live->stack_keys); i++) {
		size_t length;
		const uint32_t *words = pmp_intern_data(live->stack_keys, i, &length);

		for (size_t k = 1; k < length / sizeof(*words); k++)
			used[words[k]] = true;
	}
}

void pmp_live_renumbered(struct pmp_live *live)
{
	live->info.renumbered++;
}

void pmp_live_join(struct pmp_live *live, uint64_t samples, uint64_t duration)
{
	live->info.samples[PMP_WINDOW_START] += samples;
	live->info.span[PMP_WINDOW_START] += duration;
	/* A snapshot is of one process: each is taken to have as many. */
	for (size_t i = 0; i < live->process_count; i++)
		live->processes[i].samples[PMP_WINDOW_START] =
			live->info.samples[PMP_WINDOW_START] / live->process_count;
}

/* ---- reading ------------------------------------------------------------------ */

/* Fill the caller's struct, whose size comes first, as far as it goes. */
static void give(void *to, const void *all, size_t size)
{
	size_t room = *(size_t *)to;

	memcpy((char *)to + sizeof(size), (const char *)all + sizeof(size),
	       (room < size ? room : size) - sizeof(size));
}

void pmp_live_info(const struct pmp_live *live, struct pmp_live_info *info)
{
	give(info, &live->info, sizeof(*info));
}

size_t pmp_live_process_count(const struct pmp_live *live)
{
	return live->process_count;
}

size_t pmp_live_thread_count(const struct pmp_live *live)
{
	return live->thread_count;
}

size_t pmp_live_stack_count(const struct pmp_live *live)
{
	return pmp_intern_count(live->stack_keys);
}

size_t pmp_live_cell_count(const struct pmp_live *live)
{
	return live->cell_count;
}

void pmp_live_process(const struct pmp_live *live, size_t i, struct pmp_live_process *process)
{
	const struct process *row = &live->processes[i];
	struct pmp_live_process all = { .pid = row->pid, .name = row->name, .last = row->last };

	all.last.name = row->name;
	memcpy(all.samples, row->samples, sizeof(all.samples));
	give(process, &all, sizeof(all));
}

static const char *call_name(const struct pmp_live *live, int number)
{
	const char *name;

	if (number >= SAVED_CALLS && live->calls)
		name = pmp_intern_data(live->calls, (uint32_t)(number - SAVED_CALLS), NULL);
	else
		name = pmp_syscall_name(number);

	return name ? name : "";
}

void pmp_live_thread(const struct pmp_live *live, size_t i, struct pmp_live_thread *thread)
{
	const struct thread *row = &live->threads[i];
	const struct process *process = &live->processes[row->process];
	struct pmp_live_thread all = {
		.process = row->process,
		.tid = row->tid,
		.name = row->name,
		.present = live->saved || (row->tid && row->seen == process->last.time),
		.state = row->state ? row->state : '?',
		.how = row->how,
		.stack = row->cell < live->cell_count ? live->cells[row->cell].stack : 0,
		.why = row->why,
		.syscall = call_name(live, row->syscall),
		.waits_for_lock = row->waits_for_lock,
		.wchan = row->wchan,
		.cpu = row->cpu,
		.cpu_share = row->cpu_share,
		.switches = row->switches,
	};

	memcpy(all.args, row->args, sizeof(all.args));
	give(thread, &all, sizeof(all));
}

void pmp_live_stack(const struct pmp_live *live, size_t i, struct pmp_live_stack *stack)
{
	size_t length;
	const uint32_t *words = pmp_intern_data(live->stack_keys, (uint32_t)i, &length);
	struct pmp_live_stack all = {
		.locations = words + 1,
		.count = length / sizeof(*words) - 1,
		.end = "",
	};

	if (words[0] != PMP_END_ROOT)
		all.end = pmp_end_text(words[0]);
	give(stack, &all, sizeof(all));
}

void pmp_live_cell(const struct pmp_live *live, size_t i, struct pmp_live_cell *cell)
{
	const struct cell *row = &live->cells[i];
	struct pmp_live_cell all = {
		.thread = row->thread,
		.stack = row->stack,
		.state = row->state,
		.waits_for_lock = row->waits_for_lock,
		.syscall = call_name(live, row->syscall),
	};

	memcpy(all.counts, row->counts, sizeof(all.counts));
	give(cell, &all, sizeof(all));
}
