/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often the threads of a process were put on a processor, all of them together: one
 * question to the kernel (taskstats over generic netlink, see the kernel's
 * Documentation/accounting/taskstats.rst), where the schedstat of each thread is one of
 * its own. 3 us for 10 threads, 25 for 1000, against 1500 for 1000 schedstats.
 *
 * It is for CAP_NET_ADMIN in the first network namespace only. The kernel holds the lock
 * of the process's signals while it adds, 25 ns a thread, as it does for /proc/PID/stat.
 */
#ifndef PMP_PROC_TASKSTATS_H
#define PMP_PROC_TASKSTATS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pmp_taskstats {
	int fd;
	uint16_t family;
	uint32_t sequence;
};

/* False: this kernel does not have it, or not for us. */
bool pmp_taskstats_open(struct pmp_taskstats *stats);
/* Takes one that could not be opened as well. */
void pmp_taskstats_close(struct pmp_taskstats *stats);
/*
 * The sum of the third numbers of schedstat over the threads of pid, with those that have
 * ended. Each is read during the call. False: no answer (it has ended, or there is no
 * permission).
 */
bool pmp_taskstats_runs(struct pmp_taskstats *stats, pid_t pid, uint64_t *runs);

#endif
