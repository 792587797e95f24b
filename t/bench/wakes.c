/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wakes: uses 1 ms of CPU ten times a second, and does nothing else, until it is ended.
 * What that costs a server that saturates the machine is what any program costs that wakes
 * as often as pmp does.
 */
#include <stdint.h>
#include <time.h>

#define CPU 1000000	 /* ns each time */
#define PERIOD 100000000 /* ns */

static int64_t now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static void compute(void)
{
	int64_t end = now(CLOCK_THREAD_CPUTIME_ID) + CPU;

	while (now(CLOCK_THREAD_CPUTIME_ID) < end)
		continue;
}

int main(void)
{
	int64_t next = now(CLOCK_MONOTONIC);

	for (;;) {
		struct timespec until;

		compute();
		next += PERIOD;
		until = (struct timespec){ next / 1000000000, next % 1000000000 };
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	}
}
