/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * waits [WAITERS]: what it costs to find out what threads wait for, and who holds it.
 *
 * A process with so many threads (1000 if not given) that wait for one mutex, for one each,
 * or for a semaphore each, is captured with and without that, by turns: the first capture of a new target;
 * later ones in which one other thread of the process has run; others in which none has;
 * and others in which all waiters have, as their waits have timeouts. Prints the CPU time
 * of a capture without and with waits, and the difference for each waiter: medians. Of
 * semaphores only names can tell what they are: with waits as --locks wants them, so that
 * their memory is read again, and since when the threads sleep.
 */
#include "libpmp.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "lib/child.h"

#define ROUNDS 31
#define WARM 3		  /* captures of a target before those that count */
#define TIMEOUT 30000000L /* ns, of waits with one */
#define STACK ((size_t)64 * 1024)

enum which { WITHOUT, WITH, BOTH };

/* What happens between two captures. */
enum meanwhile { NEW_TARGET, ONE_RUNS, NONE_RUNS, ALL_RUN };

enum object { ONE_MUTEX, OWN_MUTEX, OWN_SEMAPHORE };

struct crowd {
	size_t waiters;
	enum object object;
	bool timed; /* waits end and begin again */
	pthread_mutex_t *mutexes;
	sem_t *semaphores;
	atomic_size_t ready;
};

/* ---- the process ------------------------------------------------------------------------ */

static struct timespec after_timeout(void)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += TIMEOUT;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	return until;
}

static void *wait_for_object(void *arg)
{
	struct crowd *crowd = arg;
	size_t number = atomic_fetch_add(&crowd->ready, 1);
	pthread_mutex_t *mutex = &crowd->mutexes[crowd->object == ONE_MUTEX ? 0 : number];
	struct timespec until;

	while (crowd->timed) {
		until = after_timeout();
		if (crowd->object == OWN_SEMAPHORE)
			sem_timedwait(&crowd->semaphores[number], &until);
		else
			pthread_mutex_timedlock(mutex, &until);
	}
	if (crowd->object == OWN_SEMAPHORE)
		sem_wait(&crowd->semaphores[number]);
	else
		pthread_mutex_lock(mutex);
	return arg;
}

static bool start_waiters(const struct child *self, void *arg)
{
	struct crowd *crowd = arg;
	pthread_attr_t attributes;
	pthread_t thread;

	(void)self;
	crowd->mutexes = calloc(crowd->waiters, sizeof(*crowd->mutexes));
	crowd->semaphores = calloc(crowd->waiters, sizeof(*crowd->semaphores));
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	for (size_t i = 0; i < crowd->waiters; i++)
		if (pthread_mutex_lock(&crowd->mutexes[i]) ||
		    pthread_create(&thread, &attributes, wait_for_object, crowd))
			return false;
	while (atomic_load(&crowd->ready) < crowd->waiters)
		usleep(1000);
	usleep(200000);
	return true;
}

/* ---- measuring ------------------------------------------------------------------------- */

static double cpu_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static struct pmp_target *open_target(const struct child *child,
				      const struct crowd *crowd, enum which which)
{
	const struct pmp_target_options options = {
		.size = sizeof(options),
		.no_wchan = true,
		.descriptors = UINT32_MAX,
		.waits = which == WITHOUT ? PMP_WAITS_NONE : PMP_WAITS_HOLDERS,
		.asleep = which == WITH && crowd->object == OWN_SEMAPHORE,
	};
	struct pmp_target *target;
	struct pmp_error err;

	if (pmp_target_open(child->pid, &options, &target, &err) == 0)
		return target;
	fprintf(stderr, "%s\n", err.message);
	exit(1);
}

static double capture(struct pmp_target *target)
{
	struct pmp_sample *sample;
	double before = cpu_us(), after;
	struct pmp_error err;

	if (pmp_target_capture(target, &sample, &err) < 0) {
		fprintf(stderr, "%s\n", err.message);
		exit(1);
	}
	after = cpu_us();
	pmp_sample_free(sample);
	return after - before;
}

static void let_run(const struct child *child, enum meanwhile meanwhile)
{
	if (meanwhile == ONE_RUNS && write(child->orders, "g", 1) != 1)
		exit(1);
	usleep(meanwhile == ALL_RUN ? TIMEOUT / 1000 * 2 : 5000);
}

static double measure_new(const struct child *child, const struct crowd *crowd,
			  enum which which)
{
	struct pmp_target *target = open_target(child, crowd, which);
	double cost = capture(target);

	pmp_target_close(target);
	return cost;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values)
{
	qsort(values, ROUNDS, sizeof(*values), by_value);
	return values[ROUNDS / 2];
}

static void measure(const struct child *child, const struct crowd *crowd,
		    enum meanwhile meanwhile, const char *title)
{
	struct pmp_target *targets[BOTH];
	double costs[BOTH][ROUNDS], without, with;

	for (int which = 0; which < BOTH; which++)
		targets[which] = open_target(child, crowd, which);
	for (int i = -WARM; i < ROUNDS; i++) {
		for (int turn = 0; turn < BOTH; turn++) {
			int which = (i + WARM + turn) % BOTH;
			double cost;

			let_run(child, meanwhile);
			cost = meanwhile == NEW_TARGET ? measure_new(child, crowd, which)
						       : capture(targets[which]);
			if (i >= 0)
				costs[which][i] = cost;
		}
	}
	for (int which = 0; which < BOTH; which++)
		pmp_target_close(targets[which]);
	without = median(costs[WITHOUT]);
	with = median(costs[WITH]);
	printf("  %-28s %8.2f ms %8.2f ms %8.2f us a waiter\n", title, without / 1e3,
	       with / 1e3, (with - without) / (double)crowd->waiters);
}

static void run(size_t waiters, enum object object)
{
	static const char *const objects[] = { "one mutex", "a mutex each",
					       "a semaphore each" };
	struct crowd crowd = { .waiters = waiters, .object = object };
	struct child child = { 0 };

	printf("%zu threads wait for %-16s%14s %11s\n", waiters, objects[object],
	       "without", "with");
	if (!child_start(&child, start_waiters, &crowd))
		exit(1);
	measure(&child, &crowd, NEW_TARGET, "first capture");
	measure(&child, &crowd, ONE_RUNS, "another thread has run");
	measure(&child, &crowd, NONE_RUNS, "none has run");
	child_end(&child);
	crowd.timed = true;
	if (!child_start(&child, start_waiters, &crowd))
		exit(1);
	measure(&child, &crowd, ALL_RUN, "all have run");
	child_end(&child);
}

int main(int argc, char **argv)
{
	size_t waiters = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;

	if (!waiters) {
		fprintf(stderr, "usage: waits [WAITERS]\n");
		return 2;
	}
	run(waiters, ONE_MUTEX);
	run(waiters, OWN_MUTEX);
	run(waiters, OWN_SEMAPHORE);
	return 0;
}
