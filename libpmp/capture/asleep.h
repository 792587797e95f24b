/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Since when blocked threads have been asleep. The kernel keeps the time at which each
 * thread was last put on a processor or charged for it (se.exec_start in
 * /proc/PID/task/TID/sched), on a clock of each processor that leaves out stolen and
 * interrupt time: after an hour two of them were 72 and 76 s late. So that clock is
 * compared with CLOCK_MONOTONIC on the processor itself, by going there for a moment.
 * What was stolen after the thread fell asleep is missing: the time is a lower bound.
 *
 * All of that takes 25 to 40 us for a thread. Of one that has run since a capture not long
 * ago it is known without that that it sleeps since then at most: it is said to do so from
 * now on, and only if the next capture finds that it has slept on the kernel is asked.
 */
#ifndef PMP_CAPTURE_ASLEEP_H
#define PMP_CAPTURE_ASLEEP_H

#include "capture/target.h"

/* At the end of a capture with options.asleep, or .asleep_before where that applies, with its
 * threads in order: fills .asleep_since of those that wait for something known and of those
 * that hold it, once for each time that they fall asleep. True: one is another one than in the
 * capture before. */
bool pmp_asleep_finish(struct pmp_capture *capture);

#endif
