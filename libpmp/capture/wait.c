/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/wait.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "base/search.h"
#include "capture/deadlock.h"
#include "capture/holders.h"
#include "capture/outside.h"
#include "capture/wait-decode.h"
#include "capture/wait-read.h"
#include "proc/maps.h"

#define ANCESTORS_MAX 32
#define IDLE_SET_WORTH 64 /* waiters */

/* ---- in a peek ---------------------------------------------------------------------- */

static bool may_wait(const struct pmp_thread *thread)
{
	return thread->syscall >= 0 && thread->state != 'R';
}

void pmp_wait_peek(struct pmp_target *target, struct pmp_work *work,
		   const struct pmp_range *stack)
{
	struct pmp_lock_reader reader = { .target = target };
	uint64_t words[PMP_WAIT_STACK];
	size_t count = stack->got / sizeof(*words);

	work->thread.wait = (struct pmp_wait){ 0 };
	work->thread.asleep_since = 0;
	if (target->options.waits == PMP_WAITS_NONE || !may_wait(&work->thread))
		return;
	if (count > PMP_WAIT_STACK)
		count = PMP_WAIT_STACK;
	memcpy(words, stack->data, count * sizeof(*words));
	pmp_wait_read(&reader, &work->thread, work->thread.args, words, count,
		      &work->thread.wait);
}

void pmp_wait_prove(struct pmp_target *target, struct pmp_work *work)
{
	struct pmp_wait *wait = &work->thread.wait;

	if (!wait->kind)
		return;
	wait->flags |= PMP_WAIT_PROVEN;
	work->watch->waiting = work->run_count;
	pmp_holder_look(target, work);
}

/* ---- at the end of a capture ---------------------------------------------------------- */

/* May the lock have changed hands while its waiter slept? The words of other futexes are
 * read again only if the caller wants the most detail. */
static bool may_have_changed(const struct pmp_target *target, const struct pmp_wait *wait)
{
	return wait->kind == PMP_WAIT_MUTEX || wait->kind == PMP_WAIT_RWLOCK ||
	       wait->kind == PMP_WAIT_LATCH || wait->kind == PMP_WAIT_STDIO ||
	       (wait->words.flags && target->options.asleep);
}

/* What is known about the lock itself stays valid; the holder becomes unknown. */
static void forget_holder(struct pmp_wait *wait)
{
	wait->holder = 0;
	wait->holder_is = PMP_HOLDER_NONE;
	wait->count = 0;
	wait->flags &= (uint16_t) ~(PMP_WAIT_PROVEN | PMP_WAIT_OWNER_DIED);
	wait->words = (struct pmp_wait_words){ 0 };
}

/* Has it slept since its wait was read? */
static bool sleeps_still(struct pmp_target *target, struct pmp_watch *watch)
{
	struct pmp_run_count now;

	return watch && watch->waiting &&
	       pmp_watch_read(&target->watches, &target->process, watch, &now) == 0 &&
	       now.value == watch->waiting;
}

