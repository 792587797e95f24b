/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the stack of a blocked thread without stopping it. Only two registers are known,
 * pc and sp (/proc/PID/task/TID/syscall); the frame pointer, where a frame needs it, is
 * learned (fp-cache.h) or recovered (fp-recover.h).
 */
#ifndef PMP_CAPTURE_PEEK_H
#define PMP_CAPTURE_PEEK_H

#include "capture/stack-copy.h"

/*
 * work->peek found the thread blocked, after work->run_count was read. Returns 1 if the
 * thread provably slept all the time and its stack is complete, or as long as a stop in
 * the same call found it. Returns 0 otherwise; then reading->walk has the frames that are
 * certain, perhaps none (count 0: it may not even have slept), and work->lacks is the pc
 * whose frame pointer was unknown, or 0. Or an error.
 */
int pmp_peek(struct pmp_capture *capture, struct pmp_work *work,
	     struct pmp_reading *reading);

/* Find what a blocked thread waits for if its stack will be read in a stop. 0 or an
 * error. */
int pmp_peek_wait(struct pmp_capture *capture, struct pmp_work *work);

/* Learn from a walk with known registers: one of a stop, or a complete one. */
void pmp_peek_learn(struct pmp_target *target, const struct pmp_walk *walk);

#endif
