/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The time that pmp may take, whatever becomes of it. */
#ifndef PMP_RUN_LIMIT_H
#define PMP_RUN_LIMIT_H

#include <stdint.h>

/**
 * That time of CLOCK_MONOTONIC after the first call set caught.limit (run/signals.h); 5 s
 * later end pmp, whatever it does then; 0: there is no limit. To be called again in a
 * process that is forked. 0, or a status with the message printed: no such timer can be had.
 */
int limit_start(uint64_t time);

#endif
