/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The clocks, in nanoseconds. */
#include "base/clock.h"

#include <time.h>

static uint64_t now(clockid_t clock)
{
	struct timespec ts = { 0 };

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * PMP_S + (uint64_t)ts.tv_nsec;
}

uint64_t pmp_clock(void)
{
	return now(CLOCK_MONOTONIC);
}

uint64_t pmp_clock_cpu(void)
{
	return now(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t pmp_clock_realtime(void)
{
	return now(CLOCK_REALTIME);
}
