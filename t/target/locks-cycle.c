/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kinds of t/target/locks.c that nobody ends: deadlocks, chains, and mutexes whose
 * owner cannot unlock them.
 */
#include "target.h"
#include "locks.h"

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER,
		       c = PTHREAD_MUTEX_INITIALIZER;

static int lock(void *mutex)
{
	return pthread_mutex_lock(mutex);
}

static int lock_timed(void *mutex)
{
	struct timespec until = locks_until(CLOCK_REALTIME);

	return pthread_mutex_timedlock(mutex, &until);
}

static int lock_write(void *rwlock)
{
	return pthread_rwlock_wrlock(rwlock);
}

static int join(void *arg)
{
	struct actor *actor = arg;

	return pthread_join(actor->thread, NULL);
}

static int end_thread(void *arg)
{
	pthread_exit(arg);
}

static void truth_mutex(const struct actor *waiter, const struct actor *holder,
			pthread_mutex_t *mutex, const char *more)
{
	truth(waiter, holder->tid, locks_address(mutex), "mutex", "%s", more);
}

static void truth_join(const struct actor *waiter, const struct actor *joined)
{
	truth(waiter, joined->tid, (uint64_t)(uintptr_t)joined->thread, "join", NULL);
}

/* ---- owners ---------------------------------------------------------------------- */

static void self(void)
{
	struct actor *actor = actor_new("self", lock, &a, lock, &a);

	actor_go(actor, CALL(futex));
	truth_mutex(actor, actor, &a, " is=self");
	truth_deadlock("", 1, &actor);
}

static void ended(void)
{
	struct actor *holder = actor_new("ended", lock, &a, end_thread, NULL);
	struct actor *waiter;

	actor_end(holder);
	waiter = actor_waits(lock, &a, CALL(futex));
	truth_mutex(waiter, holder, &a, " is=ended");
}

/* In the child, which has a copy of a mutex that only its parent can unlock. */
static void wait_in_child(void *arg)
{
	const struct actor *holder = arg;
	struct actor *waiter = actor_waits(lock, &a, CALL(futex));

	truth(waiter, holder->tid, locks_address(&a), "mutex",
	      " is=before-fork process=%d", (int)getppid());
}

static void before_fork(void)
{
	struct actor *holder = actor_holds(lock, &a);

	locks_shown = process_new("forked", wait_in_child, holder);
}

/* ---- cycles ---------------------------------------------------------------------- */

/* Each has one mutex and wants the other. */
static void show_two(locks_call wait, const char *more, struct actor *pair[2])
{
	pair[0] = actor_new("worker-1", lock, &a, wait, &b);
	pair[1] = actor_new("worker-2", lock, &b, lock, &a);
	actor_go(pair[0], CALL(futex));
	actor_go(pair[1], CALL(futex));
	truth_mutex(pair[0], pair[1], &b, more);
	truth_mutex(pair[1], pair[0], &a, "");
	truth_deadlock(more, 2, pair);
}

static void deadlock(void)
{
	struct actor *pair[2];

	show_two(lock, "", pair);
}

static void deadlock_timed(void)
{
	struct actor *pair[2];

	show_two(lock_timed, " timed=1", pair);
}

static void deadlock_rwlock(void)
{
	static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
	struct actor *ring[] = {
		actor_new("worker-1", lock, &a, lock, &b),
		actor_new("worker-2", lock, &b, lock_write, &rwlock),
		actor_new("worker-3", lock_write, &rwlock, lock, &a),
	};
	size_t i;

	for (i = 0; i < 3; i++)
		actor_go(ring[i], CALL(futex));
	truth_mutex(ring[0], ring[1], &b, "");
	truth(ring[1], ring[2]->tid, locks_address(&rwlock), "rwlock", " mode=write");
	truth_mutex(ring[2], ring[0], &a, "");
	truth_deadlock("", 3, ring);
}

static void deadlock_join(void)
{
	struct actor *worker = actor_new("worker", NULL, NULL, lock, &a);
	struct actor *joiner = actor_new("joiner", lock, &a, join, worker);
	struct actor *ring[] = { joiner, worker };

	actor_go(joiner, CALL(futex));
	actor_go(worker, CALL(futex));
	truth_join(joiner, worker);
	truth_mutex(worker, joiner, &a, "");
	truth_deadlock("", 2, ring);
}

/* Of three: pthread_join() refuses two that join each other. */
static void deadlock_joins(void)
{
	struct actor *ring[3];
	size_t i;

	for (i = 0; i < 3; i++)
		ring[i] = actor_new("joiner", NULL, NULL, join, NULL);
	for (i = 0; i < 3; i++)
		ring[i]->wanted = ring[(i + 1) % 3];
	for (i = 0; i < 3; i++)
		actor_go(ring[i], CALL(futex));
	for (i = 0; i < 3; i++)
		truth_join(ring[i], ring[(i + 1) % 3]);
	truth_deadlock("", 3, ring);
}

/* ---- chains ---------------------------------------------------------------------- */

static void chain(void)
{
	struct actor *root = actor_new("root", lock, &a, NULL, NULL);
	struct actor *second = actor_new("second", lock, &b, lock, &a);
	struct actor *third = actor_new("third", lock, &c, lock, &b);
	struct actor *last = actor_new("last", NULL, NULL, lock, &c);

	actor_go(second, CALL(futex));
	actor_go(third, CALL(futex));
	actor_go(last, CALL(futex));
	truth_mutex(second, root, &a, "");
	truth_mutex(third, second, &b, "");
	truth_mutex(last, third, &c, "");
}

static void victims(void)
{
	struct actor *pair[2], *first, *second, *last;

	show_two(lock, "", pair);
	first = actor_new("victim-1", lock, &c, lock, &a);
	second = actor_new("victim-2", NULL, NULL, lock, &b);
	last = actor_new("victim-3", NULL, NULL, lock, &c);
	actor_go(first, CALL(futex));
	actor_go(second, CALL(futex));
	actor_go(last, CALL(futex));
	truth_mutex(first, pair[0], &a, "");
	truth_mutex(second, pair[1], &b, "");
	truth_mutex(last, first, &c, "");
}

const struct kind locks_cycle_kinds[] = {
	{ "self", self },
	{ "ended", ended },
	{ "before-fork", before_fork },
	{ "deadlock", deadlock },
	{ "deadlock-timed", deadlock_timed },
	{ "deadlock-rwlock", deadlock_rwlock },
	{ "deadlock-join", deadlock_join },
	{ "deadlock-joins", deadlock_joins },
	{ "chain", chain },
	{ "victims", victims },
	{ NULL, NULL },
};
