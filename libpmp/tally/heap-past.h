/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What each stack of a heap had at moments of the last minute: a view shows what has changed
 * since. Moments of the last ten seconds are a second apart, older ones five.
 */
#ifndef PMP_TALLY_HEAP_PAST_H
#define PMP_TALLY_HEAP_PAST_H

#include "tally/stack-table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PMP_HEAP_MOMENTS 32

/* The exact sums of all processes. */
struct pmp_heap_exact {
	uint64_t allocated, freed, live; /* bytes */
	uint64_t allocs, frees, blocks;
};

/* What a stack had. */
struct pmp_heap_was {
	uint64_t alloc_parts, alloc_bytes, live_parts, live_bytes;
};

struct pmp_heap_moment {
	uint64_t
		from; /* CLOCK_MONOTONIC; all was so from then on, until more was heard */
	struct pmp_heap_exact exact;
	struct pmp_heap_was *was; /* of the first .count stacks; the others had nothing */
	size_t count;
};

/* Zero it first. */
struct pmp_heap_past {
	struct pmp_heap_moment moments[PMP_HEAP_MOMENTS]; /* the oldest first */
	size_t count;
};

void pmp_heap_past_free(struct pmp_heap_past *past);
/* Forget all moments: stacks have other numbers now. */
void pmp_heap_past_clear(struct pmp_heap_past *past);
/* Is it time for another moment, of how all has been since that time? */
bool pmp_heap_past_is_due(const struct pmp_heap_past *past, uint64_t from);
/* Keep how all is, and has been since that time. 0 or PMP_ENOMEM. */
int pmp_heap_past_keep(struct pmp_heap_past *past, uint64_t from,
		       const struct pmp_heap_exact *exact,
		       const struct pmp_entries *entries);
/* How it was at that time, or at the oldest moment after it; NULL: none is known. */
const struct pmp_heap_moment *pmp_heap_past_at(const struct pmp_heap_past *past,
					       uint64_t time);
/* The bytes that it takes. */
uint64_t pmp_heap_past_size(const struct pmp_heap_past *past);

#endif
