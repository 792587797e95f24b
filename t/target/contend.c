/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * contend SECONDS: threads that wait for two mutexes as planned, and add up for how long.
 *
 *     holder      has mutex_a for 12 ms, leaves it for some ms
 *     waiter-1 4  take mutex_a for a moment, after some ms
 *     middle      has mutex_b while it takes mutex_a
 *     last        takes mutex_b for a moment
 *
 * So all wait for holder in the end. A wait is over when the mutex is released: that its
 * thread has to wait for a processor then is another thing. At its end it prints for each
 * of the functions waiter_takes, middle_takes and last_takes
 *
 *     waited FUNCTION NANOSECONDS WAITS
 */
#include "target.h"

#define WAITERS 4
#define HELD 12000000 /* ns */
#define LEFT 3000000  /* at least, and up to twice that more */

static pthread_mutex_t mutex_a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t mutex_b = PTHREAD_MUTEX_INITIALIZER;
static atomic_ullong released_a, released_b; /* when, the last time */
static atomic_bool over;

struct waited {
	atomic_ullong ns, count;
};

static struct waited waiters, middle, last;

static void nap(uint64_t ns)
{
	const struct timespec time = { .tv_nsec = (long)ns };

	nanosleep(&time, NULL);
}

static uint64_t some_ms(uint64_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return LEFT + *random % (2 * LEFT);
}

static void release(pthread_mutex_t *mutex)
{
	*(mutex == &mutex_a ? &released_a : &released_b) = target_now();
	pthread_mutex_unlock(mutex);
}

/* Inlined, so that the lock function is called by those below. */
static inline __attribute__((always_inline)) void take(pthread_mutex_t *mutex,
						       struct waited *waited)
{
	uint64_t start, end;

	if (pthread_mutex_trylock(mutex) == 0)
		return;
	start = target_now();
	pthread_mutex_lock(mutex);
	end = mutex == &mutex_a ? released_a : released_b;
	if (end > start)
		waited->ns += end - start;
	waited->count++;
}

static NOINLINE void waiter_takes(void)
{
	take(&mutex_a, &waiters);
	release(&mutex_a);
}

static NOINLINE void middle_takes(void)
{
	take(&mutex_a, &middle);
	release(&mutex_a);
}

static NOINLINE void last_takes(void)
{
	take(&mutex_b, &last);
	release(&mutex_b);
}

static NOINLINE void holder_holds(void)
{
	pthread_mutex_lock(&mutex_a);
	nap(HELD);
	release(&mutex_a);
}

static void *run_holder(void *arg)
{
	uint64_t random = 88172645463325252u;

	while (!over) {
		holder_holds();
		nap(some_ms(&random));
	}
	return arg;
}

static void *run_waiter(void *arg)
{
	uint64_t random = (uintptr_t)arg;

	while (!over) {
		nap(some_ms(&random));
		waiter_takes();
	}
	return arg;
}

static void *run_middle(void *arg)
{
	uint64_t random = 362436069;

	while (!over) {
		nap(some_ms(&random));
		pthread_mutex_lock(&mutex_b);
		middle_takes();
		release(&mutex_b);
	}
	return arg;
}

static void *run_last(void *arg)
{
	uint64_t random = 521288629;

	while (!over) {
		nap(some_ms(&random) / 2);
		last_takes();
	}
	return arg;
}

static pthread_t start(const char *name, void *(*run)(void *), uintptr_t arg)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, (void *)arg))
		target_die("pthread_create");
	pthread_setname_np(thread, name);
	return thread;
}

static void print(const char *function, const struct waited *waited)
{
	printf("waited %s %llu %llu\n", function, (unsigned long long)waited->ns,
	       (unsigned long long)waited->count);
}

int main(int argc, char **argv)
{
	int seconds = argc > 1 ? atoi(argv[1]) : 0;
	pthread_t threads[WAITERS + 3];
	char name[16];

	alarm(seconds > TARGET_LIFETIME ? (unsigned)seconds : TARGET_LIFETIME);
	setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
	threads[WAITERS] = start("holder", run_holder, 0);
	threads[WAITERS + 1] = start("middle", run_middle, 0);
	threads[WAITERS + 2] = start("last", run_last, 0);
	for (unsigned i = 0; i < WAITERS; i++) {
		snprintf(name, sizeof(name), "waiter-%u", i + 1);
		threads[i] = start(name, run_waiter, 1000 + 77777 * i);
	}
	printf("ready %d\n", (int)getpid());
	if (seconds)
		sleep((unsigned)seconds);
	else
		pause();
	over = true;
	for (unsigned i = 0; i < WAITERS + 3; i++)
		pthread_join(threads[i], NULL);
	print("waiter_takes", &waiters);
	print("middle_takes", &middle);
	print("last_takes", &last);
	return 0;
}
