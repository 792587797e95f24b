/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Deadlocks: threads that wait for each other in a circle. That each of them has been seen
 * to wait for the next does not make one: the first may have been woken since, and not run
 * yet. It is proven by four steps (pmp_deadlocks_find).
 */
#ifndef PMP_CAPTURE_DEADLOCK_H
#define PMP_CAPTURE_DEADLOCK_H

#include "capture/target.h"

#define PMP_DEADLOCK_MAX 64 /* threads in a circle that is proven */

/*
 * Mark the waits of all threads of the sample (in order) that are in a deadlock with
 * PMP_WAIT_DEADLOCK: each one's holder is the next of its circle. 0 or PMP_ENOMEM.
 */
int pmp_deadlocks_find(struct pmp_capture *capture);

#endif
