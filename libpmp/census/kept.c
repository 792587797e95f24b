/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See kept.h. */
#include "census/kept.h"

#include <string.h>

#include "base/fault.h"
#include "census/layout.h"
#include "libpmp.h"

#define FAST_MAX 262144 /* at most, blocks of a fastbin to walk */
#define LIST_MAX 65536	/* the same for a list of a cache */
#define CACHE_WORDS 96	/* at least those of the largest kind of cache */
#define LISTS 64	/* of a cache, each for one size */
#define LISTS_MAX 76	/* including those for several sizes */
#define LINK_SHIFT 12	/* since 2.32 links are XORed with their shifted address */

/* The kinds of caches, identified by chunk size. */
static const struct cache_kind {
	uint64_t size;
	size_t first, lists; /* words: offset of the heads, and their number */
	size_t large;	     /* number of further lists, each for several sizes */
} cache_kinds[] = {
	{ 0x250, 8, LISTS, 0 },	  /* 2.26: one-byte counts */
	{ 0x290, 16, LISTS, 0 },  /* 2.30: two-byte counts */
	{ 0x300, 19, LISTS, 12 }, /* 2.42 */
};

static const struct cache_kind *kind_of(uint64_t size)
{
	for (size_t i = 0; i < sizeof(cache_kinds) / sizeof(*cache_kinds); i++)
		if (cache_kinds[i].size == size)
			return &cache_kinds[i];
	return NULL;
}

/* ---- fastbins -------------------------------------------------------------------------- */

static bool is_chunk(const struct pmp_arenas *arenas, uint64_t chunk, uint64_t words[3])
{
	return pmp_areas_may_be_chunk(arenas->areas, chunk) &&
	       pmp_census_peek(arenas->memory, chunk, words, 3 * sizeof(*words));
}

static bool is_free_chunk(const struct pmp_arenas *arenas, uint64_t chunk, uint64_t size,
			  uint64_t words[3])
{
	return is_chunk(arenas, chunk, words) && pmp_chunk_size(words[1]) == size;
}

/* The chunk that a link at this address leads to; 0: none. */
static uint64_t follow(const struct pmp_arenas *arenas, uint64_t link, uint64_t at,
		       uint64_t size)
{
	const uint64_t hidden = link ^ at >> LINK_SHIFT;
	uint64_t words[3];

	if (!link || !hidden)
		return 0;
	if (is_free_chunk(arenas, link, size, words))
		return link;
	return is_free_chunk(arenas, hidden, size, words) ? hidden : 0;
}

static int take_fastbin(struct pmp_kept_blocks *kept, const struct pmp_arenas *arenas,
			uint64_t chunk, uint64_t size)
{
	uint64_t words[3];

	for (size_t i = 0; i < FAST_MAX && chunk; i++) {
		/* The list changes meanwhile, and may have become circular. */
		if (!pmp_arenas_spend(arenas, PMP_EFFORT_READ) ||
		    !is_free_chunk(arenas, chunk, size, words) ||
		    pmp_address_set_has(&kept->fast, chunk))
			return 0;
		if (pmp_address_set_add(&kept->fast, chunk))
			return PMP_ENOMEM;
		chunk = follow(arenas, words[2], chunk + PMP_CHUNK_HEAD, size);
	}
	return 0;
}

int pmp_kept_find_fast(struct pmp_kept_blocks *kept, const struct pmp_arenas *arenas)
{
	uint64_t bins[PMP_ARENA_FASTBINS];
	int code = 0;

	for (size_t i = 0; i < arenas->count && !code && !arenas->no_fastbins; i++) {
		if (!pmp_arena_read(arenas, &arenas->items[i], -PMP_ARENA_FASTBINS, bins,
				    PMP_ARENA_FASTBINS) ||
		    PMP_FAULT("ignore-fastbins"))
			continue;
		for (size_t k = 0; k < PMP_ARENA_FASTBINS && !code; k++)
			code = take_fastbin(kept, arenas, bins[k],
					    PMP_CHUNK_MIN + k * PMP_CHUNK_ALIGN);
	}
	return code;
}

/* ---- caches ------------------------------------------------------------------------------ */

bool pmp_kept_may_be_cache(const struct pmp_kept_blocks *kept,
			   const struct pmp_chunk *chunk)
{
	return kept->cache_size ? chunk->size == kept->cache_size
				: kind_of(chunk->size) != NULL;
}

/* Can this chunk be the first of that list? */
static bool is_head(const struct pmp_arenas *arenas, uint64_t chunk, size_t list)
{
	uint64_t words[3];

	if (!is_chunk(arenas, chunk, words))
		return false;
	if (list < LISTS)
		return pmp_chunk_size(words[1]) == PMP_CHUNK_MIN + list * PMP_CHUNK_ALIGN;
	return pmp_chunk_size(words[1]) >= PMP_CHUNK_MIN + LISTS * PMP_CHUNK_ALIGN;
}

/* Read the heads of its lists, checking that each is a block of the list's size. Returns
 * their number, or 0: none, or not a cache. */
