/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The time used throughout pmp: CLOCK_MONOTONIC in ns, as in samples. */
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

/** Has this time been reached? UINT64_MAX: never. */
static inline bool clock_is_past(uint64_t time)
{
	return time != UINT64_MAX && now_ns() >= time;
}

#endif
