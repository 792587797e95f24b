/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tally/sample-locks.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define CHAIN_MAX 32

static int compare_tids(const void *a, const void *b, void *arg)
{
	const struct pmp_thread *threads = arg;
	pid_t one = threads[*(const uint32_t *)a].tid;
	pid_t other = threads[*(const uint32_t *)b].tid;

	return (one > other) - (one < other);
}

/* Samples of a capture have threads in the order of their ids. */
static int sort_threads(struct pmp_sample_locks *locks)
{
	const struct pmp_sample *sample = locks->sample;

	locks->mixed = false;
	for (size_t i = 1; i < sample->thread_count && !locks->mixed; i++)
		locks->mixed = sample->threads[i - 1].tid >= sample->threads[i].tid;
	if (!locks->mixed)
		return 0;
	if (PMP_RESERVE(&locks->order, &locks->capacity, sample->thread_count))
		return PMP_ENOMEM;
	for (size_t i = 0; i < sample->thread_count; i++)
		locks->order[i] = (uint32_t)i;
	qsort_r(locks->order, sample->thread_count, sizeof(*locks->order), compare_tids,
		sample->threads);
	return 0;
}

int pmp_sample_locks_start(struct pmp_sample_locks *locks,
			   const struct pmp_sample *sample,
			   struct pmp_symbolizer *symbolizer, bool details)
{
	locks->sample = sample;
	locks->details = details;
	if (sort_threads(locks))
		return PMP_ENOMEM;
	return pmp_locator_start(&locks->locator, sample, symbolizer);
}

static size_t find_thread(const struct pmp_sample_locks *locks, pid_t tid)
{
	const struct pmp_thread *threads = locks->sample->threads;
	size_t low = 0, high = locks->sample->thread_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		size_t i = locks->mixed ? locks->order[middle] : middle;

		if (threads[i].tid == tid)
			return i;
		if (threads[i].tid < tid)
			low = middle + 1;
		else
			high = middle;
	}
	return PMP_NO_HOLDER;
}

/* The thread that holds what thread i waits for. */
static size_t holder_of(const struct pmp_sample_locks *locks, size_t i)
{
	const struct pmp_wait *wait = &locks->sample->threads[i].wait;

	if (wait->holder_is != PMP_HOLDER_THREAD && wait->holder_is != PMP_HOLDER_SELF)
		return PMP_NO_HOLDER;
	return find_thread(locks, wait->holder);
}

static bool has_flag(const struct pmp_sample_locks *locks, size_t i, unsigned flag)
{
	return locks->sample->threads[i].wait.flags & flag;
}

/* All conditions count as one, because each idle thread has its own. Locks, and futexes that
 * may turn out to be locks by their names, are counted separately if they are in a module;
 * those in the heap, which may be many, only with details. */
static void locate(struct pmp_sample_locks *locks, const struct pmp_wait *wait,
		   struct pmp_lock *lock)
{
	if (wait->kind == PMP_WAIT_JOIN || pmp_wait_is_outside(wait->kind) ||
	    (wait->kind != PMP_WAIT_FUTEX && !pmp_wait_is_lock(wait)))
		return;
	pmp_locator_find(&locks->locator, wait->object, &lock->object);
	if (locks->details || lock->object.location != PMP_LOCATION_NONE)
		lock->address = wait->object;
	if (!locks->details)
		lock->object.stack_of = 0;
}

/* If the word still has the value that the thread waits by, the thread was not woken, so
 * nothing has been released. This is true for most futexes that are no locks. */
static uint32_t free_as(const struct pmp_wait *wait)
{
	return wait->words.flags & PMP_WORD_SAME ? 0 : pmp_words_free_as(&wait->words);
}

static enum pmp_holder_stack stack_of(const struct pmp_wait *wait, size_t holder)
{
	if (wait->holder_is != PMP_HOLDER_THREAD)
		return PMP_HOLDER_STACK_KNOWN;
	if (holder == PMP_NO_HOLDER)
		return PMP_HOLDER_STACK_ABSENT;
	return wait->flags & PMP_WAIT_MOVED_ON ? PMP_HOLDER_STACK_MOVED_ON
					       : PMP_HOLDER_STACK_KNOWN;
}

bool pmp_sample_locks_get(struct pmp_sample_locks *locks, size_t i, struct pmp_lock *lock)
{
	const struct pmp_wait *wait = &locks->sample->threads[i].wait;
	size_t holder = holder_of(locks, i);

	if (!wait->kind)
		return false;
	*lock = (struct pmp_lock){
		.kind = wait->kind,
		.holder_is = wait->holder_is,
		.holder_stack = stack_of(wait, holder),
		.holder = locks->details ? wait->holder : 0,
		.holder_name = "",
		.text = "",
		.object = { .location = PMP_LOCATION_NONE },
		.free_as = free_as(wait),
	};
	locate(locks, wait, lock);
	if (holder != PMP_NO_HOLDER) {
		memcpy(locks->holder_name, locks->sample->threads[holder].name,
		       sizeof(locks->holder_name));
		locks->holder_name[sizeof(locks->holder_name) - 1] = '\0';
		lock->holder_name = locks->holder_name;
	}
	return true;
}

size_t pmp_sample_locks_holder(const struct pmp_sample_locks *locks, size_t i)
{
	return holder_of(locks, i);
}

/* The holder, if its stack in the sample is of a moment when it had the lock. */
static size_t charged_of(const struct pmp_sample_locks *locks, size_t i)
{
	return has_flag(locks, i, PMP_WAIT_MOVED_ON) ? PMP_NO_HOLDER
						     : holder_of(locks, i);
}

size_t pmp_sample_locks_root(const struct pmp_sample_locks *locks, size_t i)
{
	size_t root = charged_of(locks, i);

	if (has_flag(locks, i, PMP_WAIT_DEADLOCK))
		return root;
	for (int k = 0; k < CHAIN_MAX && root != PMP_NO_HOLDER; k++) {
		size_t next = charged_of(locks, root);

		/* Waits are read one after the other, so an apparent cycle need not be a
		 * deadlock. */
		if (next == PMP_NO_HOLDER || next == i || next == root ||
		    has_flag(locks, root, PMP_WAIT_DEADLOCK))
			break;
		root = next;
	}
	return root;
}

void pmp_sample_locks_free(struct pmp_sample_locks *locks)
{
	pmp_locator_free(&locks->locator);
	free(locks->order);
	*locks = (struct pmp_sample_locks){ 0 };
}
