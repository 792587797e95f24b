/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Do the stacks in the sample show the holders of locks while they held them? Threads of a
 * sample are read one after another: one that has since taken the lock, or released it,
 * may have a stack in which it does not hold it.
 */
#ifndef PMP_CAPTURE_HOLDERS_H
#define PMP_CAPTURE_HOLDERS_H

#include "capture/target.h"

/* Call it after the wait of a thread was read: if this capture has already found its
 * holder asleep, and the holder still sleeps, it holds the lock in that stack. Otherwise
 * the lock is read again when the holder is next stopped; if it holds several, only the
 * last one. */
void pmp_holder_look(struct pmp_target *target, struct pmp_work *work);
/* Call it after the stop of a thread whose stack is in the sample: keeps the state of its
 * lock. 0 or PMP_ENOMEM. */
int pmp_holder_stopped(struct pmp_target *target, const struct pmp_stop_request *request);
/*
 * Call it once all threads are read and in the order of their ids: marks waits for locks
 * held by a thread of the sample with PMP_WAIT_MOVED_ON, unless
 *  - pmp_holder_look() found the holder asleep; or
 *  - the holder was stopped after the waiter was read, and the lock named it then; or
 *  - the lock was not read in a stop, it still names the holder, and a holder that was
 *    blocked when its stack was read has not run since: so it slept with that stack while
 *    it held the lock. For a holder that was running there is no such proof: the lock must
 *    suffice.
 * 0 or PMP_ENOMEM.
 */
int pmp_holders_check(struct pmp_capture *capture);

#endif
