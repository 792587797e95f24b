/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --max-wall: the time after which pmp ends, even if it hangs. */
#ifndef PMP_RUN_LIMIT_H
#define PMP_RUN_LIMIT_H

#include <stdint.h>

/**
 * Set caught.limit (run/signals.h) when `time` ns of CLOCK_MONOTONIC have passed since the
 * first call, and end pmp unconditionally 5 s later; 0: no limit. Must be called again
 * after fork(). Returns 0, or if there can be no timer a status, with the message printed.
 */
int limit_start(uint64_t time);

#endif
