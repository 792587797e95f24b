/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kinds of t/target/locks.c with mutexes and rwlocks.
 */
#include "target.h"
#include "locks.h"

#define CEILING 10 /* of priority-protected mutexes; 1 is what their threads have */
#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2 13
#endif

static int lock(void *mutex)
{
	return pthread_mutex_lock(mutex);
}

static int lock_timed(void *mutex)
{
	struct timespec until = locks_until(CLOCK_REALTIME);

	return pthread_mutex_timedlock(mutex, &until);
}

#ifdef __GLIBC__
static int lock_clock(void *mutex)
{
	struct timespec until = locks_until(CLOCK_MONOTONIC);

	return pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &until);
}
#endif

struct style {
	int type, protocol, robust, shared;
};

static void make_mutex(pthread_mutex_t *mutex, struct style style)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	locks_must(pthread_mutexattr_settype(&attr, style.type), "settype");
	locks_must(pthread_mutexattr_setprotocol(&attr, style.protocol), "setprotocol");
	locks_must(pthread_mutexattr_setrobust(&attr, style.robust), "setrobust");
	locks_must(pthread_mutexattr_setpshared(&attr, style.shared), "setpshared");
#ifdef __GLIBC__
	if (style.protocol == PTHREAD_PRIO_PROTECT)
		locks_must(pthread_mutexattr_setprioceiling(&attr, CEILING), "ceiling");
#endif
	locks_must(pthread_mutex_init(mutex, &attr), "pthread_mutex_init");
	pthread_mutexattr_destroy(&attr);
}

static pthread_mutex_t *heap_mutex(struct style style)
{
	pthread_mutex_t *mutex = malloc(sizeof *mutex);

	if (!mutex)
		target_die("malloc");
	make_mutex(mutex, style);
	return mutex;
}

/* One holds it, one waits. */
static void show_mutex(pthread_mutex_t *mutex, locks_call take, locks_call wait,
		       const char *more)
{
	struct actor *holder = actor_holds(take, mutex);
	struct actor *waiter = actor_waits(wait, mutex, CALL(futex));

	truth(waiter, holder->tid, locks_address(mutex), "mutex", "%s", more);
}

static void show_style(struct style style)
{
	show_mutex(heap_mutex(style), lock, lock, "");
}

static void mutex_static(void)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

	show_mutex(&mutex, lock, lock, "");
}

static void mutex_heap(void)
{
	show_style((struct style){ 0 });
}

static void mutex_recursive(void)
{
	show_style((struct style){ .type = PTHREAD_MUTEX_RECURSIVE });
}

static void mutex_errorcheck(void)
{
	show_style((struct style){ .type = PTHREAD_MUTEX_ERRORCHECK });
}

static void mutex_robust(void)
{
	show_style((struct style){ .robust = PTHREAD_MUTEX_ROBUST });
}

static void mutex_pi(void)
{
	show_style((struct style){ .protocol = PTHREAD_PRIO_INHERIT });
}

static void mutex_pi_robust(void)
{
	show_style((struct style){ .protocol = PTHREAD_PRIO_INHERIT,
				   .robust = PTHREAD_MUTEX_ROBUST });
}

static void mutex_timed(void)
{
	show_mutex(heap_mutex((struct style){ 0 }), lock, lock_timed, " timed=1");
}

static void mutex_pi_timed(void)
{
	show_mutex(heap_mutex((struct style){ .protocol = PTHREAD_PRIO_INHERIT }), lock,
		   lock_timed, " timed=1");
}

#ifdef __GLIBC__

static void mutex_adaptive(void)
{
	show_style((struct style){ .type = PTHREAD_MUTEX_ADAPTIVE_NP });
}

static void mutex_clock(void)
{
	show_mutex(heap_mutex((struct style){ 0 }), lock, lock_clock, " timed=1");
}

