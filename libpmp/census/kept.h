/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Freed blocks that look as if they were in use: those in the fastbins of arenas, and
 * those in thread caches (tcache).
 *
 * A cache is a block like any other: 64 counts, then 64 list heads, one for each size, and
 * since 2.42 twelve more for larger ones, each for blocks whose size has the same highest
 * bit. It is recognized by its size and by the sizes of what the heads point to. Since
 * glibc 2.29 the second word of a cached block is a key: the cache's address, or since
 * 2.34 a random number, the same in the whole process. It is erased when the block is
 * allocated again.
 */
#ifndef PMP_CENSUS_KEPT_H
#define PMP_CENSUS_KEPT_H

#include "census.h"
#include "census/address-set.h"
#include "census/arenas.h"
#include "census/walk.h"

struct pmp_kept_blocks {
	struct pmp_address_set fast;   /* chunks */
	struct pmp_address_set cached; /* for PMP_CACHES_LISTS: chunks */
	struct pmp_address_set caches; /* for PMP_CACHES_OWN: addresses of caches */
	enum pmp_census_caches kind;
	uint64_t key;	     /* for PMP_CACHES_KEY */
	uint64_t cache_size; /* of the chunk of a cache; 0: none found yet */
	bool missed;	     /* a non-empty cache was found late */
};

/* Walk the fastbins of all arenas. 0 or PMP_ENOMEM. */
int pmp_kept_find_fast(struct pmp_kept_blocks *kept, const struct pmp_arenas *arenas);
/* Could this chunk be a cache? */
bool pmp_kept_may_be_cache(const struct pmp_kept_blocks *kept,
			   const struct pmp_chunk *chunk);
/* Examine such a chunk, to learn the key and whatever else identifies cached blocks. 0 or
 * PMP_ENOMEM. */
int pmp_kept_take_cache(struct pmp_kept_blocks *kept, const struct pmp_arenas *arenas,
			const struct pmp_chunk *chunk);
/* Must all caches be found before blocks are counted? */
bool pmp_kept_wants_caches(const struct pmp_kept_blocks *kept);
bool pmp_kept_is_cached(const struct pmp_kept_blocks *kept,
			const struct pmp_chunk *chunk);
bool pmp_kept_is_fast(const struct pmp_kept_blocks *kept, const struct pmp_chunk *chunk);
void pmp_kept_free(struct pmp_kept_blocks *kept);

#endif
