/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which threads must not be stopped? A stop is not invisible: some system calls
 * come back with EINTR or a short count, and under a seccomp filter that
 * forbids restart_syscall a stopped sleeper dies. pmp(1) lists the calls;
 * t/0760 measures that the list is true.
 */
#ifndef PMP_CAPTURE_STOP_POLICY_H
#define PMP_CAPTURE_STOP_POLICY_H

#include "proc/process.h"
#include "proc/threads.h"
#include "sample.h"

/*
 * May this thread, as it was just peeked at, be stopped? If not, thread->reason
 * becomes the reason ("epoll_wait", "seccomp", "D, vfork", "zombie") and the result
 * is false.
 */
bool pmp_may_stop(const struct pmp_process *process, struct pmp_thread *thread,
		  const struct pmp_inspection *peek);

#endif
