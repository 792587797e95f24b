/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/asleep.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "proc/status.h"

/* The clocks drift apart by stolen time, so they are compared again after this time. */
#define CLOCK_VALID (20 * PMP_MS)

/* If captures are further apart than this, the kernel is asked: with .asleep, and with
 * .asleep_before. */
#define BETWEEN_ALL (200 * PMP_MS)
#define BETWEEN PMP_S

#define ISOLATED "/sys/devices/system/cpu/isolated"
#define ISOLATED_SIZE 4096

/* ---- the clocks of processors ----------------------------------------------------------- */

static bool read_exec_start(int dir, const char *path, uint64_t *time)
{
	char text[PMP_SCHED_SIZE];
	ssize_t length = pmp_file_read(dir, path, text, sizeof(text));

	return length > 0 && pmp_sched_parse(text, (size_t)length, time);
}

/* Users isolate a processor so that nothing else runs there; and what runs there may never
 * yield it. */
static bool is_isolated(int cpu)
{
	char text[ISOLATED_SIZE];
	ssize_t length = pmp_file_read(AT_FDCWD, ISOLATED, text, sizeof(text));

	return length > 0 && pmp_cpu_list_has(text, (size_t)length, (unsigned)cpu);
}

/* Runs on the processor itself: after a nap this thread has just been put on it. Delays in
 * between make times asleep too short, never too long. */
static bool compare_clocks(int64_t *ahead)
{
	const struct timespec nap = { .tv_nsec = 1 };
	uint64_t started;

	nanosleep(&nap, NULL);
	if (!read_exec_start(AT_FDCWD, "/proc/thread-self/sched", &started))
		return false;
	*ahead = (int64_t)(pmp_clock() - started);
	return true;
}

static bool measure_clock(int cpu, struct pmp_cpu_clock *clock)
{
	cpu_set_t allowed, one;
	bool known;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (is_isolated(cpu) || sched_getaffinity(0, sizeof(allowed), &allowed) ||
	    !CPU_ISSET(cpu, &allowed) || sched_setaffinity(0, sizeof(one), &one))
		return false;
	known = compare_clocks(&clock->ahead);
	sched_setaffinity(0, sizeof(allowed), &allowed);
	return known;
}

/* How far CLOCK_MONOTONIC is ahead of the clock of this processor. */
static bool clock_of(struct pmp_cpu_clocks *clocks, int cpu, int64_t *ahead)
{
	struct pmp_cpu_clock *clock;
	uint64_t now = pmp_clock();

	if (cpu < 0 || cpu >= CPU_SETSIZE ||
	    PMP_RESERVE(&clocks->items, &clocks->capacity, (size_t)cpu + 1))
		return false;
	while (clocks->count <= (size_t)cpu)
		clocks->items[clocks->count++] = (struct pmp_cpu_clock){ 0 };
	clock = &clocks->items[cpu];
	if (!clock->measured || now - clock->measured > CLOCK_VALID) {
		clock->known = measure_clock(cpu, clock);
		clock->measured = now;
	}
	*ahead = clock->ahead;
	return clock->known;
}

/* ---- threads ---------------------------------------------------------------------------- */

static uint64_t read_since(struct pmp_target *target, const struct pmp_thread *thread)
{
	uint64_t started, now = pmp_clock();
	struct pmp_stat stat;
	char path[64];
	int64_t ahead, since;

	snprintf(path, sizeof(path), "task/%d/sched", (int)thread->tid);
	if (!read_exec_start(target->process.proc, path, &started))
		return 0;
	snprintf(path, sizeof(path), "task/%d/stat", (int)thread->tid);
	if (pmp_stat_read(target->process.proc, path, &stat) ||
	    !clock_of(&target->cpu_clocks, stat.processor, &ahead))
		return 0;
	since = (int64_t)started + ahead;
	if (since <= 0)
		return 0;
	return (uint64_t)since < now ? (uint64_t)since : now;
}

/* Returns true if the value has changed. */
static bool keep_since(struct pmp_watch *watch, struct pmp_thread *thread,
		       uint64_t read_at, uint64_t since, bool roughly)
{
	bool differs = thread->asleep_since != since;

	thread->asleep_since = since;
	watch->asleep_roughly = roughly;
	if (watch->proven == read_at)
		watch->thread.asleep_since = since;
	return differs;
}

/* The time stays the same while the thread does not run. If it has run since a recent
 * capture, that bounds the time well enough: if it sleeps longer, the next capture asks
 * the kernel, once. Returns true if the time was unknown or has changed. */
static bool find_since(struct pmp_target *target, struct pmp_thread *thread, bool soon)
{
	struct pmp_watch *watch = pmp_watches_find(&target->watches, thread->tid);
	struct pmp_run_count now;
	uint64_t since, read_at;

	if (!watch || thread->state == 'R' ||
	    (thread->asleep_since && !watch->asleep_roughly))
		return false;
	read_at = thread->wait.kind ? watch->waiting : watch->proven;
	if (!read_at)
		return false;
	if (soon && thread->obtained != PMP_UNCHANGED)
		return keep_since(watch, thread, read_at, pmp_clock(), true);
	since = read_since(target, thread);
	if (pmp_watch_read(&target->watches, &target->process, watch, &now) ||
	    now.value != read_at)
		return false;
	if (!since || (thread->asleep_since && thread->asleep_since < since))
		since = thread->asleep_since;
	return keep_since(watch, thread, read_at, since, false);
}

/* For what begins between two close captures, the first one that sees it knows the time
 * well enough. Waits for other processes are not looked for in each capture. between: time
 * since the last capture. */
static bool is_wanted(const struct pmp_capture *capture, uint64_t between)
{
	const struct pmp_target_options *options = &capture->target->options;

	return options->asleep || (options->asleep_before &&
				   (between > BETWEEN || capture->sample->outside_count));
}

/* Covers waiters and also holders: a holder may sleep in a call of its own while others
 * need what it holds. */
bool pmp_asleep_finish(struct pmp_capture *capture)
{
	struct pmp_target *target = capture->target;
	struct pmp_sample *sample = capture->sample;
	uint64_t now = pmp_clock(), between = now - target->asleep_time;
	bool soon = target->options.asleep && between <= BETWEEN_ALL, differs = false;

	target->asleep_time = now;
	if (!is_wanted(capture, between))
		return false;
	for (size_t i = 0; i < sample->thread_count; i++) {
		const struct pmp_wait *wait = &sample->threads[i].wait;
		struct pmp_thread *holder;

		if (!wait->kind)
			continue;
		differs |= find_since(target, &sample->threads[i], soon);
		if (wait->holder_is != PMP_HOLDER_THREAD)
			continue;
		holder = pmp_sample_find_thread(sample, wait->holder);
		if (holder)
			differs |= find_since(target, holder, soon);
	}
	return differs;
}
