/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/deadlock.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/clock.h"
#include "base/fault.h"
#include "capture/wait-decode.h"
#include "capture/wait-read.h"

#define PROOF_TRIES 4

/* Threads of a sample, each of which waits for the next, and the last for the first. */
struct circle {
	struct pmp_target *target;
	struct pmp_thread *threads[PMP_DEADLOCK_MAX];
	struct pmp_watch *watches[PMP_DEADLOCK_MAX];
	uint64_t run_counts[PMP_DEADLOCK_MAX];
	struct pmp_syscall_file calls[PMP_DEADLOCK_MAX];
	size_t count;
};

/* ---- the proof --------------------------------------------------------------------- */

static bool read_run_counts(struct circle *circle)
{
	struct pmp_target *target = circle->target;

	for (size_t i = 0; i < circle->count; i++) {
		struct pmp_run_count now;

		circle->watches[i] =
			pmp_watches_find(&target->watches, circle->threads[i]->tid);
		if (!circle->watches[i] ||
		    pmp_watch_read(&target->watches, &target->process, circle->watches[i],
				   &now) < 0 ||
		    !now.value)
			return false;
		circle->run_counts[i] = now.value;
	}
	return true;
}

/* A wait with a timeout that a stop has interrupted continues as restart_syscall, with the
 * arguments of the original call. */
static bool is_restarted(const struct circle *circle, const struct pmp_thread *thread,
			 const struct pmp_syscall_file *now)
{
	char wchan[PMP_WCHAN_SIZE] = "";
	const struct pmp_wait_call call = { .number = now->number,
					    .args = now->args,
					    .wchan = wchan };

	return now->number == SYS_restart_syscall &&
	       pmp_task_read(&circle->target->process, thread->tid, "wchan", wchan,
			     sizeof(wchan)) > 0 &&
	       pmp_wait_is_futex(&call);
}

/* Is each still blocked on the same word? */
static bool read_calls(struct circle *circle)
{
	for (size_t i = 0; i < circle->count; i++) {
		const struct pmp_thread *thread = circle->threads[i];
		struct pmp_syscall_file *call = &circle->calls[i];
		char text[256];
		ssize_t length = pmp_task_read(&circle->target->process, thread->tid,
					       "syscall", text, sizeof(text));

		if (length <= 0 || !pmp_syscall_parse(text, (size_t)length, call) ||
		    call->args[0] != thread->args[0] ||
		    (call->number != thread->syscall &&
		     !is_restarted(circle, thread, call)))
			return false;
	}
	return true;
}

/* Does each wait for the next according to its lock? Queues do not count: there the next
 * writer waits for readers that are unknown. */
static bool wait_for_each_other(struct circle *circle)
{
	for (size_t i = 0; i < circle->count; i++) {
		const struct pmp_wait *was = &circle->threads[i]->wait;
		struct pmp_lock_reader reader = { .target = circle->target };
		struct pmp_wait now;

		pmp_wait_read(&reader, circle->threads[i], circle->calls[i].args, NULL, 0,
			      &now);
		if (now.kind != was->kind || now.object != was->object ||
		    now.holder_is != was->holder_is || now.holder != was->holder)
			return false;
	}
	return true;
}

static bool have_not_run(const struct circle *circle)
{
	struct pmp_target *target = circle->target;

	for (size_t i = 0; i < circle->count; i++) {
		struct pmp_run_count now;

		if (pmp_watch_read(&target->watches, &target->process, circle->watches[i],
				   &now) < 0 ||
		    now.value != circle->run_counts[i])
			return false;
	}
	return true;
}

/*
 * Between the end of the first round of reading run counts and the start of the last one,
 * no thread ran; in between each was seen asleep, waiting for the next. So at one instant
 * all of this was true, and none of them can end it.
 */
static bool is_proven(struct circle *circle)
{
	if (PMP_FAULT("cycle-by-edges"))
		return true;
	return read_run_counts(circle) && read_calls(circle) &&
	       wait_for_each_other(circle) && have_not_run(circle);
}

/* A thread that was stopped may still be on its way back to sleep. */
static bool is_deadlock(struct circle *circle)
{
	const struct timespec nap = { .tv_nsec = PMP_MS };

	for (int tries = 1; !is_proven(circle); tries++) {
		if (tries == PROOF_TRIES)
			return false;
		nanosleep(&nap, NULL);
	}
	return true;
}

/* ---- the search -------------------------------------------------------------------- */

/* The thread that one waits for, if known and in the sample. */
static struct pmp_thread *holder_of(struct pmp_sample *sample,
				    const struct pmp_thread *thread)
{
	const struct pmp_wait *wait = &thread->wait;

	if (!(wait->flags & PMP_WAIT_PROVEN) ||
	    (wait->holder_is != PMP_HOLDER_THREAD && wait->holder_is != PMP_HOLDER_SELF))
		return NULL;
	return pmp_sample_find_thread(sample, wait->holder);
}

/* Is this thread in a circle? Follow the holders until they lead back to it. */
static void check_circle(struct pmp_capture *capture, struct pmp_thread *first)
{
	struct circle circle = { .target = capture->target };
	struct pmp_thread *thread = first;

	do {
		if (circle.count == PMP_DEADLOCK_MAX)
			return;
		circle.threads[circle.count++] = thread;
		thread = holder_of(capture->sample, thread);
	} while (thread && thread != first);
	if (!thread || !is_deadlock(&circle))
		return;
	for (size_t i = 0; i < circle.count; i++)
		circle.threads[i]->wait.flags |= PMP_WAIT_DEADLOCK;
}

/* Each thread waits for at most one other: a walk that returns to a thread it has visited
 * has found a circle. walks: for each thread, the number of the walk that visited it. */
static void walk_from(struct pmp_capture *capture, size_t i, size_t *walks)
{
	struct pmp_sample *sample = capture->sample;
	struct pmp_thread *thread = &sample->threads[i];

	while (thread && !walks[thread - sample->threads]) {
		walks[thread - sample->threads] = i + 1;
		thread = holder_of(sample, thread);
	}
	if (thread && walks[thread - sample->threads] == i + 1)
		check_circle(capture, thread);
}

int pmp_deadlocks_find(struct pmp_capture *capture)
{
	struct pmp_sample *sample = capture->sample;
	size_t *walks = calloc(sample->thread_count + 1, sizeof(*walks));

	if (!walks)
		return PMP_ENOMEM;
	for (size_t i = 0; i < sample->thread_count; i++)
		if (sample->threads[i].wait.holder)
			walk_from(capture, i, walks);
	free(walks);
	return 0;
}
