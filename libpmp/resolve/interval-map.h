/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which of many ranges, overlapping or nested, contains an address? They are
 * collected in any order and then flattened to an ascending list of steps, at
 * each of which another range (or none) begins to win. A lookup is one binary
 * search. Used for symbols, compilation units, functions and JIT code.
 *
 *   collected  [10,50) rank 1 -> a     flattened  10 a   20 b   30 a   50 none
 *              [20,30) rank 2 -> b
 */
#ifndef PMP_RESOLVE_INTERVAL_MAP_H
#define PMP_RESOLVE_INTERVAL_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PMP_INTERVAL_NONE UINT32_MAX

struct pmp_interval {
	uint64_t start, end; /* [start, end) */
	uint64_t rank;	     /* where two overlap, the higher one wins */
	uint32_t value;	     /* anything but PMP_INTERVAL_NONE */
};

struct pmp_intervals {
	struct pmp_interval *items;
	size_t count, capacity;
};

struct pmp_interval_step {
	uint64_t start;
	uint32_t value; /* PMP_INTERVAL_NONE: a gap begins */
};

struct pmp_interval_map {
	struct pmp_interval_step *items;
	size_t count;
};

/* Collect a range; an empty one is ignored. 0 or PMP_ENOMEM. */
int pmp_intervals_add(struct pmp_intervals *ranges, const struct pmp_interval *range);
/* Leaves an empty collection. */
void pmp_intervals_free(struct pmp_intervals *ranges);
/*
 * Flatten into *steps, whose old contents are freed (untouched on failure).
 * Sorts the collection by start; empty ranges in it are ignored. 0 or PMP_ENOMEM.
 */
int pmp_intervals_flatten(struct pmp_intervals *ranges, struct pmp_interval_map *steps);

/*
 * Overlay older steps with newer ones; the older ones remain where the newer ones have a
 * gap. Takes time in proportion to both. 0 or PMP_ENOMEM, and then *older is unchanged.
 */
int pmp_interval_map_overlay(struct pmp_interval_map *older,
			     const struct pmp_interval_map *newer);
/* The value at an address, or PMP_INTERVAL_NONE. */
uint32_t pmp_interval_map_find(const struct pmp_interval_map *steps, uint64_t address);
void pmp_interval_map_free(struct pmp_interval_map *steps);

#endif