static void mutex_pi_clock(void)
{
	uint32_t word = 0;

	if (syscall(SYS_futex, &word, FUTEX_LOCK_PI2, 0, NULL, NULL, 0) != 0)
		locks_skip("the kernel has no FUTEX_LOCK_PI2");
	show_mutex(heap_mutex((struct style){ .protocol = PTHREAD_PRIO_INHERIT }), lock,
		   lock_clock, " timed=1");
}

/* Only threads with a priority of real time may lock it. */
static int lock_protected(void *mutex)
{
	struct sched_param param = { .sched_priority = 1 };
	int error = pthread_setschedparam(pthread_self(), SCHED_FIFO, &param);

	if (error == EPERM)
		locks_skip("no permission for SCHED_FIFO");
	return error ? error : pthread_mutex_lock(mutex);
}

static void mutex_protect(void)
{
	show_mutex(heap_mutex((struct style){ .protocol = PTHREAD_PRIO_PROTECT }),
		   lock_protected, lock_protected, "");
}

/* Unlocking first forgets the owner: what may be seen for an instant lasts here. */
static void mutex_free(void)
{
	pthread_mutex_t *mutex = heap_mutex((struct style){ 0 });
	struct actor *waiter;

	actor_holds(lock, mutex);
	waiter = actor_waits(lock, mutex, CALL(futex));
	mutex->__data.__owner = 0;
	truth(waiter, 0, locks_address(mutex), "mutex", " is=free");
}

/* Unlocked, but for the waiter, which has not been woken: it was the only user. */
static void mutex_released(void)
{
	pthread_mutex_t *mutex = heap_mutex((struct style){ 0 });
	struct actor *waiter;

	actor_holds(lock, mutex);
	waiter = actor_waits(lock, mutex, CALL(futex));
	mutex->__data.__owner = 0;
	mutex->__data.__nusers = 0;
	truth(waiter, 0, locks_address(mutex), "mutex", " is=free named=1");
}

#else

static void only_glibc(void)
{
	locks_skip("this C library has none");
}

#define mutex_adaptive only_glibc
#define mutex_clock only_glibc
#define mutex_pi_clock only_glibc
#define mutex_protect only_glibc
#define mutex_free only_glibc
#define mutex_released only_glibc
#define rwlock_reader_next only_glibc

#endif

static pthread_mutex_t *shared_mutex(void)
{
	pthread_mutex_t *mutex = locks_shared_memory(sizeof *mutex);

	make_mutex(mutex, (struct style){ .shared = PTHREAD_PROCESS_SHARED });
	return mutex;
}

static void mutex_shared(void)
{
	show_mutex(shared_mutex(), lock, lock, "");
}

/* In the child: a second thread takes it. */
static void take_in_child(void *mutex)
{
	locks_shared->number = actor_holds(lock, mutex)->tid;
}

static void mutex_process(void)
{
	pthread_mutex_t *mutex = shared_mutex();
	pid_t child = process_new("lockowner", take_in_child, mutex);
	struct actor *waiter = actor_waits(lock, mutex, CALL(futex));

	truth(waiter, locks_shared->number, locks_address(mutex), "mutex",
	      " is=process process=%d", (int)child);
}

/* ---- rwlocks --------------------------------------------------------------------- */

static int lock_read(void *rwlock)
{
	return pthread_rwlock_rdlock(rwlock);
}

static int lock_write(void *rwlock)
{
	return pthread_rwlock_wrlock(rwlock);
}

static int lock_read_timed(void *rwlock)
{
	struct timespec until = locks_until(CLOCK_REALTIME);

	return pthread_rwlock_timedrdlock(rwlock, &until);
}

static int lock_write_timed(void *rwlock)
{
	struct timespec until = locks_until(CLOCK_REALTIME);

	return pthread_rwlock_timedwrlock(rwlock, &until);
}

static pthread_rwlock_t *make_rwlock(void)
{
	pthread_rwlock_t *rwlock = malloc(sizeof *rwlock);

	if (!rwlock)
		target_die("malloc");
	locks_must(pthread_rwlock_init(rwlock, NULL), "pthread_rwlock_init");
	return rwlock;
}

