/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the threads of one sample wait for, and who holds it, as it is counted. */
#ifndef PMP_TALLY_SAMPLE_LOCKS_H
#define PMP_TALLY_SAMPLE_LOCKS_H

#include "sample.h"
#include "tally/locate.h"
#include "tally/lock-table.h"

#include <stdbool.h>
#include <stddef.h>

#define PMP_NO_HOLDER SIZE_MAX

/* Zero it; it keeps its memory from one sample to the next. */
struct pmp_sample_locks {
	const struct pmp_sample *sample;
	struct pmp_locator locator;
	bool details;
	char holder_name[PMP_NAME_SIZE];
	/* Threads in the order of their ids, if they are in another one. */
	bool mixed;
	uint32_t *order;
	size_t capacity;
};

/* details: holders have their ids, and locks that have no name their addresses. 0 or
 * PMP_ENOMEM. */
int pmp_sample_locks_start(struct pmp_sample_locks *locks,
			   const struct pmp_sample *sample,
			   struct pmp_symbolizer *symbolizer, bool details);
/* What thread i waits for, with strings that are borrowed until the next call; false: for
 * nothing known. */
bool pmp_sample_locks_get(struct pmp_sample_locks *locks, size_t i,
			  struct pmp_lock *lock);
/* The thread of the sample that thread i waits for, or PMP_NO_HOLDER. */
size_t pmp_sample_locks_holder(const struct pmp_sample_locks *locks, size_t i);
/* The thread that has to finish first for thread i to go on: who holds what it waits for,
 * or who holds what that one waits for, and so on. Of a deadlock the one that comes first.
 * PMP_NO_HOLDER: not known, or not in the sample, or its stack there is of another moment. */
size_t pmp_sample_locks_root(const struct pmp_sample_locks *locks, size_t i);
void pmp_sample_locks_free(struct pmp_sample_locks *locks);

#endif
