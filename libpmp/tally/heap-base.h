/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What each stack had allocated at one moment, and how much of that was live, for reports
 * of what has changed since. Stacks are identified by number, so bases have to be
 * renumbered with them.
 */
#ifndef PMP_TALLY_HEAP_BASE_H
#define PMP_TALLY_HEAP_BASE_H

#include "libpmp-program.h"
#include "tally/stack-table.h"

#include <stddef.h>
#include <stdint.h>

struct pmp_heap_base {
	struct pmp_heap_base *next,
		**link;			/* in the list of its heap; NULL: heap is gone */
	struct pmp_heap_counts *counts; /* by number of the stack */
	size_t count;
	uint64_t time, realtime; /* CLOCK_MONOTONIC, CLOCK_REALTIME; ns */
};

/* Make a base of the stacks as they are now and add it to the list at *first. 0 or
 * PMP_ENOMEM. */
int pmp_heap_base_new(struct pmp_heap_base **first, const struct pmp_entries *entries,
		      struct pmp_heap_base **base);
/* Set in all stacks what changes are counted from; NULL: nothing. */
void pmp_heap_base_apply(const struct pmp_heap_base *base,
			 const struct pmp_entries *entries);
/* Renumber all bases of a list: stack i becomes stack numbers[i] <= i. */
void pmp_heap_bases_renumber(struct pmp_heap_base *first, const uint32_t *numbers);
/* Memory used, in bytes. */
uint64_t pmp_heap_bases_size(const struct pmp_heap_base *first);
/* Detach all bases of a list from their heap, which is being freed. */
void pmp_heap_bases_detach(struct pmp_heap_base *first);

#endif
