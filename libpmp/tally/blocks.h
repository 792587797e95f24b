/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The blocks that were chosen and live: found by process and pointer. 40 bytes each. */
#ifndef PMP_TALLY_BLOCKS_H
#define PMP_TALLY_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pmp_block {
	uint64_t pointer, size;
	uint64_t time; /* CLOCK_MONOTONIC, of its allocation */
	double weight; /* blocks that it stands for; 0: there is none in this slot */
	uint32_t process, entry;
};

struct pmp_blocks {
	struct pmp_block *slots; /* a power of two of them */
	unsigned bits;
	uint64_t key; /* of their hash; set when there are slots first */
	size_t count;
	size_t limit;			 /* of blocks; 0: none */
	uint64_t evicted, evicted_bytes; /* that were dropped above the limit */
};

/* Zero it first, and set limit. */
void pmp_blocks_free(struct pmp_blocks *blocks);
/* Put one in, in place of one with the same process and pointer. When there are as many as
 * the limit allows half of them are dropped first: the smallest, of these the oldest. 0 or
 * PMP_ENOMEM. */
int pmp_blocks_put(struct pmp_blocks *blocks, const struct pmp_block *block);
/* Take one out. false: it is not there. */
bool pmp_blocks_take(struct pmp_blocks *blocks, uint32_t process, uint64_t pointer,
		     struct pmp_block *block);
/* Take out all of a process. */
void pmp_blocks_drop(struct pmp_blocks *blocks, uint32_t process);
/* The bytes that they take. */
uint64_t pmp_blocks_size(const struct pmp_blocks *blocks);
/* The next one at or after *slot, which moves on; NULL: no more. To be used as
 * for (size_t slot = 0; (block = pmp_blocks_next(blocks, &slot));) */
struct pmp_block *pmp_blocks_next(const struct pmp_blocks *blocks, size_t *slot);

#endif
