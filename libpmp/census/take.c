/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See take.h. */
#include "census/take.h"

#include "census/areas.h"
#include "census/arenas.h"
#include "census/effort.h"
#include "census/kept.h"
#include "census/layout.h"
#include "census/mapped.h"
#include "census/rows.h"
#include "census/walk.h"
#include "libpmp.h"

#define TAKES 3 /* tries, because caches may be found late */

struct taking {
	const struct pmp_census_memory *memory;
	bool types;
	struct pmp_areas areas;
	struct pmp_arenas arenas;
	struct pmp_kept_blocks kept;
	struct pmp_census_effort effort;
	struct pmp_chunk_walk *walk;
	size_t region; /* being walked */
	struct pmp_chunk_totals walked;
	struct pmp_census_rows rows;
	struct pmp_census_totals totals;
	bool nomem;
};

static void add(struct pmp_census_part *part, uint64_t bytes)
{
	part->blocks++;
	part->bytes += bytes;
}

/* Is the word left by malloc in a block that has not been written since? */
static bool is_malloc_own(const struct taking *taking, uint64_t word)
{
	return word - taking->arenas.items[0].at < PMP_ARENA_WORDS * sizeof(word);
}

static bool count_live(struct taking *taking, uint64_t word, uint64_t bytes)
{
	if (!taking->types || !pmp_area_find(&taking->areas.data, word) ||
	    is_malloc_own(taking, word))
		word = 0;
	add(&taking->totals.live, bytes);
	taking->nomem |= pmp_census_rows_add(&taking->rows, word, bytes) != 0;
	return !taking->nomem;
}

static bool learn(struct taking *taking, const struct pmp_chunk *chunk)
{
	taking->nomem |= pmp_kept_take_cache(&taking->kept, &taking->arenas, chunk) != 0;
	return !taking->nomem;
}

static uint64_t region_end(void *arg)
{
	const struct taking *taking = arg;

	return pmp_arenas_end(&taking->arenas, taking->region);
}

/* ---- two passes --------------------------------------------------------------------------- */

static bool find_cache(void *arg, const struct pmp_chunk *chunk)
{
	struct taking *taking = arg;

	if (chunk->state != PMP_CHUNK_USED ||
	    !pmp_kept_may_be_cache(&taking->kept, chunk))
		return true;
	return learn(taking, chunk);
}

/* Has a cache shown how to recognize cached blocks, which have been counted as live so
 * far? */
static bool is_first_cache(struct taking *taking, const struct pmp_chunk *chunk)
{
	if (taking->kept.kind != PMP_CACHES_NONE ||
	    !pmp_kept_may_be_cache(&taking->kept, chunk))
		return false;
	return learn(taking, chunk) && taking->kept.kind != PMP_CACHES_NONE;
}

static bool count_chunk(void *arg, const struct pmp_chunk *chunk)
{
	struct taking *taking = arg;
	struct pmp_census_totals *totals = &taking->totals;
	const uint64_t bytes = chunk->size - PMP_CHUNK_OVERHEAD;

	if (chunk->state == PMP_CHUNK_TOP) {
		totals->top += bytes;
		return true;
	}
	if (chunk->state == PMP_CHUNK_FREE) {
		add(&totals->free, bytes);
		return true;
	}
	if (is_first_cache(taking, chunk))
		return false;
	if (pmp_kept_is_cached(&taking->kept, chunk)) {
		add(&totals->cached, bytes);
		return true;
	}
	if (pmp_kept_is_fast(&taking->kept, chunk)) {
		add(&totals->fast, bytes);
		return true;
	}
	return count_live(taking, chunk->first, bytes);
}

static bool count_mapped(void *arg, uint64_t word, uint64_t size, uint64_t bytes)
{
	struct taking *taking = arg;

	add(&taking->totals.mapped, bytes);
	taking->totals.size += size;
	return count_live(taking, word, bytes);
}

/* 0, PMP_ENOMEM, or 1: the pass was ended. */
static int walk_all(struct taking *taking,
		    bool (*found)(void *arg, const struct pmp_chunk *chunk))
{
	const struct pmp_chunk_calls calls = { found, region_end, taking };
	int code = 0;

	taking->walked = (struct pmp_chunk_totals){ 0 };
	pmp_effort_renew(&taking->effort, taking->memory->effort);
	for (size_t i = 0; i < taking->arenas.region_count && !code; i++) {
		const uint64_t start = taking->arenas.regions[i].start;
		uint64_t end;

		taking->region = i;
		end = region_end(taking);
		taking->totals.size += end > start ? end - start : 0;
		code = pmp_chunk_walk_region(taking->walk, start, end, &calls,
					     &taking->walked);
	}
	return taking->nomem ? PMP_ENOMEM : code;
}

