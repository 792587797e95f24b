/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kinds of t/target/locks.c with conditions, barriers, once, join, semaphores and
 * FILE.
 */
#include "target.h"
#include "locks.h"

#include <semaphore.h>

/* ---- conditions ------------------------------------------------------------------ */

struct pair {
	pthread_mutex_t mutex;
	pthread_cond_t condition;
};

static struct pair static_pair = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER };

static int lock_pair(void *arg)
{
	struct pair *pair = arg;

	return pthread_mutex_lock(&pair->mutex);
}

static int wait_pair(void *arg)
{
	struct pair *pair = arg;
	int error = lock_pair(pair);

	return error ? error : pthread_cond_wait(&pair->condition, &pair->mutex);
}

static int wait_pair_timed(void *arg)
{
	struct timespec until = locks_until(CLOCK_REALTIME);
	struct pair *pair = arg;
	int error = lock_pair(pair);

	return error ? error
		     : pthread_cond_timedwait(&pair->condition, &pair->mutex, &until);
}

static struct pair *heap_pair(void)
{
	struct pair *pair = malloc(sizeof *pair);

	if (!pair)
		target_die("malloc");
	pthread_mutex_init(&pair->mutex, NULL);
	pthread_cond_init(&pair->condition, NULL);
	return pair;
}

static void show_condition(struct pair *pair, locks_call wait, const char *more)
{
	struct actor *waiter = actor_waits(wait, pair, CALL(futex));

	truth(waiter, 0, locks_address(&pair->condition), "condition", " mutex=0x%llx%s",
	      (unsigned long long)locks_address(&pair->mutex), more);
}

static void condition_static(void)
{
	show_condition(&static_pair, wait_pair, "");
}

static void condition_heap(void)
{
	show_condition(heap_pair(), wait_pair, "");
}

static void condition_timed(void)
{
	show_condition(heap_pair(), wait_pair_timed, " timed=1");
}

static int take_and_signal(void *arg)
{
	struct pair *pair = arg;
	int error = lock_pair(pair);

	return error ? error : pthread_cond_signal(&pair->condition);
}

/* Somebody signals and keeps the mutex: the waiter then waits for that. */
static void condition_signalled(void)
{
	struct pair *pair = heap_pair();
	struct actor *waiter = actor_waits(wait_pair, pair, CALL(futex));
	uint64_t before = locks_futex_of(waiter);
	struct actor *holder = actor_holds(take_and_signal, pair);

	actor_moves(waiter, before);
	truth(waiter, holder->tid, locks_address(&pair->mutex), "mutex", NULL);
}

/* ---- others ---------------------------------------------------------------------- */

static int wait_barrier(void *barrier)
{
	return pthread_barrier_wait(barrier);
}

static void barrier(void)
{
	static pthread_barrier_t barrier;
	struct actor *waiters[3];
	size_t i;

	pthread_barrier_init(&barrier, NULL, 4);
	for (i = 0; i < 3; i++)
		waiters[i] = actor_waits(wait_barrier, &barrier, CALL(futex));
	for (i = 0; i < 3; i++)
		truth(waiters[i], 0, locks_address(&barrier), "barrier",
		      " arrived=3 of=4");
}

static void initialise(void)
{
	actor_took();
	actor_rest();
}

static int call_once(void *once)
{
	return pthread_once(once, initialise);
}

static void once(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct actor *holder = actor_holds(call_once, &once);
	struct actor *waiter = actor_waits(call_once, &once, CALL(futex));

	truth(waiter, holder->tid, locks_address(&once), "once", NULL);
}

static int join(void *arg)
{
	struct actor *actor = arg;

	return pthread_join(actor->thread, NULL);
}

static void show_join(void)
{
	struct actor *joined = actor_holds(NULL, NULL);
	struct actor *waiter = actor_waits(join, joined, CALL(futex));

	truth(waiter, joined->tid, (uint64_t)(uintptr_t)joined->thread, "join", NULL);
}

static int wait_semaphore(void *semaphore)
{
	return sem_wait(semaphore) == 0 ? 0 : errno;
}

static void semaphore(void)
{
	static sem_t semaphore;
	struct actor *waiter;

	sem_init(&semaphore, 0, 0);
	waiter = actor_waits(wait_semaphore, &semaphore, CALL(futex));
	truth(waiter, 0, locks_address(&semaphore), "semaphore", NULL);
}

static int lock_file(void *file)
{
	flockfile(file);
	return 0;
}

static uint64_t lock_of(FILE *file, const struct actor *waiter)
{
#ifdef __GLIBC__
	(void)waiter;
	return locks_address(file->_lock);
#else
	uint64_t word = locks_futex_of(waiter);

	if (word - locks_address(file) > 256)
		target_die("not in the FILE");
	return word;
#endif
}

static void stdio(void)
{
	FILE *file = fopen("/dev/null", "w");
	struct actor *holder, *waiter;

	if (!file)
		target_die("/dev/null");
	holder = actor_holds(lock_file, file);
	waiter = actor_waits(lock_file, file, CALL(futex));
	truth(waiter, holder->tid, lock_of(file, waiter), "stdio", NULL);
}

const struct kind locks_sync_kinds[] = {
	{ "condition-static", condition_static },
	{ "condition-heap", condition_heap },
	{ "condition-timed", condition_timed },
	{ "condition-signalled", condition_signalled },
	{ "barrier", barrier },
	{ "once", once },
	{ "join", show_join },
	{ "semaphore", semaphore },
	{ "stdio", stdio },
	{ NULL, NULL },
};
