/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who provably waits for whom. A lock names its holder in memory that may change at any
 * time; what was read is valid if the waiter slept meanwhile, because then the lock was
 * not released. Equal run counts before and after prove that. So locks are read in the
 * peek at a thread, between its two run counts; for threads that have not run since, at
 * the end of the capture, as their locks may have changed hands.
 */
#ifndef PMP_CAPTURE_WAIT_H
#define PMP_CAPTURE_WAIT_H

#include "capture/target.h"

/* Fills work->thread.wait, not proven yet; stack: a fresh copy from work->peek.sp on. */
void pmp_wait_peek(struct pmp_target *target, struct pmp_work *work,
		   const struct pmp_range *stack);
/* Call it if the thread has not run since: what pmp_wait_peek() found is then proven. */
void pmp_wait_prove(struct pmp_target *target, struct pmp_work *work);
/* Call it at the end of a capture, with all threads in order: finds the holders for
 * waiters that have not run since, tids that belong to no thread of the process, and
 * deadlocks. 0 or PMP_ENOMEM. */
int pmp_waits_finish(struct pmp_capture *capture);
/* Call it after that: will the next capture find the same waits if no thread of the
 * process runs? Not if they are for what another process may do. */
bool pmp_waits_stand_still(const struct pmp_capture *capture);

#endif
