/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/holders.h"

#include <stdlib.h>

#include "base/fault.h"
#include "capture/wait-read.h"

/* Of a queue it is known that the one ahead slept, of a circle that all did. */
static bool is_held(const struct pmp_wait *wait)
{
	return wait->holder_is == PMP_HOLDER_THREAD && wait->kind != PMP_WAIT_JOIN &&
	       !pmp_wait_is_outside(wait->kind) &&
	       !(wait->flags & (PMP_WAIT_QUEUED | PMP_WAIT_DEADLOCK));
}

static int by_lock(const void *a, const void *b)
{
	const struct pmp_thread *x = *(struct pmp_thread *const *)a,
				*y = *(struct pmp_thread *const *)b;

	if (x->wait.object != y->wait.object)
		return x->wait.object < y->wait.object ? -1 : 1;
	if (x->wait.holder != y->wait.holder)
		return x->wait.holder < y->wait.holder ? -1 : 1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

static bool is_same(const struct pmp_wait *one, const struct pmp_wait *other)
{
	return one->object == other->object && one->holder == other->holder;
}

/* By the lock as it is now. */
static bool holds_still(struct pmp_target *target, const struct pmp_thread *waiter)
{
	struct pmp_lock_reader reader = { .target = target };
	struct pmp_wait now;

	pmp_wait_read(&reader, waiter, waiter->args, NULL, 0, &now);
	return is_same(&waiter->wait, &now) || PMP_FAULT("believe-locks");
}

/* Since its stack was read. */
static bool has_slept(struct pmp_target *target, struct pmp_watch *watch)
{
	struct pmp_run_count now;

	return watch && watch->met == target->number && watch->proven &&
	       pmp_watch_read(&target->watches, &target->process, watch, &now) == 0 &&
	       now.value == watch->proven;
}

void pmp_holder_look(struct pmp_target *target, struct pmp_work *work)
{
	const struct pmp_wait *wait = &work->thread.wait;
	bool found = is_held(wait) &&
		     has_slept(target, pmp_watches_find(&target->watches, wait->holder));

	/* It may be read again in the same capture, and wait for another one then. */
	work->watch->held = found ? target->number : 0;
}

/* Blocked, it runs twice for the stop, and not again. */
static bool slept_but_for_stop(struct pmp_target *target, const struct pmp_thread *thread)
{
	struct pmp_watch *watch = pmp_watches_find(&target->watches, thread->tid);
	struct pmp_run_count now;

	return watch && thread->runs &&
	       pmp_watch_read(&target->watches, &target->process, watch, &now) == 0 &&
	       now.runs == thread->runs + PMP_STOP_RUNS;
}

/* Does a lock that it has still say that it had it in the stack of the sample? Where it is
 * said that the stack is not known nothing can be wrong with it. */
static bool is_stack_of_now(struct pmp_target *target, const struct pmp_thread *thread)
{
	switch (thread->obtained) {
	case PMP_STOPPED:
		return thread->state == 'R' || thread->syscall < 0 ||
		       slept_but_for_stop(target, thread);
	case PMP_NOT_STOPPED: return !thread->frame_count;
	default:
		return has_slept(target, pmp_watches_find(&target->watches, thread->tid));
	}
}

static bool has_moved_on(struct pmp_capture *capture, const struct pmp_thread *waiter)
{
	const struct pmp_thread *holder =
		pmp_sample_find_thread(capture->sample, waiter->wait.holder);

	if (!holder || PMP_FAULT("believe-holders"))
		return false;
	/* The run count last: then it slept while the lock was read. */
	return !holds_still(capture->target, waiter) ||
	       !is_stack_of_now(capture->target, holder);
}

static bool was_found(const struct pmp_target *target, const struct pmp_thread *waiter)
{
	const struct pmp_watch *watch = pmp_watches_find(&target->watches, waiter->tid);

	return watch && watch->held == target->number;
}

/* Those who wait for one holder of one lock: what is found for one is so for all. */
static void check_lock(struct pmp_capture *capture, struct pmp_thread **waiters,
		       size_t count)
{
	bool found = false;

	for (size_t i = 0; i < count && !found; i++)
		found = was_found(capture->target, waiters[i]);
	if (found || !has_moved_on(capture, waiters[0]))
		return;
	for (size_t i = 0; i < count; i++)
		waiters[i]->wait.flags |= PMP_WAIT_MOVED_ON;
}

static void check_locks(struct pmp_capture *capture, struct pmp_thread **waiters,
			size_t count)
{
	size_t first = 0;

	qsort(waiters, count, sizeof(*waiters), by_lock);
	for (size_t i = 1; i <= count; i++) {
		if (i < count && is_same(&waiters[i]->wait, &waiters[first]->wait))
			continue;
		check_lock(capture, waiters + first, i - first);
		first = i;
	}
}

int pmp_holders_check(struct pmp_capture *capture)
{
	struct pmp_sample *sample = capture->sample;
	struct pmp_thread **waiters;
	size_t count = 0;

	for (size_t i = 0; i < sample->thread_count; i++)
		count += is_held(&sample->threads[i].wait);
	if (!count)
		return 0;
	waiters = calloc(count, sizeof(struct pmp_thread *));
	if (!waiters)
		return PMP_ENOMEM;
	count = 0;
	for (size_t i = 0; i < sample->thread_count; i++)
		if (is_held(&sample->threads[i].wait))
			waiters[count++] = &sample->threads[i];
	check_locks(capture, waiters, count);
	free(waiters);
	return 0;
}
