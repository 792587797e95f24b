/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/holders.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "capture/wait-read.h"

/* Queues and circles need no check: the thread ahead, or all of them, provably slept. */
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
	return (x->reading > y->reading) - (x->reading < y->reading);
}

static bool is_same(const struct pmp_wait *one, const struct pmp_wait *other)
{
	return one->object == other->object && one->holder == other->holder;
}

/* According to the current state of the lock. */
static bool holds_still(struct pmp_target *target, const struct pmp_thread *waiter)
{
	struct pmp_lock_reader reader = { .target = target };
	struct pmp_wait now;

	pmp_wait_read(&reader, waiter, waiter->args, NULL, 0, &now);
	return is_same(&waiter->wait, &now) || PMP_FAULT("believe-locks");
}

/* Has it slept since its stack was read? */
static bool has_slept(struct pmp_target *target, struct pmp_watch *watch)
{
	struct pmp_run_count now;

	return watch && watch->met == target->number && watch->proven &&
	       pmp_watch_read(&target->watches, &target->process, watch, &now) == 0 &&
	       now.value == watch->proven;
}

/* Makes its next stop read the lock as well. */
static void expect_lock(struct pmp_watch *holder, const struct pmp_thread *waiter)
{
	if (holder)
		holder->lock = waiter->args[0];
}

void pmp_holder_look(struct pmp_target *target, struct pmp_work *work)
{
	const struct pmp_wait *wait = &work->thread.wait;
	struct pmp_watch *holder =
		is_held(wait) ? pmp_watches_find(&target->watches, wait->holder) : NULL;
	bool found = has_slept(target, holder);

	/* The waiter may be read again in the same capture, waiting for another lock. */
	work->watch->held = found ? target->number : 0;
	if (!found)
		expect_lock(holder, &work->thread);
}

int pmp_holder_stopped(struct pmp_target *target, const struct pmp_stop_request *request)
{
	struct pmp_workspace *workspace = &target->workspace;
	const struct pmp_range *lock = &request->lock;
	struct pmp_lock_copy *copy;

	if (!lock->want)
		return 0;
	if (PMP_RESERVE(&workspace->locks, &workspace->lock_capacity,
			workspace->lock_count + 1))
		return PMP_ENOMEM;
	copy = &workspace->locks[workspace->lock_count++];
	copy->holder = request->tid;
	copy->first = lock->address;
	copy->known = lock->got == PMP_FUTEX_BYTES;
	if (copy->known)
		memcpy(copy->bytes, lock->data, PMP_FUTEX_BYTES);
	return 0;
}

static int by_holder(const void *a, const void *b)
{
	const struct pmp_lock_copy *x = a, *y = b;

	return (x->holder > y->holder) - (x->holder < y->holder);
}

/* The copy of the lock from the stop that read the holder's stack, when the waiter was
 * already waiting; NULL: that stop did not read this lock. */
static const struct pmp_lock_copy *find_copy(const struct pmp_target *target,
					     const struct pmp_thread *waiter,
					     const struct pmp_thread *holder)
{
	const struct pmp_workspace *workspace = &target->workspace;
	const struct pmp_lock_copy wanted = { .holder = holder->tid }, *copy;

	if (holder->obtained != PMP_STOPPED || !workspace->lock_count ||
	    (waiter->reading > holder->reading && target->options.stop != PMP_STOP_ALL))
		return NULL;
	copy = bsearch(&wanted, workspace->locks, workspace->lock_count, sizeof(*copy),
		       by_holder);
	return copy && copy->known && copy->first == pmp_futex_first(waiter->args[0])
		       ? copy
		       : NULL;
}

/* Did it hold the lock when its stack was read? */
static bool held_in_stop(struct pmp_target *target, const struct pmp_thread *waiter,
			 const struct pmp_lock_copy *copy)
{
	struct pmp_lock_reader reader = { .target = target,
					  .kept = true,
					  .address = copy->first };
	struct pmp_wait then;

	memcpy(reader.bytes, copy->bytes, sizeof(reader.bytes));
	pmp_wait_read(&reader, waiter, waiter->args, NULL, 0, &then);
	return is_same(&waiter->wait, &then) || PMP_FAULT("believe-locks");
}

/* Sorts by holder, for find_copy(). */
static void sort_copies(struct pmp_workspace *workspace)
{
	if (workspace->lock_count)
		qsort(workspace->locks, workspace->lock_count, sizeof(*workspace->locks),
		      by_holder);
}

/* The next stop of a holder reads a lock only if a thread still waits for it. */
static void forget_locks(struct pmp_target *target)
{
	for (size_t i = 0; i < target->workspace.lock_count; i++) {
		struct pmp_watch *watch = pmp_watches_find(
			&target->watches, target->workspace.locks[i].holder);

		if (watch)
			watch->lock = 0;
	}
}

/* A blocked thread runs exactly twice because of its stop. */
static bool slept_but_for_stop(struct pmp_target *target, const struct pmp_thread *thread)
{
	struct pmp_watch *watch = pmp_watches_find(&target->watches, thread->tid);
	struct pmp_run_count now;

	return watch && thread->runs &&
	       pmp_watch_read(&target->watches, &target->process, watch, &now) == 0 &&
	       now.runs == thread->runs + PMP_STOP_RUNS;
}

/* If it still holds the lock: does its stack in the sample show it holding the lock? A
 * stack that is marked as unknown cannot be wrong. */
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
	struct pmp_target *target = capture->target;
	const struct pmp_thread *holder =
		pmp_sample_find_thread(capture->sample, waiter->wait.holder);
	const struct pmp_lock_copy *copy;

	if (!holder || PMP_FAULT("believe-holders"))
		return false;
	if (holder->obtained == PMP_STOPPED)
		expect_lock(pmp_watches_find(&target->watches, holder->tid), waiter);
	copy = find_copy(target, waiter, holder);
	if (copy)
		return !held_in_stop(target, waiter, copy);
	/* Check the run count last: it then proves that the holder slept while the lock
	 * was read. */
	return !holds_still(target, waiter) || !is_stack_of_now(target, holder);
}

static bool was_found(const struct pmp_target *target, const struct pmp_thread *waiter)
{
	const struct pmp_watch *watch = pmp_watches_find(&target->watches, waiter->tid);

	return watch && watch->held == target->number;
}

/* Waiters for one holder of one lock: what is found for one is true for all. */
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

	sort_copies(&capture->target->workspace);
	forget_locks(capture->target);
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
