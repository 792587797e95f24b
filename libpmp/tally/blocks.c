/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Open addressing: a block is in the slot of its hash or in one of the next slots, with no
 * free slot in between. So when a block is removed, those after it move up.
 */
#include "tally/blocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "libpmp.h"

#define BITS_MIN 10u

static size_t slot_count(const struct pmp_blocks *blocks)
{
	return blocks->slots ? (size_t)1 << blocks->bits : 0;
}

/* The key prevents a program from reporting pointers that all collide. */
static size_t first_slot(const struct pmp_blocks *blocks, const struct pmp_block *block)
{
	const uint64_t keyed = block->pointer ^ pmp_hash(block->process) ^ blocks->key;
	const uint64_t mixed = pmp_hash(keyed ^ keyed >> 32) * blocks->key;

	return (size_t)pmp_hash_bits(mixed ^ mixed >> 32, blocks->bits);
}

static size_t after(const struct pmp_blocks *blocks, size_t slot)
{
	return (slot + 1) & (slot_count(blocks) - 1);
}

void pmp_blocks_free(struct pmp_blocks *blocks)
{
	free(blocks->slots);
	free(blocks->counts);
	*blocks = (struct pmp_blocks){ 0 };
}

uint64_t pmp_blocks_size(const struct pmp_blocks *blocks)
{
	return slot_count(blocks) * sizeof(*blocks->slots) +
	       blocks->processes * sizeof(*blocks->counts);
}

struct pmp_block *pmp_blocks_next(const struct pmp_blocks *blocks, size_t *slot)
{
	while (*slot < slot_count(blocks)) {
		struct pmp_block *block = &blocks->slots[(*slot)++];

		if (block->weight > 0)
			return block;
	}
	return NULL;
}

/* The slot of a block, or the free one where it belongs. There must be slots. */
static size_t find(const struct pmp_blocks *blocks, const struct pmp_block *wanted)
{
	size_t slot = first_slot(blocks, wanted);

	for (;; slot = after(blocks, slot)) {
		const struct pmp_block *block = &blocks->slots[slot];

		if (!(block->weight > 0) || (block->pointer == wanted->pointer &&
					     block->process == wanted->process))
			return slot;
	}
}

/* Rebuild the table with 1 << bits slots. 0 or PMP_ENOMEM. */
static int resize(struct pmp_blocks *blocks, unsigned bits)
{
	struct pmp_blocks new = *blocks;
	struct pmp_block *block;

	new.bits = bits;
	new.slots = calloc((size_t)1 << bits, sizeof(*new.slots));
	if (!new.slots)
		return PMP_ENOMEM;
	for (size_t slot = 0; (block = pmp_blocks_next(blocks, &slot));)
		new.slots[find(&new, block)] = *block;
	free(blocks->slots);
	*blocks = new;
	return 0;
}

/* Free a slot. Returns true if another block has moved into it. */
static bool empty(struct pmp_blocks *blocks, size_t slot)
{
	const size_t mask = slot_count(blocks) - 1, freed = slot;
	size_t hole = slot;

	blocks->count--;
	blocks->counts[blocks->slots[slot].process]--;
	for (slot = after(blocks, slot); blocks->slots[slot].weight > 0;
	     slot = after(blocks, slot)) {
		const size_t first = first_slot(blocks, &blocks->slots[slot]);

		/* A block must not move to before its first slot. */
		if (((slot - first) & mask) < ((slot - hole) & mask))
			continue;
		blocks->slots[hole] = blocks->slots[slot];
		hole = slot;
	}
	blocks->slots[hole].weight = 0;
	return hole != freed;
}

static int compare(const void *a, const void *b)
{
	const struct pmp_block *one = a, *other = b;
	const double its = one->weight * (double)one->size,
		     others = other->weight * (double)other->size;

	if (its < others || its > others)
		return its < others ? -1 : 1;
	if (one->time != other->time)
		return one->time < other->time ? -1 : 1;
	return one->pointer < other->pointer ? -1 : one->pointer > other->pointer;
}

/* Drop half of the blocks. 0 or PMP_ENOMEM. */
static int evict(struct pmp_blocks *blocks)
{
	struct pmp_block *all = calloc(blocks->count + 1, sizeof(*all)), *block, gone;
	const size_t half = blocks->count / 2;
	size_t n = 0;

	if (!all)
		return PMP_ENOMEM;
	for (size_t slot = 0; (block = pmp_blocks_next(blocks, &slot));)
		all[n++] = *block;
	qsort(all, n, sizeof(*all), compare);
	for (size_t i = 0; i < half; i++) {
		pmp_blocks_take(blocks, all[i].process, all[i].pointer, &gone);
		blocks->evicted++;
		blocks->evicted_bytes += (uint64_t)(gone.weight * (double)gone.size);
	}
	free(all);
	return 0;
}

/* Make room for the count of a process. 0 or PMP_ENOMEM. */
static int add_count(struct pmp_blocks *blocks, uint32_t process)
{
	const size_t had = blocks->processes, need = (size_t)process + 1;

	if (need <= had)
		return 0;
	if (PMP_RESERVE(&blocks->counts, &blocks->processes, need))
		return PMP_ENOMEM;
	memset(blocks->counts + had, 0,
	       (blocks->processes - had) * sizeof(*blocks->counts));
	return 0;
}

int pmp_blocks_put(struct pmp_blocks *blocks, const struct pmp_block *block)
{
	size_t slot;

	if (add_count(blocks, block->process))
		return PMP_ENOMEM;
	if (blocks->limit && blocks->count >= blocks->limit && evict(blocks))
		return PMP_ENOMEM;
	if (!blocks->key) {
		struct pmp_hash_key key;

		pmp_hash_key_make(&key);
		blocks->key = key.words[0] | 1;
	}
	if (!blocks->slots || blocks->count >= slot_count(blocks) / 4 * 3) {
		if (resize(blocks, blocks->slots ? blocks->bits + 1 : BITS_MIN))
			return PMP_ENOMEM;
	}
	slot = find(blocks, block);
	if (!(blocks->slots[slot].weight > 0)) {
		blocks->count++;
		blocks->counts[block->process]++;
	}
	blocks->slots[slot] = *block;
	return 0;
}

bool pmp_blocks_take(struct pmp_blocks *blocks, uint32_t process, uint64_t pointer,
		     struct pmp_block *block)
{
	const struct pmp_block wanted = { .process = process, .pointer = pointer };
	size_t slot;

	if (!blocks->slots)
		return false;
	slot = find(blocks, &wanted);
	if (!(blocks->slots[slot].weight > 0))
		return false;
	*block = blocks->slots[slot];
	empty(blocks, slot);
	return true;
}

void pmp_blocks_drop(struct pmp_blocks *blocks, uint32_t process)
{
	if (process >= blocks->processes)
		return;
	for (size_t slot = 0; blocks->counts[process] && slot < slot_count(blocks);) {
		const struct pmp_block *block = &blocks->slots[slot];

		if (!(block->weight > 0) || block->process != process ||
		    !empty(blocks, slot))
			slot++;
	}
}
