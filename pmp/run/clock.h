/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Time as pmp measures it: CLOCK_MONOTONIC, the clock of samples, in ns. */
#ifndef PMP_RUN_CLOCK_H
#define PMP_RUN_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define NS_PER_S UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)

/** Async-signal-safe. */
static inline uint64_t now_ns(void)
{
	struct timespec now = { 0 };

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/** Has that time come? UINT64_MAX never does. */
static inline bool clock_is_past(uint64_t time)
{
	return time != UINT64_MAX && now_ns() >= time;
}

#endif
