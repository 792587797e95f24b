/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts for a view. A cell is a thread with a stack in a state (running, asleep,
 * waiting for a lock), and has three counts: since the start and in two windows of
 * time, so that a view reads its numbers (live-read.c) without adding anything up. A log
 * (live-log.c) takes off a window what has become too old; live-merge.c keeps all of it
 * bounded. A saved profile is counted by live-saved.c.
 */
#include "tally/live.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/intern.h"
#include "base/syscalls.h"
#include "tally/live-tables.h"

#define RATE_TIME PMP_S			/* what CPU time and switches are measured over */

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

/* ---- tables ---------------------------------------------------------------- */

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
				   .cell = PMP_INTERN_NONE,
				   .syscall = PMP_SYSCALL_UNKNOWN,
				   .cpu_share = -1,
				   .switches = -1 };
	memcpy(thread->name, key->name, sizeof(thread->name));
	return id;
}

uint32_t pmp_live_find_cell(struct pmp_live *live, const struct pmp_counted_cell *like)
{
	struct pmp_cell_key key = {
		like->thread,
		like->stack,
		(unsigned char)like->state | (like->waits_for_lock ? PMP_LIVE_LOCK : 0),
	};
	uint32_t id;

	if (live->cell_count >= PMP_LIVE_CELLS_MAX &&
	    pmp_intern_find(live->cell_keys, &key, sizeof(key)) == PMP_INTERN_NONE)
		key.stack = 0;
	id = pmp_intern(live->cell_keys, &key, sizeof(key));
	if (id == PMP_INTERN_NONE ||
	    PMP_RESERVE(&live->cells, &live->cell_capacity, (size_t)id + 1))
		return PMP_INTERN_NONE;
	if (id == live->cell_count)
		live->cells[live->cell_count++] =
			(struct pmp_counted_cell){ .thread = key.thread,
				       .stack = key.stack,
				       .state = like->state,
				       .waits_for_lock = like->waits_for_lock };
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
		memcpy(live->words + 1, locations + thread->frame, count * sizeof(*locations));
	bytes = (count + 1) * sizeof(*live->words);
	if (pmp_intern_count(live->stack_keys) >= PMP_LIVE_STACKS_MAX) {
		uint32_t known = pmp_intern_find(live->stack_keys, live->words, bytes);

		live->info.merged += known == PMP_INTERN_NONE;
		return known == PMP_INTERN_NONE ? 0 : known;
	}
	return pmp_intern(live->stack_keys, live->words, bytes);
}

uint64_t pmp_live_size(const struct pmp_live *live)
{
	return pmp_intern_size(live->stack_keys) + pmp_intern_size(live->cell_keys) +
	       live->cell_capacity * sizeof(*live->cells);
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
			(struct pmp_counted_process){ .pid = sample->pid };
	}
	return (uint32_t)i;
}

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

static void describe(struct pmp_counted_thread *thread, const struct pmp_thread *now,
		     uint64_t time)
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

static bool same_state(const struct pmp_counted_cell *one, const struct pmp_counted_cell *other)
{
	return one->state == other->state && one->waits_for_lock == other->waits_for_lock;
}

static int count_thread(struct pmp_live *live, uint32_t process, uint64_t time,
			const struct pmp_thread *thread, const pmp_location *locations)
{
	struct pmp_thread_key key = { .process = process, .tid = thread->tid };
	uint32_t row = pmp_live_find_thread(live, &key), id;
	struct pmp_counted_cell like = { .thread = row,
			     .state = thread->state,
			     .waits_for_lock = waits_for_lock(thread) };

	if (row == PMP_INTERN_NONE)
		return PMP_ENOMEM;
	id = live->threads[row].cell;
	if (thread->obtained != PMP_UNCHANGED || id == PMP_INTERN_NONE ||
	    !same_state(&live->cells[id], &like)) {
		like.stack = pmp_live_find_stack(live, thread, locations);
		id = like.stack == PMP_INTERN_NONE ? PMP_INTERN_NONE :
						     pmp_live_find_cell(live, &like);
	}
	if (id == PMP_INTERN_NONE)
		return PMP_ENOMEM;
	describe(&live->threads[row], thread, time);
	live->threads[row].cell = id;
	live->threads[row].waits_for_lock = like.waits_for_lock;
	live->cells[id].syscall = thread->syscall;
	for (int i = 0; i < PMP_WINDOW_COUNT; i++)
		live->cells[id].counts[i]++;
	pmp_live_log_cell(live, id);
	return 0;
}

int pmp_live_add(struct pmp_live *live, const struct pmp_sample *sample,
		 const pmp_location *locations)
{
	uint32_t process = find_process(live, sample), counted = 0;
	struct pmp_counted_process *owner;
	struct pmp_log_round round;
	int code;

	if (process == PMP_INTERN_NONE || pmp_live_log_reserve(live, sample->thread_count))
		return PMP_ENOMEM;
	if (!live->first_time)
		live->first_time = sample->time;
	live->info.time = sample->time;
	code = pmp_live_merge_if_full(live, sample->time);
	for (size_t i = 0; i < sample->thread_count && !code; i++) {
		code = count_thread(live, process, sample->time, &sample->threads[i],
				    locations);
		counted += !code;
	}
	round = (struct pmp_log_round){ sample->time, process, counted };
	pmp_live_log_round(live, &round);
	owner = &live->processes[process];
	copy_text(owner->name, sample->name, sizeof(owner->name));
	owner->last.size = sizeof(owner->last);
	pmp_sample_info(sample, &owner->last);
	for (int i = 0; i < PMP_WINDOW_COUNT; i++) {
		owner->samples[i]++;
		live->info.samples[i]++;
		live->info.stacks[i] += counted;
	}
	pmp_live_log_expire(live, sample->time);
	return code;
}
