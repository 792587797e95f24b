/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Distances by pc: a direct-mapped table. */
#include "capture/fp-cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/hash.h"

#define SLOTS_LOG 12
#define SLOTS (1u << SLOTS_LOG)

struct fp_slot {
	uint64_t pc;
	uint64_t distance;
	enum pmp_fp_known state;
};

struct pmp_fp_cache {
	struct fp_slot slots[SLOTS];
};

struct pmp_fp_cache *pmp_fp_cache_new(void)
{
	return calloc(1, sizeof(struct pmp_fp_cache));
}

void pmp_fp_cache_free(struct pmp_fp_cache *cache)
{
	free(cache);
}

void pmp_fp_cache_flush(struct pmp_fp_cache *cache)
{
	memset(cache->slots, 0, sizeof(cache->slots));
}

static size_t slot_of(uint64_t pc)
{
	return pmp_hash_bits(pc, SLOTS_LOG);
}

enum pmp_fp_known pmp_fp_cache_get(const struct pmp_fp_cache *cache, uint64_t pc,
				   uint64_t *distance)
{
	const struct fp_slot *slot = &cache->slots[slot_of(pc)];

	if (slot->pc != pc)
		return PMP_FP_UNKNOWN;
	*distance = slot->distance;
	return slot->state;
}

void pmp_fp_cache_put(struct pmp_fp_cache *cache, uint64_t pc, uint64_t distance)
{
	struct fp_slot *slot = &cache->slots[slot_of(pc)];

	if (slot->pc == pc && slot->state == PMP_FP_DISTANCE) {
		if (slot->distance != distance && !PMP_FAULT("learn-anything"))
			slot->state = PMP_FP_NEVER;
		return;
	}
	/* A forbidden pc keeps its slot, so that it is not learned again. */
	if (slot->state == PMP_FP_NEVER)
		return;
	*slot = (struct fp_slot){ pc, distance, PMP_FP_DISTANCE };
}

void pmp_fp_cache_forbid(struct pmp_fp_cache *cache, uint64_t pc)
{
	if (!PMP_FAULT("learn-anything"))
		cache->slots[slot_of(pc)] = (struct fp_slot){ pc, 0, PMP_FP_NEVER };
}
