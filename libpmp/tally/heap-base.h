/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What each stack had allocated at one moment, and what of that lived: a report may be of what
 * has changed since. Stacks are known by their numbers, so bases change with these.
 */
#ifndef PMP_TALLY_HEAP_BASE_H
#define PMP_TALLY_HEAP_BASE_H

#include "libpmp-program.h"
#include "tally/stack-table.h"

#include <stddef.h>
#include <stdint.h>

struct pmp_heap_base {
	struct pmp_heap_base *next,
		**link;			/* among those of its heap; NULL: that is gone */
	struct pmp_heap_counts *counts; /* by number of the stack */
	size_t count;
	uint64_t time, realtime; /* CLOCK_MONOTONIC, CLOCK_REALTIME; ns */
};

/* One of the stacks as they are, added to the list that begins at first. 0 or PMP_ENOMEM. */
int pmp_heap_base_new(struct pmp_heap_base **first, const struct pmp_entries *entries,
		      struct pmp_heap_base **base);
/* Set what a change is counted from, in all stacks; NULL: nothing. */
void pmp_heap_base_apply(const struct pmp_heap_base *base,
			 const struct pmp_entries *entries);
/* Of all of them: stack i has number numbers[i] from now on, which is not larger. */
void pmp_heap_bases_renumber(struct pmp_heap_base *first, const uint32_t *numbers);
/* The bytes that they take. */
uint64_t pmp_heap_bases_size(const struct pmp_heap_base *first);
/* Their heap is gone. */
void pmp_heap_bases_detach(struct pmp_heap_base *first);

#endif
