/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counting the threads of samples. */
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/intern.h"
#include "tally/live-tables.h"
#include "tally/live.h"

#define RATE_TIME PMP_S /* period for measuring CPU time and switches */

/* ---- a thread ------------------------------------------------------------------ */

/* Measure CPU time and run counts since the mark, which moves on each second. */
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
	thread->reading = now->reading;
	thread->obtained = (unsigned)now->obtained <= PMP_NOT_STOPPED ? now->obtained
								      : PMP_NOT_STOPPED;
}

static bool same_state(const struct pmp_counted_counter *one,
		       const struct pmp_counted_counter *other)
{
	return one->state == other->state && one->lock == other->lock;
}

/* The current counter of a thread; PMP_INTERN_NONE: out of memory. */
static uint32_t find_counter(struct pmp_live *live, uint32_t row,
			     const struct pmp_thread *thread,
			     const pmp_location *locations)
{
	struct pmp_counted_counter like = { .thread = row,
					    .state = thread->state,
					    .lock = live->threads[row].lock };
	uint32_t id = live->threads[row].counter;

	/* If a sample was lost in between, the reading is not that of the row's counter. */
	if (thread->obtained == PMP_UNCHANGED && id != PMP_INTERN_NONE &&
	    thread->reading && thread->reading == live->threads[row].reading &&
	    same_state(&live->counters[id], &like))
		return id;
	like.stack = pmp_live_find_stack(live, thread, locations);
	return like.stack == PMP_INTERN_NONE ? PMP_INTERN_NONE
					     : pmp_live_find_counter(live, &like);
}

/* The row of a thread, mostly that of thread i in the last sample. PMP_INTERN_NONE: out of
 * memory. */
static uint32_t find_row(struct pmp_live *live, size_t i, uint32_t process, pid_t tid)
{
	const struct pmp_thread_key key = { .process = process, .tid = tid };

	if (i < live->row_count) {
		const struct pmp_counted_thread *thread = &live->threads[live->rows[i]];

		if (thread->tid == tid && thread->process == process)
			return live->rows[i];
	}
	return pmp_live_find_thread(live, &key);
}

/* Find what thread i of the sample is counted in. passed: time since the process's last
 * sample. */
static int find_thread(struct pmp_live *live, size_t i, uint32_t process, uint64_t passed,
		       const pmp_location *locations)
{
	const struct pmp_sample *sample = live->sample_locks.sample;
	const struct pmp_thread *thread = &sample->threads[i];
	uint32_t row = find_row(live, i, process, thread->tid), id;
	bool is_new;

	if (row == PMP_INTERN_NONE || !pmp_live_take_wait(live, row, i, sample->time))
		return PMP_ENOMEM;
	is_new = live->threads[row].seen + passed != sample->time;
	id = find_counter(live, row, thread, locations);
	if (id == PMP_INTERN_NONE)
		return PMP_ENOMEM;
	describe(&live->threads[row], thread, sample->time);
	live->threads[row].counter = id;
	live->rows[i] = row;
	live->counters[id].syscall = thread->syscall;
	live->finds[i] = (struct pmp_history_find){
		.entry = id,
		.wall = is_new ? 0 : passed,
		.root = PMP_NO_ROOT,
	};
	return 0;
}

/* Count all threads, when nothing can fail any more. */
static void count_threads(struct pmp_live *live, const struct pmp_sample *sample)
{
	for (size_t i = 0; i < sample->thread_count; i++) {
		struct pmp_counted_counter *counter =
			&live->counters[live->finds[i].entry];

		counter->count++;
		pmp_live_count_wait(live, counter, live->finds[i].wall, sample->time);
	}
	if (live->row_count < sample->thread_count)
		live->row_count = sample->thread_count;
	pmp_history_add(live->past, sample, live->finds);
}

/* ---- a sample ------------------------------------------------------------------ */

