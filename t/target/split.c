/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * split: a thread whose CPU time is divided as it says. At SIGUSR2 it uses 2 s of it, in
 * slices of some milliseconds between which it sleeps: three quarters in burn_often(),
 * one quarter in burn_seldom(). Then it prints "burned NS", what the kernel has counted
 * of it since, and sleeps.
 */
#include "target.h"

#define BURN_NS UINT64_C(2000000000)

static uint64_t cpu_time(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* What /proc says, as pmp reads it. */
static uint64_t schedstat(void)
{
	unsigned long long cpu = 0;
	FILE *file = fopen("/proc/thread-self/schedstat", "re");

	if (!file || fscanf(file, "%llu", &cpu) != 1)
		target_die("schedstat");
	fclose(file);
	return cpu;
}

/* Two functions that are not alike: else they would be one. */
NOINLINE static uint64_t burn_often(uint64_t until)
{
	uint64_t now;

	while ((now = cpu_time()) < until)
		;
	return now;
}

NOINLINE static uint64_t burn_seldom(uint64_t until)
{
	static volatile unsigned turns;
	uint64_t now;

	do {
		turns++;
		now = cpu_time();
	} while (now < until);
	return now;
}

/* 1 to 8 ms */
static unsigned any_time(void)
{
	static uint32_t state = 2463534242;

	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return 1 + state % 8;
}

static void burn(void)
{
	uint64_t often = 0, seldom = 0;

	while (often + seldom < BURN_NS) {
		uint64_t start = cpu_time(),
			 until = start + any_time() * UINT64_C(1000000);

		if (often <= 3 * seldom)
			often += burn_often(until) - start;
		else
			seldom += burn_seldom(until) - start;
		target_nap(any_time());
	}
}

static void burner(void *arg)
{
	uint64_t before;
	sigset_t set;
	int signal;

	(void)arg;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigwait(&set, &signal);
	before = schedstat();
	burn();
	printf("burned %llu\n", (unsigned long long)(schedstat() - before));
	for (;;)
		pause();
}

int main(void)
{
	sigset_t set;

	target_begin();
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	target_wait_asleep(target_thread("burner", burner, NULL));
	target_ready();
	target_wait_end();
	target_verdict(NULL);
}
