/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tally/wait-history.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/search.h"

#define HISTORIES_MAX 1000 /* processes; beyond it, the one seen longest ago is dropped */

/* ---- threads ------------------------------------------------------------------------- */

static int compare_tids(const void *a, const void *b)
{
	const struct pmp_past_wait *one = a, *other = b;

	return (one->tid > other->tid) - (one->tid < other->tid);
}

static const struct pmp_past_wait *find(const struct pmp_past_wait *waits, size_t count,
					pid_t tid)
{
	const struct pmp_past_wait key = { .tid = tid };

	return count ? bsearch(&key, waits, count, sizeof(key), compare_tids) : NULL;
}

/* Mostly the threads are the same, in the same order. */
static const struct pmp_past_wait *find_near(const struct pmp_past_wait *waits,
					     size_t count, pid_t tid, size_t at)
{
	return at < count && waits[at].tid == tid ? &waits[at] : find(waits, count, tid);
}

static uint64_t hash_stack(const struct pmp_sample *sample,
			   const struct pmp_thread *thread)
{
	uint64_t hash = pmp_hash(thread->frame_count + 1);

	for (size_t i = 0; i < thread->frame_count; i++)
		hash = pmp_hash(hash ^ sample->frames[thread->frame + i].pc);
	return hash;
}

static bool is_same_reading(const struct pmp_past_wait *before,
			    const struct pmp_past_wait *now)
{
	return now->reading && before->reading == now->reading;
}

/* Is it in the same wait as before, as far as can be seen? */
static bool is_same_wait(const struct pmp_past_wait *before,
			 const struct pmp_past_wait *now)
{
	return now->kind && before->kind == now->kind && before->object == now->object &&
	       before->stack == now->stack;
}

static struct pmp_past_wait wait_of(const struct pmp_wait_history *history,
				    const struct pmp_sample *sample, size_t i)
{
	const struct pmp_thread *thread = &sample->threads[i];
	const struct pmp_past_wait *before =
		find_near(history->waits, history->count, thread->tid, i);
	struct pmp_past_wait now = {
		.tid = thread->tid,
		.kind = thread->wait.kind,
		.timed = thread->wait.flags & PMP_WAIT_TIMED,
		.unproven = !(thread->wait.flags & PMP_WAIT_PROVEN),
		.object = thread->wait.object,
		.reading = thread->reading,
		.since = sample->time,
	};

	if (now.kind && before && before->kind && is_same_reading(before, &now))
		now.stack = before->stack;
	else if (now.kind)
		now.stack = hash_stack(sample, thread);
	if (before && is_same_wait(before, &now))
		now.since = before->since;
	return now;
}

/* ---- queues ---------------------------------------------------------------------------- */

/* What became of the threads that waited for a lock. */
struct queue_now {
	size_t asleep;	/* have not run */
	size_t unclear; /* have run and wait again, are gone, or were not seen */
	const struct pmp_past_wait *left,
		*first; /* the last one that has left; any waiter */
	size_t left_count;
};

static bool is_queue(const struct pmp_past_wait *wait)
{
	switch (wait->kind) {
	case PMP_WAIT_MUTEX:
	case PMP_WAIT_RWLOCK:
	case PMP_WAIT_LATCH:
	case PMP_WAIT_STDIO:
	case PMP_WAIT_FUTEX: return wait->object;
	default: return false;
	}
}

/* Kinds are not compared, as a lock may look like another kind at another moment. */
static bool waits_for(const struct pmp_past_wait *wait, uint64_t object)
{
	return is_queue(wait) && wait->object == object;
}

static void look_at(const struct pmp_past_wait *before, const struct pmp_past_wait *now,
		    struct queue_now *queue)
{
	if (now && is_same_reading(before, now) && waits_for(now, before->object))
		queue->asleep++;
	else if (now && now->reading && now->reading != before->reading &&
		 !before->timed && !before->unproven && !waits_for(now, before->object)) {
		queue->left = before;
		queue->left_count++;
	} else {
		queue->unclear++;
	}
}