/* Returns as walk_all(). */
static int count_all(struct taking *taking)
{
	const struct pmp_area_list *rest = &taking->arenas.rest;
	int code;

	taking->totals = (struct pmp_census_totals){ 0 };
	pmp_census_rows_clear(&taking->rows);
	pmp_effort_renew(&taking->effort, taking->memory->effort);
	if (pmp_kept_find_fast(&taking->kept, &taking->arenas))
		return PMP_ENOMEM;
	code = walk_all(taking, count_chunk);
	for (size_t i = 0; i < rest->count && !code; i++) {
		const struct pmp_mapped_calls calls = { count_mapped, taking };

		code = pmp_mapped_find(taking->memory, &taking->effort, &rest->items[i],
				       &calls, &taking->totals.other);
	}
	return taking->nomem ? PMP_ENOMEM : code;
}

/* Count everything again once it is known how to recognize cached blocks. */
static int count_again(struct taking *taking)
{
	int code = 1;

	for (int i = 0; i < TAKES && code == 1; i++) {
		if (pmp_kept_wants_caches(&taking->kept) &&
		    walk_all(taking, find_cache) < 0)
			return PMP_ENOMEM;
		code = count_all(taking);
	}
	return code;
}

/* ---- the result ---------------------------------------------------------------------------- */

static bool has_blocks(const struct pmp_census_totals *totals)
{
	return totals->live.blocks > totals->mapped.blocks || totals->free.blocks ||
	       totals->cached.blocks || totals->fast.blocks || totals->top;
}

static enum pmp_census_outcome describe(struct taking *taking, struct pmp_census **census)
{
	struct pmp_census_totals *totals = &taking->totals;

	totals->heaps = taking->arenas.region_count;
	totals->arenas = taking->arenas.count;
	totals->swapped = taking->walked.swapped;
	totals->unread = taking->walked.unread;
	totals->again = taking->walked.again;
	totals->caches = (uint32_t)taking->kept.kind;
	totals->typed = taking->types;
	if (!has_blocks(totals))
		return taking->arenas.count && !taking->arenas.region_count
			       ? PMP_CENSUS_UNUSED
			       : PMP_CENSUS_UNKNOWN;
	pmp_census_rows_pack(&taking->rows);
	*census = pmp_census_copy(totals, taking->rows.slots, taking->rows.count);
	return *census ? PMP_CENSUS_TAKEN : PMP_CENSUS_NOMEM;
}

static enum pmp_census_outcome take(struct taking *taking, const struct pmp_maps *maps,
				    struct pmp_census **census)
{
	pmp_effort_renew(&taking->effort, taking->memory->effort);
	if (!taking->walk || pmp_areas_make(&taking->areas, maps) ||
	    pmp_arenas_find(&taking->arenas, maps))
		return PMP_CENSUS_NOMEM;
	if (!taking->arenas.count)
		return taking->areas.anonymous.count ? PMP_CENSUS_UNKNOWN
						     : PMP_CENSUS_UNUSED;
	if (count_again(taking))
		return PMP_CENSUS_NOMEM;
	return describe(taking, census);
}

enum pmp_census_outcome pmp_census_take(const struct pmp_census_memory *memory,
					const struct pmp_maps *maps, bool types,
					struct pmp_census **census)
{
	struct taking taking = {
		.memory = memory,
		.types = types,
		.arenas.memory = memory,
		.arenas.effort = &taking.effort,
		.arenas.areas = &taking.areas,
		.walk = pmp_chunk_walk_new(memory, &taking.effort),
	};
	enum pmp_census_outcome outcome;

	*census = NULL;
	outcome = take(&taking, maps, census);
	pmp_areas_free(&taking.areas);
	pmp_arenas_free(&taking.arenas);
	pmp_kept_free(&taking.kept);
	pmp_chunk_walk_free(taking.walk);
	pmp_census_rows_free(&taking.rows);
	return outcome;
}
