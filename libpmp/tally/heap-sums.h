/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a stack has allocated, by the blocks of it that were chosen. A block of s bytes is
 * chosen with the chance p = 1 - exp(-s / rate), so one that was chosen stands for 1 / p
 * blocks and s / p bytes. That is an estimate; the square of its standard error is the sum
 * of s * s * (1 - p) / (p * p). Where all are chosen p is 1, and the error 0.
 */
#ifndef PMP_TALLY_HEAP_SUMS_H
#define PMP_TALLY_HEAP_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Blocks are counted in parts, so that subtracting what was added leaves nothing. */
#define PMP_BLOCK_PARTS UINT64_C(4096)

/* Ages of blocks: under 1 s, 10 s, 1 min, 10 min, 1 h, and more. */
#define PMP_AGES 6

struct pmp_age_sum {
	uint64_t parts, bytes; /* parts: of blocks */
	uint64_t oldest;       /* age, ns */
	double variance;       /* of bytes */
};

/* What had been allocated, and lived, at an earlier moment. */
struct pmp_heap_counts {
	uint64_t alloc_parts, alloc_bytes;
	uint64_t live_parts, live_bytes;
	uint64_t growths, growth_bytes;
};

struct pmp_heap_sums {
	uint64_t alloc_parts, alloc_bytes;
	uint64_t live_parts, live_bytes;
	uint64_t alloc_found, live_found;     /* blocks that were chosen */
	uint64_t growths, growth_bytes;	      /* calls that took memory from the kernel */
	uint64_t failures, largest_failure;   /* calls that failed; bytes asked for */
	uint64_t survived;		      /* bytes a second, see pmp_heap_sum() */
	uint64_t oldest;		      /* age of the oldest that lives, ns */
	double alloc_variance, live_variance; /* squares of standard errors of bytes */
	struct pmp_age_sum ages[PMP_AGES];    /* of what lives */
	struct pmp_heap_counts then;	      /* 0, or what a change is counted from */
};

/* The values of a stack that may be counted: as the format of pprof names them. */
enum pmp_heap_value {
	PMP_HEAP_ALLOC_OBJECTS,
	PMP_HEAP_ALLOC_SPACE,
	PMP_HEAP_INUSE_OBJECTS,
	PMP_HEAP_INUSE_SPACE,
	PMP_HEAP_VALUES
};

/* The chance of a block to be chosen. size 0 counts as 1, rate 0: all are. */
double pmp_heap_chance(uint64_t size, uint64_t rate);
/* The square of the standard error of its bytes. */
double pmp_heap_variance(uint64_t size, double weight);
double pmp_square_root(double square);
/* A number of blocks of so many parts. */
uint64_t pmp_blocks_of(uint64_t parts);
/* By how much a sum is more, or less, than it was; likewise in blocks. */
int64_t pmp_heap_change(uint64_t now, uint64_t then);
int64_t pmp_blocks_change(uint64_t now, uint64_t then);
/* Its counts now, and those of two stacks together. */
struct pmp_heap_counts pmp_heap_counts_of(const struct pmp_heap_sums *sums);
void pmp_heap_counts_add(struct pmp_heap_counts *counts,
			 const struct pmp_heap_counts *more);
/* A chosen block: add it to what was allocated; to what lives, at that age. weight: the
 * blocks that it stands for. */
void pmp_heap_sums_allocated(struct pmp_heap_sums *sums, uint64_t size, double weight);
void pmp_heap_sums_lives(struct pmp_heap_sums *sums, uint64_t size, double weight,
			 uint64_t age);
/* A call that failed, for so many bytes. */
void pmp_heap_sums_failed(struct pmp_heap_sums *sums, uint64_t size);
/* In which of the ages it is. */
size_t pmp_heap_age(uint64_t age);
/* The age at which one of them starts, ns. */
uint64_t pmp_heap_age_start(size_t i);
/* Add those of another stack. */
void pmp_heap_sums_add(struct pmp_heap_sums *sums, const struct pmp_heap_sums *more);
/* Forget what lives. */
void pmp_heap_sums_clear_live(struct pmp_heap_sums *sums);
/* One of its values, in blocks or bytes; of a change 0 if it has become less. */
uint64_t pmp_heap_sums_value(const struct pmp_heap_sums *sums, enum pmp_heap_value value);
/* "inuse_space" and so on, and its unit; NULL: there is none. false: not a name of one. */
const char *pmp_heap_value_name(enum pmp_heap_value value);
const char *pmp_heap_value_unit(enum pmp_heap_value value);
bool pmp_heap_value_find(const char *name, enum pmp_heap_value *value);

#endif