static const struct pmp_taken_lock *find_taken(const struct pmp_taken_lock *taken,
					       size_t count, uint64_t object)
{
	size_t after = pmp_search_after(taken, count, sizeof(*taken), object);

	return after && taken[after - 1].object == object ? &taken[after - 1] : NULL;
}

/* Who has the lock now; .taker 0: not known. */
static struct pmp_taken_lock taken_now(const struct pmp_wait_history *history,
				       const struct queue_now *queue,
				       const struct pmp_past_wait *waits, size_t count)
{
	uint64_t object = queue->first->object;
	const struct pmp_taken_lock *before =
		find_taken(history->taken, history->taken_count, object);
	const struct pmp_past_wait *taker;

	if (!queue->asleep || queue->unclear || queue->left_count > 1)
		return (struct pmp_taken_lock){ .object = object };
	if (queue->left_count)
		return (struct pmp_taken_lock){ object, queue->left->tid, history->time };
	taker = before ? find(waits, count, before->taker) : NULL;
	if (!taker || waits_for(taker, object))
		return (struct pmp_taken_lock){ .object = object };
	return *before;
}

static int compare_objects(const void *a, const void *b)
{
	const struct pmp_past_wait *one = *(const struct pmp_past_wait *const *)a,
				   *other = *(const struct pmp_past_wait *const *)b;

	if (one->object != other->object)
		return one->object < other->object ? -1 : 1;
	return (one->tid > other->tid) - (one->tid < other->tid);
}

/* Samples of a capture have threads in the order of their ids. */
static void sort_waits(struct pmp_past_wait *waits, size_t count)
{
	size_t i = 1;

	while (i < count && waits[i - 1].tid < waits[i].tid)
		i++;
	if (i < count)
		qsort(waits, count, sizeof(*waits), compare_tids);
}

/* List the threads that waited in the previous sample, lock by lock. */
static size_t sort_queues(struct pmp_wait_history *history)
{
	size_t count = 0;

	for (size_t i = 0; i < history->count; i++)
		if (is_queue(&history->waits[i]))
			history->queues[count++] = &history->waits[i];
	if (count)
		qsort(history->queues, count, sizeof(*history->queues), compare_objects);
	return count;
}

/* waits: of the new sample. Returns the number of locks with a known taker. */
static size_t find_takers(const struct pmp_wait_history *history, size_t queued,
			  const struct pmp_past_wait *waits, size_t count,
			  struct pmp_taken_lock *taken)
{
	size_t takers = 0;

	for (size_t i = 0; i < queued;) {
		struct queue_now queue = { .first = history->queues[i] };
		struct pmp_taken_lock lock;

		for (; i < queued && history->queues[i]->object == queue.first->object;
		     i++)
			look_at(history->queues[i],
				find_near(waits, count, history->queues[i]->tid,
					  (size_t)(history->queues[i] - history->waits)),
				&queue);
		lock = taken_now(history, &queue, waits, count);
		if (lock.taker)
			taken[takers++] = lock;
	}
	return takers;
}

/* ---- samples --------------------------------------------------------------------------- */

static int reserve(struct pmp_wait_history *history, const struct pmp_sample *sample)
{
	if (PMP_RESERVE(&history->spare, &history->spare_capacity,
			sample->thread_count + 1) ||
	    PMP_RESERVE(&history->queues, &history->queue_capacity, history->count + 1) ||
	    PMP_RESERVE(&history->spare_taken, &history->spare_taken_capacity,
			history->count + 1))
		return PMP_ENOMEM;
	return 0;
}

static void forget(struct pmp_wait_history *history)
{
	history->count = 0;
	history->taken_count = 0;
	history->time = 0;
}

