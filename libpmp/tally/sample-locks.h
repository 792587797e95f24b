/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the threads of one sample wait for and who holds it, in the form that is counted. */
#ifndef PMP_TALLY_SAMPLE_LOCKS_H
#define PMP_TALLY_SAMPLE_LOCKS_H

#include "sample.h"
#include "tally/locate.h"
#include "tally/lock-table.h"

#include <stdbool.h>
#include <stddef.h>

#define PMP_NO_HOLDER SIZE_MAX

/* Zero it. Keeps its memory from one sample to the next. */
struct pmp_sample_locks {
	const struct pmp_sample *sample;
	struct pmp_locator locator;
	bool details;
	char holder_name[PMP_NAME_SIZE];
	/* If the sample's threads are not in the order of their ids (mixed): that order. */
	bool mixed;
	uint32_t *order;
	size_t capacity;
};

/* details: keep holders apart by id, and locks without a name by address. 0 or
 * PMP_ENOMEM. */
int pmp_sample_locks_start(struct pmp_sample_locks *locks,
			   const struct pmp_sample *sample,
			   struct pmp_symbolizer *symbolizer, bool details);
/* What thread i waits for; strings are borrowed until the next call. false: it waits for
 * nothing known. */
bool pmp_sample_locks_get(struct pmp_sample_locks *locks, size_t i,
			  struct pmp_lock *lock);
/* The index of the thread that thread i waits for, or PMP_NO_HOLDER. */
size_t pmp_sample_locks_holder(const struct pmp_sample_locks *locks, size_t i);
/* The index of the thread that has to finish first for thread i to continue: the holder of
 * what it waits for, or the holder of what that thread waits for, and so on; at a deadlock,
 * the first thread in it. PMP_NO_HOLDER: not known, not in the sample, or its stack there
 * is of another moment. */
size_t pmp_sample_locks_root(const struct pmp_sample_locks *locks, size_t i);
void pmp_sample_locks_free(struct pmp_sample_locks *locks);

#endif