static size_t read_heads(const struct pmp_arenas *arenas, const struct pmp_chunk *chunk,
			 uint64_t *heads)
{
	const struct cache_kind *kind = kind_of(chunk->size);
	uint64_t words[CACHE_WORDS];
	size_t count = 0;

	if (!kind ||
	    !pmp_census_peek(arenas->memory, chunk->at + PMP_CHUNK_HEAD, words,
			     (kind->first + kind->lists + kind->large) * sizeof(*words)))
		return 0;
	memset(heads, 0, LISTS_MAX * sizeof(*heads));
	memcpy(heads, words + kind->first, (kind->lists + kind->large) * sizeof(*heads));
	for (size_t i = 0; i < kind->lists + kind->large; i++) {
		if (!heads[i])
			continue;
		if (!is_head(arenas, heads[i] - PMP_CHUNK_HEAD, i))
			return 0;
		count++;
	}
	return count;
}

/* The most frequent key among the first blocks of all lists; 0: none. */
static uint64_t common_key(const struct pmp_arenas *arenas, const uint64_t *heads)
{
	uint64_t keys[LISTS_MAX], best = 0;
	size_t most = 0;

	for (size_t i = 0; i < LISTS_MAX; i++) {
		size_t same = 0;

		keys[i] = 0;
		if (heads[i] && !pmp_census_peek(arenas->memory, heads[i] + sizeof(*keys),
						 &keys[i], sizeof(*keys)))
			keys[i] = 0;
		for (size_t k = 0; k <= i; k++)
			same += keys[i] && keys[k] == keys[i];
		if (same <= most)
			continue;
		most = same;
		best = keys[i];
	}
	return best;
}

/* Walk the lists of a cache without keys. */
static int take_lists(struct pmp_kept_blocks *kept, const struct pmp_arenas *arenas,
		      const uint64_t *heads)
{
	uint64_t words[3];

	for (size_t i = 0; i < LISTS; i++) {
		const uint64_t size = PMP_CHUNK_MIN + i * PMP_CHUNK_ALIGN;
		uint64_t block = heads[i];

		for (size_t k = 0; k < LIST_MAX && block; k++) {
			const uint64_t chunk = block - PMP_CHUNK_HEAD;

			if (!pmp_arenas_spend(arenas, PMP_EFFORT_READ) ||
			    !is_free_chunk(arenas, chunk, size, words) ||
			    pmp_address_set_has(&kept->cached, chunk))
				break;
			if (pmp_address_set_add(&kept->cached, chunk))
				return PMP_ENOMEM;
			block = words[2];
		}
	}
	return 0;
}

int pmp_kept_take_cache(struct pmp_kept_blocks *kept, const struct pmp_arenas *arenas,
			const struct pmp_chunk *chunk)
{
	const uint64_t itself = chunk->at + PMP_CHUNK_HEAD;
	uint64_t heads[LISTS_MAX], key;

	if (PMP_FAULT("ignore-tcache") || !read_heads(arenas, chunk, heads))
		return 0;
	key = common_key(arenas, heads);
	if (kept->kind == PMP_CACHES_NONE) {
		/* The oldest kind has no keys: the second word has the program's data. */
		if (key == itself)
			kept->kind = PMP_CACHES_OWN;
		else if (chunk->size == cache_kinds[0].size)
			kept->kind = PMP_CACHES_LISTS;
		else if (key)
			kept->kind = PMP_CACHES_KEY;
		else
			return 0;
		kept->cache_size = chunk->size;
		kept->key = key;
	}
	switch (kept->kind) {
	case PMP_CACHES_OWN: return pmp_address_set_add(&kept->caches, itself);
	case PMP_CACHES_LISTS: return take_lists(kept, arenas, heads);
	default: return 0;
	}
}

bool pmp_kept_wants_caches(const struct pmp_kept_blocks *kept)
{
	return kept->kind == PMP_CACHES_OWN || kept->kind == PMP_CACHES_LISTS;
}

bool pmp_kept_is_cached(const struct pmp_kept_blocks *kept, const struct pmp_chunk *chunk)
{
	switch (kept->kind) {
	case PMP_CACHES_KEY: return chunk->second == kept->key;
	case PMP_CACHES_OWN: return pmp_address_set_has(&kept->caches, chunk->second);
	case PMP_CACHES_LISTS: return pmp_address_set_has(&kept->cached, chunk->at);
	default: return false;
	}
}

bool pmp_kept_is_fast(const struct pmp_kept_blocks *kept, const struct pmp_chunk *chunk)
{
	return chunk->size <=
		       PMP_CHUNK_MIN + (PMP_ARENA_FASTBINS - 1) * PMP_CHUNK_ALIGN &&
	       pmp_address_set_has(&kept->fast, chunk->at);
}

void pmp_kept_free(struct pmp_kept_blocks *kept)
{
	pmp_address_set_free(&kept->fast);
	pmp_address_set_free(&kept->cached);
	pmp_address_set_free(&kept->caches);
}