static int by_object(const void *a, const void *b)
{
	const struct pmp_thread *x = *(struct pmp_thread *const *)a,
				*y = *(struct pmp_thread *const *)b;

	if (x->wait.object != y->wait.object)
		return x->wait.object < y->wait.object ? -1 : 1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

/* An unknown futex may have been identified since, for example a mutex that was free. */
static bool is_same_lock(const struct pmp_wait *was, const struct pmp_wait *now)
{
	return now->kind == was->kind ? now->object == was->object
				      : was->kind == PMP_WAIT_FUTEX && now->kind;
}

/* Read the bytes of a lock once for all threads that wait for it. */
static void read_lock(struct pmp_target *target, struct pmp_thread **waiters,
		      size_t count)
{
	struct pmp_lock_reader reader = { .target = target };

	for (size_t i = 0; i < count; i++) {
		struct pmp_thread *thread = waiters[i];
		struct pmp_wait now;

		pmp_wait_read(&reader, thread, thread->args, NULL, 0, &now);
		if (is_same_lock(&thread->wait, &now)) {
			now.flags |= PMP_WAIT_PROVEN;
			thread->wait = now;
		} else {
			forget_holder(&thread->wait);
		}
	}
}

static void read_locks(struct pmp_target *target, struct pmp_thread **waiters,
		       size_t count)
{
	size_t first = 0;

	qsort(waiters, count, sizeof(*waiters), by_object);
	for (size_t i = 1; i <= count; i++) {
		if (i < count && waiters[i]->wait.object == waiters[first]->wait.object)
			continue;
		read_lock(target, waiters + first, i - first);
		first = i;
	}
}

/* What was read is valid for waiters that still sleep; for many of them a single query
 * proves that. */
static void prove_locks(struct pmp_capture *capture, struct pmp_thread **waiters,
			size_t count)
{
	struct pmp_target *target = capture->target;
	bool idle = capture->idle_proven && count > IDLE_SET_WORTH &&
		    pmp_idle_set_prove_again(&target->idle_set, &target->watches,
					     &target->process, &target->log);

	for (size_t i = 0; i < count; i++) {
		struct pmp_watch *watch =
			pmp_watches_find(&target->watches, waiters[i]->tid);

		if (!(idle && watch && watch->idle && watch->waiting &&
		      watch->waiting == watch->last.run_count.value) &&
		    !sleeps_still(target, watch))
			forget_holder(&waiters[i]->wait);
		if (watch)
			watch->thread.wait = waiters[i]->wait;
	}
}

/* Has no thread of the process run? Threads that were left out may have. */
static bool is_unchanged(const struct pmp_sample *sample)
{
	if (sample->skipped || sample->vanished)
		return false;
	for (size_t i = 0; i < sample->thread_count; i++)
		if (sample->threads[i].obtained != PMP_UNCHANGED)
			return false;
	return true;
}

static int renew_unchanged(struct pmp_capture *capture)
{
	struct pmp_sample *sample = capture->sample;
	bool unchanged = is_unchanged(sample), still;
	struct pmp_thread **waiters;
	size_t count = 0;

	/* No thread has run, or exited, since the last time this was true, when all locks
	 * were read: so none has changed hands, unless it is shared with another
	 * process. */
	still = unchanged && capture->target->stood_still == sample->thread_count;
	capture->target->stood_still = unchanged ? sample->thread_count : 0;
	waiters = malloc((sample->thread_count + 1) * sizeof(*waiters));
	if (!waiters)
		return PMP_ENOMEM;
	for (size_t i = 0; i < sample->thread_count; i++) {
		struct pmp_thread *thread = &sample->threads[i];

		if (thread->obtained != PMP_UNCHANGED)
			continue;
		if (!may_have_changed(capture->target, &thread->wait))
			thread->wait.words = (struct pmp_wait_words){ 0 };
		else if (!still || thread->wait.flags & PMP_WAIT_SHARED)
			waiters[count++] = thread;
	}
	if (count) {
		read_locks(capture->target, waiters, count);
		prove_locks(capture, waiters, count);
	}
	free(waiters);
	return 0;
}

/* ---- holders that are none of its threads ------------------------------------------- */

static bool is_ancestor(const struct pmp_process *process, pid_t pid)
{
	struct pmp_stat stat;
	char path[64];

	if (pmp_stat_read(process->proc, "stat", &stat))
		return false;
	for (int i = 0; i < ANCESTORS_MAX && stat.ppid > 0; i++) {
		if (stat.ppid == pid)
			return true;
		snprintf(path, sizeof(path), "/proc/%d/stat", (int)stat.ppid);
		if (pmp_stat_read(AT_FDCWD, path, &stat))
			return false;
	}
	return false;
}

/* The process that a thread belongs to; 0: no such thread. */
static pid_t process_of(pid_t tid)
{
	struct pmp_status_file status;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	return pmp_status_read(AT_FDCWD, path, &status) == 0 ? status.tgid : 0;
}

static bool is_shared(const struct pmp_target *target, uint64_t address)
{
	const struct pmp_region *region =
		target->maps ? pmp_maps_find(target->maps, address) : NULL;

	return region && region->prot & PMP_PROT_SHARED;
}

/* The lock still names the same thread, which does not exist any more, and its waiter was
 * not woken, as it would have been if the holder had released the lock before it
 * exited. */
static bool has_ended(struct pmp_target *target, const struct pmp_thread *thread)
{
	struct pmp_lock_reader reader = { .target = target };
	struct pmp_wait now;

	if (PMP_FAULT("ended-once"))
		return true;
	pmp_wait_read(&reader, thread, thread->args, NULL, 0, &now);
	return now.holder_is == PMP_HOLDER_UNCHECKED &&
	       now.holder == thread->wait.holder && now.object == thread->wait.object &&
	       sleeps_still(target, pmp_watches_find(&target->watches, thread->tid));
}

static void check_holder(struct pmp_target *target, struct pmp_thread *thread)
{
	struct pmp_wait *wait = &thread->wait;
	pid_t process;

	if (pmp_target_is_namespaced(target)) {
		forget_holder(wait);
		return;
	}
	process = process_of(wait->holder);
	if (process == target->process.pid)
		wait->holder_is = PMP_HOLDER_THREAD;
	else if (process && is_shared(target, wait->object))
		wait->holder_is = PMP_HOLDER_PROCESS;
	else if (process && is_ancestor(&target->process, process))
		wait->holder_is = PMP_HOLDER_BEFORE_FORK;
	else if (has_ended(target, thread))
		wait->holder_is = PMP_HOLDER_ENDED;
	else
		forget_holder(wait);
}

/* ---- queues ------------------------------------------------------------------------- */

static bool is_next(const struct pmp_wait *wait)
{
	const unsigned flags = PMP_WAIT_NEXT | PMP_WAIT_PROVEN;

	return wait->kind == PMP_WAIT_RWLOCK && (wait->flags & flags) == flags;
}

static bool tid_sleeps_still(struct pmp_target *target, pid_t tid)
{
	return PMP_FAULT("believe-queues") ||
	       sleeps_still(target, pmp_watches_find(&target->watches, tid));
}

/* Writers that are next, sorted by lock, then by tid. */
struct next_writers {
	struct pmp_keyed_tid *items;
	size_t count, capacity;
};

/* A process may have as many locks as threads: so each is looked up in this sorted list,
 * not among all threads. */
static int collect_next(const struct pmp_sample *sample, struct next_writers *next)
{
	for (size_t i = 0; i < sample->thread_count; i++) {
		const struct pmp_thread *thread = &sample->threads[i];

		if (!is_next(&thread->wait))
			continue;
		if (PMP_RESERVE(&next->items, &next->capacity, next->count + 1))
			return PMP_ENOMEM;
		next->items[next->count++] =
			(struct pmp_keyed_tid){ thread->wait.object, thread->tid };
	}
	pmp_keyed_tids_sort(next->items, next->count);
	return 0;
}

static pid_t next_writer(struct pmp_target *target, const struct next_writers *next,
			 uint64_t object)
{
	const struct pmp_keyed_tid *all = next->items;

	for (size_t i = pmp_search_from(all, next->count, sizeof(*all), object);
	     i < next->count && all[i].key == object; i++)
		if (tid_sleeps_still(target, all[i].tid))
			return all[i].tid;
	return 0;
}

static bool is_queued(const struct pmp_wait *wait)
{
	return wait->kind == PMP_WAIT_RWLOCK && wait->holder_is == PMP_HOLDER_NONE &&
	       !(wait->flags & PMP_WAIT_NEXT) && wait->count;
}

static void queue_behind(struct pmp_target *target, struct pmp_sample *sample,
			 const struct next_writers *next)
{
	uint64_t object = 0;
	pid_t writer = 0;

	for (size_t i = 0; i < sample->thread_count; i++) {
		struct pmp_wait *wait = &sample->threads[i].wait;

		if (!is_queued(wait))
			continue;
		if (wait->object != object) {
			object = wait->object;
			writer = next_writer(target, next, object);
		}
		if (!writer || !tid_sleeps_still(target, sample->threads[i].tid))
			continue;
		wait->flags |= PMP_WAIT_QUEUED;
		wait->holder_is = PMP_HOLDER_THREAD;
		wait->holder = writer;
	}
}

/* Of the writers waiting for a lock that readers hold, one is next; all others wait for
 * it, and so do readers if writers are preferred. That is certain only if both still
 * sleep, because each was read at a different time. */
static int queue_writers(struct pmp_target *target, struct pmp_sample *sample)
{
	struct next_writers next = { 0 };
	int r = collect_next(sample, &next);

	if (!r && next.count)
		queue_behind(target, sample, &next);
	free(next.items);
	return r;
}

int pmp_waits_finish(struct pmp_capture *capture)
{
	struct pmp_target *target = capture->target;
	struct pmp_sample *sample = capture->sample;
	int r;

	if (target->options.waits == PMP_WAITS_NONE)
		return 0;
	r = renew_unchanged(capture);
	if (r < 0)
		return r;
	for (size_t i = 0; i < sample->thread_count; i++)
		if (sample->threads[i].wait.holder_is == PMP_HOLDER_UNCHECKED)
			check_holder(target, &sample->threads[i]);
	r = queue_writers(target, sample);
	if (r >= 0)
		r = pmp_deadlocks_find(capture);
	if (r >= 0)
		r = pmp_holders_check(capture);
	if (r < 0 ||
	    (target->options.waits != PMP_WAITS_PEERS && !target->looks_for_peers))
		return r;
	target->looks_for_peers = false;
	return pmp_outside_find(capture);
}

static bool is_own(const struct pmp_wait *wait)
{
	return !wait->outside && !(wait->flags & PMP_WAIT_SHARED) &&
	       wait->holder_is <= PMP_HOLDER_SELF;
}

bool pmp_waits_stand_still(const struct pmp_capture *capture)
{
	const struct pmp_target *target = capture->target;
	const struct pmp_sample *sample = capture->sample;

	if (target->options.waits == PMP_WAITS_NONE)
		return true;
	if (target->options.waits == PMP_WAITS_PEERS || target->looks_for_peers)
		return false;
	for (size_t i = 0; i < sample->thread_count; i++)
		if (!is_own(&sample->threads[i].wait))
			return false;
	return true;
}
