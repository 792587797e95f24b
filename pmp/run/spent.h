/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The CPU time of processes that pmp has started for work of its own: --max-cpu counts it. */
#ifndef PMP_RUN_SPENT_H
#define PMP_RUN_SPENT_H

#include <stdint.h>
#include <sys/types.h>

/** As waitpid(); what the child has used is added up. For any thread. */
pid_t spent_wait(pid_t pid, int *status, int options);
/** ns of those that have been waited for like that. */
uint64_t spent_by_ended(void);

#endif
