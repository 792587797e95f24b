/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Several targets with a file each: a pmp for each file. */
#ifndef PMP_RUN_PER_TARGET_H
#define PMP_RUN_PER_TARGET_H

#include "options/options.h"
#include "source/processes.h"

#include <stdbool.h>

/* Each is a pmp with processes of its own, and others may start as many targets as they like
 * of any name. */
#define PER_TARGET_MAX 100

/**
 * How many files do these processes have, by the name of the output? Those of one file
 * are moved together, and pids->ids[i] belongs to file number groups[i], from 0 on;
 * groups has room for all. 1 if the name does not tell processes apart.
 */
size_t per_target_group(const struct options *options,
			const struct found_processes *found, struct id_list *pids,
			size_t *groups);

/**
 * Fork one process for each file. In each of them returns its number; in the caller, when
 * all have ended, -1 and the highest of their statuses. Signals that end or USR1 are
 * passed on. To be called before the handlers of signals are installed.
 */
int per_target_run(size_t count, int *status);

#endif
