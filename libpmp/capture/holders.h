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
 * asleep before, and sleeps still, it holds the lock in that stack. */
void pmp_holder_look(struct pmp_target *target, struct pmp_work *work);
/*
 * Once all are read, and threads are in the order of their ids: mark the waits for locks
 * that a thread of the sample held with PMP_WAIT_MOVED_ON, unless that has been found,
 * or
 *  - the lock names it still, and
 *  - if it was blocked when its stack was read, it has not run since: so it slept in that
 *    stack and held the lock. Of one that ran then there is no such proof: the lock has to
 *    be enough.
 * 0 or PMP_ENOMEM.
 */
int pmp_holders_check(struct pmp_capture *capture);

#endif
