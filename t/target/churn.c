/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * churn [MAKERS]: threads are born and die at full speed (default two makers at
 * a time), next to one thread "stayer" that sleeps.
 *
 * Verdict: each thread ran and was joined, and there were many.
 */
#include "target.h"

#define ENOUGH 20 /* new processes, for a verdict */

static atomic_int ended, makers_left, trouble;
static atomic_ullong born, ran;

static NOINLINE void *newborn(void *arg)
{
	ran++;
	return arg;
}

static void maker(void *arg)
{
	pthread_attr_t attr;
	pthread_t thread;
	void *result;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, TARGET_STACK);
	while (!ended) {
		if (pthread_create(&thread, &attr, newborn, &trouble) != 0) {
			trouble++;
			break;
		}
		born++;
		if (pthread_join(thread, &result) != 0 || result != &trouble)
			trouble++;
	}
	pthread_attr_destroy(&attr);
	makers_left--;
	(void)arg;
}

static NOINLINE void stay(void *arg)
{
	for (;;)
		pause();
	(void)arg;
}

int main(int argc, char **argv)
{
	int makers = argc > 1 ? atoi(argv[1]) : 2;
	uint64_t deadline;
	int i;

	target_begin();
	target_wait_asleep(target_thread("stayer", stay, NULL));
	makers_left = makers;
	for (i = 0; i < makers; i++)
		target_thread("maker", maker, NULL);
	while (born < ENOUGH)
		target_nap(1);
	target_ready();
	target_wait_end();
	ended = 1;
	deadline = target_now() + TARGET_PATIENCE * UINT64_C(1000000000);
	while (makers_left && target_now() < deadline)
		target_nap(1);
	if (makers_left)
		target_verdict("%d makers wait for ever", (int)makers_left);
	if (trouble || ran != born)
		target_verdict("%d failures, %llu born, %llu ran", (int)trouble,
			       (unsigned long long)born, (unsigned long long)ran);
	target_verdict(NULL);
}