static void behind_writer(locks_call wait, const char *more)
{
	pthread_rwlock_t *rwlock = make_rwlock();
	struct actor *holder = actor_holds(lock_write, rwlock);
	struct actor *waiter = actor_waits(wait, rwlock, CALL(futex));

	truth(waiter, holder->tid, locks_address(rwlock), "rwlock", "%s", more);
}

static void rwlock_writer_writer(void)
{
	behind_writer(lock_write, " mode=write");
}

static void rwlock_reader_writer(void)
{
	behind_writer(lock_read, " mode=read");
}

static void rwlock_write_timed(void)
{
	behind_writer(lock_write_timed, " mode=write timed=1");
}

static void rwlock_read_timed(void)
{
	behind_writer(lock_read_timed, " mode=read timed=1");
}

static void rwlock_writer_readers(void)
{
	pthread_rwlock_t *rwlock = make_rwlock();
	struct actor *waiter;

	actor_holds(lock_read, rwlock);
	actor_holds(lock_read, rwlock);
	waiter = actor_waits(lock_write, rwlock, CALL(futex));
	truth(waiter, 0, locks_address(rwlock), "rwlock", " mode=write readers=2");
}

/* A reader holds it, a writer waits, and after it somebody else. musl has no order. */
static void behind_next(pthread_rwlock_t *rwlock, locks_call wait, const char *mode)
{
	struct actor *next, *last;
	char more[32] = "";

	actor_holds(lock_read, rwlock);
	next = actor_waits(lock_write, rwlock, CALL(futex));
	last = actor_waits(wait, rwlock, CALL(futex));
#ifdef __GLIBC__
	snprintf(more, sizeof more, " next=%d", (int)next->tid);
#endif
	truth(next, 0, locks_address(rwlock), "rwlock", " mode=write readers=1");
	truth(last, 0, locks_address(rwlock), "rwlock", " mode=%s readers=1%s", mode,
	      more);
}

static void rwlock_second_writer(void)
{
	behind_next(make_rwlock(), lock_write, "write");
}

#ifdef __GLIBC__
static void rwlock_reader_next(void)
{
	pthread_rwlock_t *rwlock = make_rwlock();
	pthread_rwlockattr_t attr;

	pthread_rwlockattr_init(&attr);
	pthread_rwlockattr_setkind_np(&attr,
				      PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	locks_must(pthread_rwlock_init(rwlock, &attr), "pthread_rwlock_init");
	pthread_rwlockattr_destroy(&attr);
	behind_next(rwlock, lock_read, "read");
}
#endif

const struct kind locks_mutex_kinds[] = {
	{ "mutex-static", mutex_static },
	{ "mutex-heap", mutex_heap },
	{ "mutex-recursive", mutex_recursive },
	{ "mutex-errorcheck", mutex_errorcheck },
	{ "mutex-adaptive", mutex_adaptive },
	{ "mutex-robust", mutex_robust },
	{ "mutex-pi", mutex_pi },
	{ "mutex-pi-robust", mutex_pi_robust },
	{ "mutex-protect", mutex_protect },
	{ "mutex-shared", mutex_shared },
	{ "mutex-process", mutex_process },
	{ "mutex-timed", mutex_timed },
	{ "mutex-clock", mutex_clock },
	{ "mutex-pi-timed", mutex_pi_timed },
	{ "mutex-pi-clock", mutex_pi_clock },
	{ "mutex-free", mutex_free },
	{ "mutex-released", mutex_released },
	{ "rwlock-writer-writer", rwlock_writer_writer },
	{ "rwlock-reader-writer", rwlock_reader_writer },
	{ "rwlock-writer-readers", rwlock_writer_readers },
	{ "rwlock-second-writer", rwlock_second_writer },
	{ "rwlock-reader-next", rwlock_reader_next },
	{ "rwlock-read-timed", rwlock_read_timed },
	{ "rwlock-write-timed", rwlock_write_timed },
	{ NULL, NULL },
};
