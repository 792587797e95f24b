/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Since when blocked threads have been asleep. The kernel keeps the time at which each
 * thread was last put on a processor or charged for it (se.exec_start in
 * /proc/PID/task/TID/sched), on a per-processor clock that excludes stolen and interrupt
 * time: after an hour two of them were 72 and 76 s behind. So that clock is compared with
 * CLOCK_MONOTONIC on the processor itself, by moving there for a moment. Time stolen after
 * the thread fell asleep is missing: the time asleep is a lower bound.
 *
 * All of that takes 25 to 40 us per thread. A thread that has run since a recent capture
 * can have slept only since then: it is reported as asleep from now on, and the kernel is
 * asked only if the next capture finds that it has not run since.
 */
#ifndef PMP_CAPTURE_ASLEEP_H
#define PMP_CAPTURE_ASLEEP_H

#include "capture/target.h"

/* Call it at the end of a capture with options.asleep, or .asleep_before where that
 * applies, with its threads in order: fills .asleep_since of threads with a known wait and
 * of their holders, once each time they fall asleep. True: at least one differs from the
 * previous capture. */
bool pmp_asleep_finish(struct pmp_capture *capture);

#endif
