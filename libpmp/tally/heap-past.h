/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What each stack of a heap had at several moments of the last minute, so that a view can
 * show what has changed since. The moments of the last ten seconds are one second apart,
 * older ones five.
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

/* What a stack had at a moment. */
struct pmp_heap_was {
	uint64_t alloc_parts, alloc_bytes, live_parts, live_bytes;
};

struct pmp_heap_moment {
	uint64_t
		from; /* CLOCK_MONOTONIC; it is the state from then until the next batch */
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
/* Forget all moments, as stacks have been renumbered. */
void pmp_heap_past_clear(struct pmp_heap_past *past);
/* Is another moment due, with the state since `from`? */
bool pmp_heap_past_is_due(const struct pmp_heap_past *past, uint64_t from);
/* Keep the current state, which has not changed since `from`. 0 or PMP_ENOMEM. */
int pmp_heap_past_keep(struct pmp_heap_past *past, uint64_t from,
		       const struct pmp_heap_exact *exact,
		       const struct pmp_entries *entries);
/* The state at that time, or the oldest one after it; NULL: none is known. */
const struct pmp_heap_moment *pmp_heap_past_at(const struct pmp_heap_past *past,
					       uint64_t time);
/* Memory used, in bytes. */
uint64_t pmp_heap_past_size(const struct pmp_heap_past *past);

#endif
