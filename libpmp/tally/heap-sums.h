/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a stack has allocated, estimated from its sampled blocks. A block of s bytes is
 * sampled with probability p = 1 - exp(-s / rate), so a sampled one stands for 1 / p blocks
 * and s / p bytes. The variance of this estimate is the sum of s * s * (1 - p) / (p * p).
 * If all blocks are sampled, p is 1 and the error 0.
 */
#ifndef PMP_TALLY_HEAP_SUMS_H
#define PMP_TALLY_HEAP_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers of blocks are estimates, kept in fixed point: in parts of a block. Unlike with
 * floating point, subtracting what was added leaves exactly 0. */
#define PMP_BLOCK_PARTS UINT64_C(4096)

/* Ages of blocks: under 1 s, 10 s, 1 min, 10 min, 1 h, and more. */
#define PMP_AGES 6

struct pmp_age_sum {
	uint64_t parts, bytes; /* parts: of blocks */
	uint64_t oldest;       /* age, ns */
	double variance;       /* of bytes */
};

/* What had been allocated, and what was live, at an earlier moment. */
struct pmp_heap_counts {
	uint64_t alloc_parts, alloc_bytes;
	uint64_t live_parts, live_bytes;
	uint64_t growths, growth_bytes;
};

struct pmp_heap_sums {
	uint64_t alloc_parts, alloc_bytes;
	uint64_t live_parts, live_bytes;
	uint64_t alloc_found, live_found;     /* sampled blocks */
	uint64_t growths, growth_bytes;	      /* calls that took memory from the kernel */
	uint64_t failures, largest_failure;   /* calls that failed; bytes asked for */
	uint64_t survived;		      /* bytes per second, see pmp_heap_sum() */
	uint64_t oldest;		      /* age of the oldest live block, ns */
	double alloc_variance, live_variance; /* of the estimates of bytes */
	struct pmp_age_sum ages[PMP_AGES];    /* of live blocks */
	struct pmp_heap_counts then;	      /* what changes are counted from, or 0 */
};

/* The values of a stack that can be counted, with pprof's names for them. */
enum pmp_heap_value {
	PMP_HEAP_ALLOC_OBJECTS,
	PMP_HEAP_ALLOC_SPACE,
	PMP_HEAP_INUSE_OBJECTS,
	PMP_HEAP_INUSE_SPACE,
	PMP_HEAP_VALUES
};

/* The probability that a block is sampled. size 0 counts as 1; rate 0: all are sampled. */
double pmp_heap_chance(uint64_t size, uint64_t rate);
/* The variance of the estimate of bytes that a sampled block adds. */
double pmp_heap_variance(uint64_t size, double weight);
double pmp_square_root(double square);
/* Convert parts to a number of blocks. */
uint64_t pmp_blocks_of(uint64_t parts);
/* now - then, without overflow. The second one takes parts and returns blocks. */
int64_t pmp_heap_change(uint64_t now, uint64_t then);
int64_t pmp_blocks_change(uint64_t now, uint64_t then);
/* The current counts of a stack; add the counts of another one. */
struct pmp_heap_counts pmp_heap_counts_of(const struct pmp_heap_sums *sums);
void pmp_heap_counts_add(struct pmp_heap_counts *counts,
			 const struct pmp_heap_counts *more);
/* Add a sampled block to what was allocated, or to what is live at that age. weight: the
 * number of blocks that it stands for. */
void pmp_heap_sums_allocated(struct pmp_heap_sums *sums, uint64_t size, double weight);
void pmp_heap_sums_lives(struct pmp_heap_sums *sums, uint64_t size, double weight,
			 uint64_t age);
/* Add a call that failed; size: the bytes asked for. */
void pmp_heap_sums_failed(struct pmp_heap_sums *sums, uint64_t size);
/* The index in ages[] for an age in ns. */
size_t pmp_heap_age(uint64_t age);
/* The age in ns at which ages[i] starts. */
uint64_t pmp_heap_age_start(size_t i);
/* Add the sums of another stack. */
void pmp_heap_sums_add(struct pmp_heap_sums *sums, const struct pmp_heap_sums *more);
/* Clear what is live. */
void pmp_heap_sums_clear_live(struct pmp_heap_sums *sums);
/* One of the values, in blocks or bytes; of a change, 0 if the value has decreased. */
uint64_t pmp_heap_sums_value(const struct pmp_heap_sums *sums, enum pmp_heap_value value);
/* The name of a value ("inuse_space" and so on) and its unit; NULL: no such value. Find a
 * value by its name; false: there is none. */
const char *pmp_heap_value_name(enum pmp_heap_value value);
const char *pmp_heap_value_unit(enum pmp_heap_value value);
bool pmp_heap_value_find(const char *name, enum pmp_heap_value *value);

#endif
