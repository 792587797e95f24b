/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Several targets with an output file each: a pmp process for each file. */
#ifndef PMP_RUN_PER_TARGET_H
#define PMP_RUN_PER_TARGET_H

#include "options/options.h"
#include "source/processes.h"

#include <stdbool.h>

/* Each file takes a pmp with several processes, and any user may start any number of
 * processes that match. */
#define PER_TARGET_MAX 100

/**
 * Returns the number of files that these processes need, by the name of the output;
 * 1 if the name does not tell processes apart. The processes of one file are made
 * adjacent, and pids->ids[i] belongs to file number groups[i], from 0 on; groups
 * has pids->count elements.
 */
size_t per_target_group(const struct options *options,
			const struct found_processes *found, struct id_list *pids,
			size_t *groups);

/**
 * Fork one process for each file. Returns the number of the file in each child; in the
 * parent, when all children have ended, -1, with the highest of their statuses. INT, TERM,
 * HUP, QUIT and USR1 are forwarded. Must be called before signal handlers are installed.
 */
int per_target_run(size_t count, int *status);

#endif
