/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The CPU time of processes that pmp has started for its own work: --max-cpu counts it. */
#ifndef PMP_RUN_SPENT_H
#define PMP_RUN_SPENT_H

#include <stdint.h>
#include <sys/types.h>

/** waitpid() that adds the CPU time of the child to the total. Thread-safe. */
pid_t spent_wait(pid_t pid, int *status, int options);
/** The total, in ns, of all children that spent_wait() has reaped. Thread-safe. */
uint64_t spent_by_ended(void);

#endif