static void swap(struct pmp_wait_history *history, size_t count, size_t takers)
{
	struct pmp_wait_history old = *history;

	history->waits = old.spare;
	history->capacity = old.spare_capacity;
	history->count = count;
	history->spare = old.waits;
	history->spare_capacity = old.capacity;
	history->taken = old.spare_taken;
	history->taken_capacity = old.spare_taken_capacity;
	history->taken_count = takers;
	history->spare_taken = old.taken;
	history->spare_taken_capacity = old.taken_capacity;
}

int pmp_wait_history_add(struct pmp_wait_history *history,
			 const struct pmp_sample *sample)
{
	const size_t count = sample->thread_count;
	size_t takers;

	/* After an exec, addresses mean other locks. */
	if (sample->execed)
		forget(history);
	if (reserve(history, sample)) {
		forget(history);
		return PMP_ENOMEM;
	}
	for (size_t i = 0; i < count; i++)
		history->spare[i] = wait_of(history, sample, i);
	sort_waits(history->spare, count);
	takers = find_takers(history, sort_queues(history), history->spare, count,
			     history->spare_taken);
	swap(history, count, takers);
	history->time = sample->time;
	return 0;
}

const struct pmp_past_wait *pmp_wait_history_of(const struct pmp_wait_history *history,
						pid_t tid)
{
	return find(history->waits, history->count, tid);
}

const struct pmp_past_wait *pmp_wait_history_near(const struct pmp_wait_history *history,
						  pid_t tid, size_t at)
{
	return find_near(history->waits, history->count, tid, at);
}

const struct pmp_taken_lock *
pmp_wait_history_taken(const struct pmp_wait_history *history, pid_t tid)
{
	const struct pmp_past_wait *wait =
		history->taken_count ? pmp_wait_history_of(history, tid) : NULL;

	return wait && is_queue(wait)
		       ? find_taken(history->taken, history->taken_count, wait->object)
		       : NULL;
}

void pmp_wait_history_free(struct pmp_wait_history *history)
{
	free(history->waits);
	free(history->spare);
	free(history->taken);
	free(history->spare_taken);
	free(history->queues);
	*history = (struct pmp_wait_history){ 0 };
}

/* ---- processes ------------------------------------------------------------------------- */

/* The history of a process, which may be a new one; NULL: out of memory. */
static struct pmp_wait_history *history_of(struct pmp_wait_histories *histories,
					   pid_t pid)
{
	struct pmp_wait_history *oldest = histories->items;

	/* Processes are sampled in the same order each time. */
	for (size_t n = 0; n < histories->count; n++) {
		const size_t i = (histories->next + n) % histories->count;

		if (histories->items[i].pid == pid) {
			histories->next = i + 1;
			return &histories->items[i];
		}
		if (histories->items[i].time < oldest->time)
			oldest = &histories->items[i];
	}
	if (histories->count < HISTORIES_MAX) {
		if (PMP_RESERVE(&histories->items, &histories->capacity,
				histories->count + 1))
			return NULL;
		oldest = &histories->items[histories->count++];
	} else {
		pmp_wait_history_free(oldest);
	}
	*oldest = (struct pmp_wait_history){ .pid = pid };
	return oldest;
}

const struct pmp_wait_history *
pmp_wait_histories_add(struct pmp_wait_histories *histories,
		       const struct pmp_sample *sample)
{
	struct pmp_wait_history *history = history_of(histories, sample->pid);

	return history && !pmp_wait_history_add(history, sample) ? history : NULL;
}

void pmp_wait_histories_drop(struct pmp_wait_histories *histories, pid_t pid)
{
	for (size_t i = 0; i < histories->count; i++) {
		if (histories->items[i].pid != pid)
			continue;
		pmp_wait_history_free(&histories->items[i]);
		histories->items[i] = histories->items[--histories->count];
		return;
	}
}

void pmp_wait_histories_free(struct pmp_wait_histories *histories)
{
	for (size_t i = 0; i < histories->count; i++)
		pmp_wait_history_free(&histories->items[i]);
	free(histories->items);
	*histories = (struct pmp_wait_histories){ 0 };
}
