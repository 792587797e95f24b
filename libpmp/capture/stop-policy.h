/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which threads must not be stopped? A stop is not invisible: some system calls
 * return EINTR or a short count, and under a seccomp filter that forbids
 * restart_syscall a stopped sleeper is killed. pmp(1) lists the calls; t/0760
 * verifies the list.
 */
#ifndef PMP_CAPTURE_STOP_POLICY_H
#define PMP_CAPTURE_STOP_POLICY_H

#include "proc/process.h"
#include "proc/threads.h"
#include "sample.h"

/*
 * May this thread, in the state just peeked at, be stopped? If not, sets thread->reason
 * ("epoll_wait", "seccomp", "D, vfork", "zombie") and returns false.
 */
bool pmp_may_stop(const struct pmp_process *process, struct pmp_thread *thread,
		  const struct pmp_inspection *peek);

#endif