static int begin_sample(struct pmp_live *live, const struct pmp_sample *sample,
			struct pmp_symbolizer *symbolizer)
{
	if (pmp_live_make_room(live, sample) ||
	    PMP_RESERVE(&live->finds, &live->find_capacity, sample->thread_count) ||
	    pmp_live_merge_if_full(live, sample->time) ||
	    PMP_RESERVE(&live->rows, &live->rows_capacity, sample->thread_count + 1) ||
	    pmp_sample_locks_start(&live->sample_locks, sample, symbolizer, true) ||
	    pmp_live_keep_peers(live, sample))
		return PMP_ENOMEM;
	live->history = pmp_wait_histories_add(&live->histories, sample);
	if (!live->history)
		return PMP_ENOMEM;
	if (!live->first_time)
		live->first_time = sample->time;
	live->info.time = sample->time;
	return 0;
}

/* Its threads are gone: they must not appear as present. */
static void drop_last(struct pmp_live *live, pid_t pid)
{
	const struct pmp_process_key key = { .pid = pid };
	uint32_t id = pmp_intern_find(live->process_keys, &key, sizeof(key));
	struct pmp_counted_process *process;

	pmp_live_drop_peers(live, &pid);
	if (id == PMP_INTERN_NONE)
		return;
	process = &live->processes[id];
	process->last = (struct pmp_sample_info){ .size = sizeof(process->last) };
	process->deadlocks = 0;
	process->ended = false;
}

static void drop_ended(struct pmp_live *live)
{
	while (live->ended_pid_count)
		drop_last(live, live->ended_pids[--live->ended_pid_count]);
}

/* Count the sample itself, in its process and in the windows. */
static void end_sample(struct pmp_live *live, const struct pmp_sample *sample,
		       uint32_t process)
{
	struct pmp_counted_process *owner = &live->processes[process];

	copy_text(owner->name, sample->name, sizeof(owner->name));
	owner->seen = sample->time;
	owner->last.size = sizeof(owner->last);
	pmp_sample_info(sample, &owner->last);
	owner->last.name = NULL; /* the sample's name is freed with it */
	owner->samples++;
	for (int i = 0; i < PMP_WINDOW_COUNT; i++) {
		live->windows[i].samples++;
		live->windows[i].stacks += sample->thread_count;
	}
	live->windows[PMP_WINDOW_START].span = sample->time - live->first_time;
}

int pmp_live_add(struct pmp_live *live, const struct pmp_sample *sample,
		 const pmp_location *locations, struct pmp_symbolizer *symbolizer)
{
	const struct pmp_process_key key = { .pid = sample->pid };
	uint32_t process;
	uint64_t passed = 0;
	int code;

	drop_ended(live);
	code = begin_sample(live, sample, symbolizer);
	if (code)
		return code;
	process = pmp_live_find_process(live, &key);
	if (process == PMP_INTERN_NONE)
		return PMP_ENOMEM;
	if (live->processes[process].seen)
		passed = sample->time - live->processes[process].seen;
	for (size_t i = 0; i < sample->thread_count; i++)
		if (find_thread(live, i, process, passed, locations))
			return PMP_ENOMEM;
	count_threads(live, sample);
	live->processes[process].deadlocks = pmp_live_connect(live, sample);
	end_sample(live, sample, process);
	return 0;
}

void pmp_live_forget(struct pmp_live *live, pid_t pid)
{
	const struct pmp_process_key key = { .pid = pid };
	uint32_t id = pmp_intern_find(live->process_keys, &key, sizeof(key));

	pmp_wait_histories_drop(&live->histories, pid);
	pmp_history_forget(live->past, pid);
	if (id != PMP_INTERN_NONE && live->processes[id].ended)
		return;
	/* What it did last stays to be seen if this is the end of all. */
	if (id == PMP_INTERN_NONE ||
	    PMP_RESERVE(&live->ended_pids, &live->ended_pid_capacity,
			live->ended_pid_count + 1)) {
		drop_last(live, pid);
		return;
	}
	live->processes[id].ended = true;
	live->ended_pids[live->ended_pid_count++] = pid;
}
