/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Do the holders of locks hold them in the stacks that the sample has of them? Within a
 * sample one thread is read after the other: one that has taken the lock since, or released
 * it, may have a stack in which it holds none.
 */
#ifndef PMP_CAPTURE_HOLDERS_H
#define PMP_CAPTURE_HOLDERS_H

#include "capture/target.h"

/* After the wait of a thread was read: if its holder is one that this capture has found
 * asleep before, and sleeps still, it holds the lock in that stack. Otherwise the lock is
 * also read when the holder is next stopped: of several that it holds, the last. */
void pmp_holder_look(struct pmp_target *target, struct pmp_work *work);
/* After the stop of a thread whose stack is in the sample: keep the state that its lock was
 * in. 0 or PMP_ENOMEM. */
int pmp_holder_stopped(struct pmp_target *target, const struct pmp_stop_request *request);
/*
 * Once all are read, and threads are in the order of their ids: mark the waits for locks
 * that a thread of the sample held with PMP_WAIT_MOVED_ON, unless
 *  - that has been found; or
 *  - the holder was stopped after the waiter was read, and the lock named it in that stop; or
 *  - the lock was not read in that stop, or there was none; the lock still names the holder;
 *    and if the holder was blocked when its stack was read, it has not run since: so it slept
 *    in that stack and held the lock. Of one that ran then there is no such proof: the lock
 *    has to be enough.
 * 0 or PMP_ENOMEM.
 */
int pmp_holders_check(struct pmp_capture *capture);

#endif
