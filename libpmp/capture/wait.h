/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who waits for whom, proven. A lock names its holder in memory that both change at any
 * time; what was read of it is true if the waiter slept meanwhile, as then the lock was
 * not released: its run count was the same before and after. So evidence is read in the
 * peek at a thread, between its two run counts; of threads that have not run since, at
 * the end of the capture, as their locks may have gone from hand to hand.
 */
#ifndef PMP_CAPTURE_WAIT_H
#define PMP_CAPTURE_WAIT_H

#include "capture/target.h"

/* Fills work->thread.wait, not proven yet; stack: what was just copied from work->peek.sp
 * on. */
void pmp_wait_peek(struct pmp_target *target, struct pmp_work *work,
		   const struct pmp_range *stack);
/* The thread has not run since: what pmp_wait_peek() found was true at that time. */
void pmp_wait_prove(struct pmp_target *target, struct pmp_work *work);
/* At the end of a capture, with all threads in order: holders of what others wait for that
 * have not run since, tids that are none of its threads, and deadlocks. 0 or PMP_ENOMEM. */
int pmp_waits_finish(struct pmp_capture *capture);
/* After that: are the waits the same in the next capture if no thread of the process runs? Not
 * if they are for what another process may do. */
bool pmp_waits_stand_still(const struct pmp_capture *capture);

#endif
