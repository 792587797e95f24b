/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What threads wait for outside their process (PMP_WAITS_PEERS): file locks, pipes,
 * sockets, children, System V semaphores, and the processes involved; and events, timers,
 * signals, messages and files, which no process holds. All of it is read, with the system
 * call of the thread, between two equal run counts, which prove that it slept meanwhile.
 *
 * Two changes since the call began go unnoticed: a descriptor closed and reused for
 * another file, and a modified array of polled descriptors.
 */
#ifndef PMP_CAPTURE_OUTSIDE_H
#define PMP_CAPTURE_OUTSIDE_H

#include "capture/target.h"

/* Call it at the end of a capture, when threads are in order and their waits in memory are
 * known. 0 or PMP_ENOMEM. */
int pmp_outside_find(struct pmp_capture *capture);

#endif
