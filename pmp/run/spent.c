/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See spent.h. getrusage(RUSAGE_CHILDREN) does not do, as it includes commands. */
#include "run/spent.h"

#include <sys/resource.h>
#include <sys/wait.h>

#include "run/clock.h"

static uint64_t spent;

static uint64_t ns_of(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * NS_PER_S + (uint64_t)time->tv_usec * 1000;
}

pid_t spent_wait(pid_t pid, int *status, int options)
{
	struct rusage usage = { 0 };
	const pid_t ended = wait4(pid, status, options, &usage);

	if (ended > 0)
		__atomic_fetch_add(&spent,
				   ns_of(&usage.ru_utime) + ns_of(&usage.ru_stime),
				   __ATOMIC_RELAXED);
	return ended;
}

uint64_t spent_by_ended(void)
{
	return __atomic_load_n(&spent, __ATOMIC_RELAXED);
}
