/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stack of a blocked thread, read where it sleeps: nothing is stopped. Of its
 * registers only pc and sp are known (/proc/PID/task/TID/syscall); where a frame needs
 * the frame pointer, what was learned (fp-cache.h) and what is found (fp-recover.h) help.
 */
#ifndef PMP_CAPTURE_PEEK_H
#define PMP_CAPTURE_PEEK_H

#include "capture/stack-copy.h"

/*
 * work->peek has found the thread blocked, after work->run_count was read. Returns 1 if
 * the thread has proven to have slept all the time and its stack is complete, or as long
 * as a stop in the same call has found it. 0: it is not; then reading->walk has the frames
 * that are certain, perhaps none (count 0: not even that it slept), and work->lacks is the
 * pc whose frame pointer was not known, or 0. Or an error.
 */
int pmp_peek(struct pmp_capture *capture, struct pmp_work *work,
	     struct pmp_reading *reading);

/* What a blocked thread waits for, of one whose stack will be read in a stop. 0 or an error. */
int pmp_peek_wait(struct pmp_capture *capture, struct pmp_work *work);

/* Learn from a walk in which the registers were known: of a stop, or complete. */
void pmp_peek_learn(struct pmp_target *target, const struct pmp_walk *walk);

#endif
