/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sampled blocks that are still live, by process and pointer. 40 bytes each. */
#ifndef PMP_TALLY_BLOCKS_H
#define PMP_TALLY_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pmp_block {
	uint64_t pointer, size;
	uint64_t time; /* of its allocation, CLOCK_MONOTONIC */
	double weight; /* number of blocks that it stands for; 0: the slot is free */
	uint32_t process, entry;
};

struct pmp_blocks {
	struct pmp_block *slots; /* 1 << bits of them, or NULL */
	unsigned bits;
	uint64_t key; /* of the hash; set when the first block is put in */
	size_t count;
	size_t limit;	  /* number of blocks; 0: no limit */
	uint32_t *counts; /* of each process */
	size_t processes;
	uint64_t evicted, evicted_bytes; /* dropped because of the limit */
};

/* Zero it first, and set limit. */
void pmp_blocks_free(struct pmp_blocks *blocks);
/* Add a block; it replaces one with the same process and pointer. If the table is at its
 * limit, first drop half of the blocks: those that stand for the fewest bytes, older ones
 * first. 0 or PMP_ENOMEM. */
int pmp_blocks_put(struct pmp_blocks *blocks, const struct pmp_block *block);
/* Remove a block and return it in *block. false: it is not there. */
bool pmp_blocks_take(struct pmp_blocks *blocks, uint32_t process, uint64_t pointer,
		     struct pmp_block *block);
/* Remove all blocks of a process; quick if it has none. */
void pmp_blocks_drop(struct pmp_blocks *blocks, uint32_t process);
/* Memory used, in bytes. */
uint64_t pmp_blocks_size(const struct pmp_blocks *blocks);
/* The next block at or after *slot, which is advanced past it; NULL: no more. Use:
 * for (size_t slot = 0; (block = pmp_blocks_next(blocks, &slot));) */
struct pmp_block *pmp_blocks_next(const struct pmp_blocks *blocks, size_t *slot);

#endif
