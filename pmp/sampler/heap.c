/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See heap.h. */
#include "sampler/heap.h"

#include <time.h>

#include "base/fault.h"
#include "libpmp-program.h"
#include "run/clock.h"
#include "say/message.h"

#define READ_EVERY (20 * NS_PER_MS)
#define READ_OFTEN NS_PER_MS /* if exact; and at first, as programs may be short */
#define FIRST_TIME (200 * NS_PER_MS)
#define WAITS_AT_END 50		 /* ms, for records that are being written */
#define END_TIME (30 * NS_PER_S) /* a process may write as fast as it is read */

static struct pmp_target *target_of(void *arg, pid_t pid)
{
	struct sampling *sampling = arg;

	for (size_t i = 0; i < sampling->count; i++)
		if (sampling->watched[i].pid == pid)
			return sampling->watched[i].target;
	return NULL;
}

static void take(void *arg, const struct pmp_heap_batch *batch)
{
	struct sampling *sampling = arg;
	struct pmp_error err;

	events_check_sent(pmp_sender_heap(sampling->sender, batch, &err));
	events_beat(sampling);
}

static struct pmp_recorder_calls calls_of(struct sampling *sampling)
{
	return (struct pmp_recorder_calls){
		.target = target_of,
		.take = take,
		.arg = sampling,
	};
}

/* Returns whether there is more to read. */
static bool read_some(struct sampling *sampling, const struct pmp_recorder_calls *calls,
		      bool all)
{
	struct pmp_error err;

	return pmp_recorder_read(sampling->recorder, calls, all, &err) == 1 ||
	       PMP_FAULT("heap-endless");
}

uint64_t heap_due(const struct sampling *sampling)
{
	return sampling->recorder ? sampling->heap_due : UINT64_MAX;
}

static uint64_t cpu_now(void)
{
	struct timespec time = { 0 };

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
}

uint64_t heap_leaves(const struct sampling *sampling)
{
	const uint64_t limit = sampling->options->max_cpu, half = (limit + 1) / 2;
	const uint64_t taken = sampling->heap_cost.percent;

	if (!sampling->recorder)
		return limit;
	return limit > taken + half ? limit - taken : half;
}

/* Half of --max-cpu, or all of it if there are no snapshots; in ns. 0: no limit. */
static uint64_t allowed_cpu(const struct sampling *sampling, uint64_t time)
{
	const uint64_t all = time / 100 * sampling->options->max_cpu;

	return sampling->options->heap.only ? all : all / 2;
}

/* Keep within allowed_cpu(): record fewer allocations above it, and more again
 * well below it. The time is doubled, as the front takes about as long for the
 * records as reading them. */
static void keep_budget(struct sampling *sampling, uint64_t now, uint64_t cpu)
{
	const uint64_t since = sampling->heap_cost.since, time = now - since;
	const uint64_t allowed = allowed_cpu(sampling, time);

	sampling->heap_cost.all += 2 * cpu;
	sampling->heap_cost.cpu += 2 * cpu;
	if (time < NS_PER_S)
		return;
	if (since)
		sampling->heap_cost.percent =
			(sampling->heap_cost.cpu * 100 + time - 1) / time;
	if (allowed && since && sampling->heap_cost.cpu > allowed)
		pmp_recorder_slow_down(sampling->recorder);
	else if (!allowed || sampling->heap_cost.cpu < allowed / 3)
		pmp_recorder_speed_up(sampling->recorder);
	sampling->heap_cost.since = now;
	sampling->heap_cost.cpu = 0;
}

void heap_read(struct sampling *sampling)
{
	const struct pmp_recorder_calls calls = calls_of(sampling);
	const uint64_t now = now_ns();
	uint64_t cpu;
	bool more;

	if (now < heap_due(sampling))
		return;
	cpu = cpu_now();
	more = read_some(sampling, &calls, false);
	keep_budget(sampling, now, cpu_now() - cpu);
	if (more)
		sampling->heap_due = now;
	else if (sampling->options->heap.exact || now < sampling->pace.start + FIRST_TIME)
		sampling->heap_due = now + READ_OFTEN;
	else
		sampling->heap_due = now + READ_EVERY;
}

static void read_all(struct sampling *sampling, const struct pmp_recorder_calls *calls,
		     bool all, uint64_t until)
{
	while (read_some(sampling, calls, all) && now_ns() < until)
		events_beat(sampling);
}

void heap_end(struct sampling *sampling, pid_t pid)
{
	struct pmp_recorder_calls calls = calls_of(sampling);
	const struct timespec rest = { 0, NS_PER_MS };
	const uint64_t until = now_ns() + END_TIME;
	uint64_t written;

	if (!sampling->recorder)
		return;
	written = pmp_recorder_written(sampling->recorder);
	for (int i = 0; i < WAITS_AT_END; i++) {
		read_all(sampling, &calls, false, until);
		if (pmp_recorder_has_read(sampling->recorder, written))
			break;
		nanosleep(&rest, NULL);
	}
	calls.ended = pid;
	/* Records of other processes come after that. */
	calls.written = pid ? written : 0;
	read_all(sampling, &calls, true, until);
	pmp_recorder_forget(sampling->recorder, pid);
}
