/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Since when a thread has been asleep, against one that notes when it goes to sleep; and
 * that its captures leave the caller on the processors that it was allowed to use. */
#include "lib/tap.h"

#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "lib/child.h"
#include "sample.h"

/* All of it may be stolen between two comparisons of the clocks. */
#define CLOCK_ERROR (20 * PMP_MS)

/* Shared with the child. */
struct bed {
	atomic_int futex;
	atomic_ullong went; /* when it last went to sleep */
};

static bool sleep_in_futex(const struct child *self, void *arg)
{
	struct bed *bed = arg;

	child_answer(self, true);
	for (;;) {
		atomic_store(&bed->went, pmp_clock());
		syscall(SYS_futex, &bed->futex, FUTEX_WAIT, 0, NULL, NULL, 0);
	}
	return true;
}

static void wake(struct bed *bed)
{
	syscall(SYS_futex, &bed->futex, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* One capture; false: it is not in the futex, or had to be stopped. */
static bool capture_once(struct pmp_target *target, struct pmp_thread *thread)
{
	struct pmp_sample *sample;
	bool alone;

	if (pmp_target_capture(target, &sample, NULL) < 0)
		return false;
	alone = sample->thread_count == 1;
	if (alone)
		*thread = sample->threads[0];
	pmp_sample_free(sample);
	return alone && thread->wait.kind == PMP_WAIT_FUTEX &&
	       thread->obtained != PMP_STOPPED;
}

/* The first capture in which it sleeps in the futex, and since when is known if it is to
 * be. False: there is none. */
static bool capture(struct pmp_target *target, bool known, struct pmp_thread *thread)
{
	for (int i = 0; i < 1000; i++) {
		if (capture_once(target, thread) && (!known || thread->asleep_since))
			return true;
		usleep(10000);
	}
	return false;
}

static bool open_target(pid_t pid, bool asleep, struct pmp_target **target)
{
	const struct pmp_target_options options = { .size = sizeof(options),
						    .asleep = asleep };

	return pmp_target_open(pid, &options, target, NULL) == 0;
}

/* What is stolen from a virtual machine meanwhile makes it too short. */
static void check_times(struct pmp_target *target, struct bed *bed)
{
	struct pmp_thread thread, again;
	uint64_t noticed, before;

	if (!ok(capture(target, true, &thread), "a thread that sleeps"))
		return;
	noticed = pmp_clock();
	usleep(300000);
	ok(capture(target, true, &thread), "a while later");
	ok(thread.asleep_since + CLOCK_ERROR >= atomic_load(&bed->went),
	   "it has not slept for longer than since it went to sleep");
	ok(pmp_clock() - thread.asleep_since >= (pmp_clock() - noticed) / 2,
	   "but for most of the time since then");
	ok(capture(target, true, &again) && again.obtained == PMP_UNCHANGED &&
		   again.asleep_since == thread.asleep_since,
	   "the next snapshot says the same");
	before = atomic_load(&bed->went);
	wake(bed);
	while (atomic_load(&bed->went) == before)
		usleep(1000);
	ok(capture(target, true, &again) &&
		   again.asleep_since + CLOCK_ERROR >= atomic_load(&bed->went),
	   "after it has run it has slept since then only");
}

/* Wake it and wait until it sleeps again. */
static void turn_over(struct bed *bed)
{
	uint64_t went = atomic_load(&bed->went);

	wake(bed);
	while (atomic_load(&bed->went) == went)
		usleep(1000);
}

/* One long after the last one, in which it slept and was not stopped: where nothing else
 * shows how to unwind, the first capture stops it. */
static bool capture_late(struct pmp_target *target, struct pmp_thread *thread)
{
	for (int i = 0; i < 10; i++) {
		if (capture_once(target, thread))
			return true;
		usleep(1100000);
	}
	return false;
}

/* Only in the first of captures that follow each other closely. */
static void check_before(pid_t pid, struct bed *bed)
{
	const struct pmp_target_options options = { .size = sizeof(options),
						    .asleep_before = true };
	struct pmp_thread thread;
	struct pmp_target *target;

	if (!ok(pmp_target_open(pid, &options, &target, NULL) == 0,
		"opened again, for what was before"))
		return;
	ok(capture_late(target, &thread) && thread.asleep_since,
	   "the first capture finds it out");
	turn_over(bed);
	ok(capture(target, false, &thread) && !thread.asleep_since,
	   "one soon after it does not");
	usleep(1100000);
	turn_over(bed);
	ok(capture_late(target, &thread) && thread.asleep_since,
	   "one that comes late does");
	pmp_target_close(target);
}

/* Of captures that follow each other at once. What it slept before is known at no cost in the
 * first one after it has run, as far as it goes; the next one asks the kernel. */
static void check_soon(pid_t pid, struct bed *bed)
{
	struct pmp_thread thread;
	struct pmp_target *target;
	bool at_least = false, later = false;

	if (!ok(open_target(pid, true, &target), "opened again, for captures at once"))
		return;
	ok(capture(target, true, &thread), "it sleeps");
	for (int i = 0; i < 100 && !(at_least && later); i++) {
		uint64_t before, first;

		at_least = later = false;
		turn_over(bed);
		capture_once(target, &thread);
		turn_over(bed);
		usleep(30000);
		before = pmp_clock();
		if (!capture_once(target, &thread) || pmp_clock() - before > 100 * PMP_MS)
			continue;
		first = thread.asleep_since;
		at_least = first >= before && first <= pmp_clock();
		if (!capture_once(target, &thread) || thread.obtained != PMP_UNCHANGED)
			continue;
		later = thread.asleep_since && thread.asleep_since < before &&
			thread.asleep_since + CLOCK_ERROR >= atomic_load(&bed->went);
	}
	ok(at_least, "one that has run since the last capture sleeps from this one on");
	ok(later, "if it sleeps on the next one knows since when");
	pmp_target_close(target);
}

static void check_unasked(pid_t pid)
{
	struct pmp_thread thread;
	struct pmp_target *target;

	if (!ok(open_target(pid, false, &target), "opened again, without the option"))
		return;
	ok(capture(target, false, &thread) && !thread.asleep_since,
	   "nothing is found out");
	pmp_target_close(target);
}

int main(void)
{
	struct bed *bed = mmap(NULL, sizeof(*bed), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct child child = { 0 };
	struct pmp_target *target;
	cpu_set_t before, after;

	sched_getaffinity(0, sizeof(before), &before);
	if (!ok(bed != MAP_FAILED && child_start(&child, sleep_in_futex, bed) &&
			open_target(child.pid, true, &target),
		"opened"))
		return done_testing();
	check_times(target, bed);
	pmp_target_close(target);
	check_unasked(child.pid);
	check_before(child.pid, bed);
	check_soon(child.pid, bed);
	sched_getaffinity(0, sizeof(after), &after);
	ok(CPU_EQUAL(&before, &after),
	   "the caller may use the same processors as before");
	child_end(&child);
	return done_testing();
}
