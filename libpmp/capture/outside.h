/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What threads wait for outside of their process (PMP_WAITS_PEERS): locks of files, pipes,
 * sockets, children, semaphores of System V, and which processes have to do with that; and
 * events, timers, signals, messages and files, which no process holds.
 * All of it is read between two equal run counts of a thread, with its system call: it
 * slept there meanwhile.
 *
 * A descriptor may have been closed, and given to another file, since the call began, and
 * the memory that says what is polled may have been written: this does not show.
 */
#ifndef PMP_CAPTURE_OUTSIDE_H
#define PMP_CAPTURE_OUTSIDE_H

#include "capture/target.h"

/* At the end of a capture, with all threads in order and what they wait for in memory.
 * 0 or PMP_ENOMEM. */
int pmp_outside_find(struct pmp_capture *capture);

#endif
