/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Deadlocks: threads that wait for each other in a circle. That each of them was seen
 * waiting for the next does not prove one: the first may have been woken since, and not
 * run yet. The proof takes four steps (pmp_deadlocks_find).
 */
#ifndef PMP_CAPTURE_DEADLOCK_H
#define PMP_CAPTURE_DEADLOCK_H

#include "capture/target.h"

#define PMP_DEADLOCK_MAX 64 /* threads in a circle that can be proven */

/*
 * Mark waits in a deadlock with PMP_WAIT_DEADLOCK: each thread's holder is then the next
 * one of its circle. Threads of the sample must be in order. 0 or PMP_ENOMEM.
 */
int pmp_deadlocks_find(struct pmp_capture *capture);

#endif
