/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See arenas.h. */
#include "census/arenas.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "census/layout.h"
#include "libpmp.h"

#define MODULE_MAX (UINT64_C(16) << 20) /* of a module's data to search */
#define ALL_MAX (UINT64_C(128) << 20)	/* of all modules */
#define EMPTY_MIN 4			/* pairs that point to themselves, at least */
#define HEAP_INFO_MAX UINT64_C(256)	/* bytes before the state of an arena */
#define STATE_SLACK 16			/* words in which to look for .top */
#define SMALLEST_INFO UINT64_C(32)
#define USER_END (UINT64_C(1) << 56)
#define GROWTH_MAX (UINT64_C(1) << 40) /* of [heap] since the mappings were read */
#define TOP_TRIES 10
#define ARENAS_MAX 8192 /* glibc creates 8 for each processor */
#define FIRST_WORDS 3	/* of a thread's heap */
#define SLICE (1024 * PMP_EFFORT_READ)

bool pmp_arenas_spend(const struct pmp_arenas *arenas, uint64_t steps)
{
	struct pmp_census_effort *effort = arenas->effort;
	const uint64_t slice = effort->left / SLICE;
	const bool some_left = pmp_effort_spend(effort, steps);

	if (effort->left / SLICE != slice)
		arenas->memory->rest(arenas->memory->arg);
	return some_left;
}

bool pmp_arena_read(const struct pmp_arenas *arenas, const struct pmp_malloc_arena *arena,
		    long offset, uint64_t *words, size_t count)
{
	return pmp_census_peek(arenas->memory,
			       arena->at + (uint64_t)(offset * (long)sizeof(*words)),
			       words, count * sizeof(*words));
}

/* ---- what an arena looks like ------------------------------------------------------ */

/* Not checked against mappings: a heap may have grown since they were read. */
static bool may_be_chunk(uint64_t address)
{
	return address && address % PMP_CHUNK_ALIGN == 0 && address < USER_END;
}

static bool is_pair(const uint64_t *pair, uint64_t itself, size_t *empty)
{
	if (pair[0] == itself && pair[1] == itself) {
		++*empty;
		return true;
	}
	return may_be_chunk(pair[0]) && may_be_chunk(pair[1]);
}

/* Are these the words of an arena from .top on, which is at this address? glibc treats the
 * head of a list as a chunk whose pointers are the pair. An unused arena's top is the
 * first head. */
static bool is_arena(const uint64_t *words, uint64_t at)
{
	size_t empty = 0;

	if (words[0] != at && !may_be_chunk(words[0]))
		return false;
	for (size_t i = PMP_ARENA_PAIRS; i-- > 0;) {
		const uint64_t *pair = &words[PMP_ARENA_BINS + 2 * i];
		const uint64_t itself = at + 2 * i * sizeof(*words);

		if (!is_pair(pair, itself, &empty))
			return false;
	}
	return empty >= EMPTY_MIN;
}

/* before: words of its state before .top; 0: unknown. */
static int add_arena(struct pmp_arenas *arenas, uint64_t at, bool main, size_t before)
{
	if (PMP_RESERVE(&arenas->items, &arenas->capacity, arenas->count + 1))
		return PMP_ENOMEM;
	arenas->items[arenas->count++] =
		(struct pmp_malloc_arena){ .at = at, .main = main };
	if (before)
		arenas->no_fastbins = before < PMP_ARENA_FASTBINS;
	return 0;
}

/* Read the part of an area that is in memory; the rest is zero. 0 or PMP_ENOMEM. */
static int read_area(struct pmp_arenas *arenas, uint64_t start, size_t length)
{
	const struct pmp_census_memory *memory = arenas->memory;
	const size_t count = length / sizeof(*arenas->words);

	if (PMP_RESERVE(&arenas->words, &arenas->word_capacity, count + 1))
		return PMP_ENOMEM;
	memset(arenas->words, 0, length);
	for (size_t at = 0; at < length; at += PMP_CENSUS_PAGE) {
		size_t some =
			length - at < PMP_CENSUS_PAGE ? length - at : PMP_CENSUS_PAGE;

		pmp_census_peek(memory, start + at, (char *)arenas->words + at, some);
	}
	return 0;
}

/* ---- the main arena: in the data of the C library, or of a static program ------------------ */

static bool is_library(const struct pmp_module *module)
{
	const char *base = strrchr(module->path, '/');

	base = base ? base + 1 : module->path;
	return strncmp(base, "libc.so", 7) == 0 || strncmp(base, "libc-2", 6) == 0;
}

/* 1: found; 0: not found; or PMP_ENOMEM. */
static int search_area(struct pmp_arenas *arenas, uint64_t start, size_t length)
{
	const size_t count = length / sizeof(*arenas->words);

	arenas->memory->rest(arenas->memory->arg);
	if (read_area(arenas, start, length))
		return PMP_ENOMEM;
	for (size_t i = PMP_ARENA_BEFORE; i + PMP_ARENA_WORDS <= count; i++) {
		const uint64_t at = start + i * sizeof(*arenas->words);

		if (!is_arena(arenas->words + i, at))
			continue;
		return add_arena(arenas, at, true, 0) ? PMP_ENOMEM : 1;
	}
	return 0;
}

/* How much to search of the writable data of a module, together with the zeros after
 * it. */
static size_t data_length(const struct pmp_maps *maps, size_t i)
{
	const uint64_t start = maps->regions[i].start;
	uint64_t end = maps->regions[i].end;

	while (++i < maps->region_count && maps->regions[i].start == end &&
	       maps->regions[i].module->kind == PMP_MODULE_ANON &&
	       maps->regions[i].prot & PMP_PROT_WRITE && end - start < MODULE_MAX)
		end = maps->regions[i].end;
	return (size_t)(end - start < MODULE_MAX ? end - start : MODULE_MAX);
}

static int find_main(struct pmp_arenas *arenas, const struct pmp_maps *maps, bool library)
{
	uint64_t searched = 0;
	int code = 0;

	for (size_t i = 0; i < maps->region_count && !code && searched < ALL_MAX; i++) {
		const struct pmp_region *region = &maps->regions[i];
		size_t length;

		if (region->module->kind != PMP_MODULE_FILE ||
		    !(region->prot & PMP_PROT_WRITE) || region->prot & PMP_PROT_SHARED ||
		    is_library(region->module) != library)
			continue;
		length = data_length(maps, i);
		code = search_area(arenas, region->start, length);
		searched += length;
	}
	return code;
}

/* ---- heaps of threads ------------------------------------------------------------------ */

/* Checks the start of a heap: arena, previous heap, size. The heap may have grown since
 * the mappings were read. */
static bool is_heap(const struct pmp_arenas *arenas, uint64_t at,
		    uint64_t info[FIRST_WORDS])
{
	uint64_t offset;

	if (!pmp_census_peek(arenas->memory, at, info, FIRST_WORDS * sizeof(*info)))
		return false;
	offset = info[0] % PMP_THREAD_HEAP;
	if (offset < SMALLEST_INFO || offset > HEAP_INFO_MAX ||
	    info[0] % PMP_CHUNK_ALIGN ||
	    !pmp_area_find(&arenas->areas->anonymous, info[0]))
		return false;
	/* The first heap of an arena contains the state, and has no previous heap. */
	if (info[0] - offset == at ? info[1] != 0
				   : !info[1] || info[1] % PMP_THREAD_HEAP != 0)
		return false;
	return info[2] && info[2] % PMP_CENSUS_PAGE == 0 && info[2] <= PMP_THREAD_HEAP;
}

/* The index of the arena whose state begins there, added if new. SIZE_MAX: not an
 * arena. */
static size_t arena_of(struct pmp_arenas *arenas, uint64_t state)
{
	uint64_t words[STATE_SLACK + PMP_ARENA_WORDS];

	for (size_t i = 0; i < arenas->count; i++) {
		const uint64_t at = arenas->items[i].at;

		if (!arenas->items[i].main && at > state &&
		    at - state < STATE_SLACK * sizeof(*words))
			return i;
	}
	if (arenas->count >= ARENAS_MAX ||
	    !pmp_census_peek(arenas->memory, state, words, sizeof(words)))
		return SIZE_MAX;
	for (size_t i = PMP_ARENA_BEFORE; i < STATE_SLACK; i++) {
		const uint64_t at = state + i * sizeof(*words);

		if (is_arena(words + i, at))
			return add_arena(arenas, at, false, i) ? SIZE_MAX
							       : arenas->count - 1;
	}
	return SIZE_MAX;
}

static int add_region(struct pmp_arenas *arenas, const struct pmp_chunk_region *region)
{
	if (PMP_RESERVE(&arenas->regions, &arenas->region_capacity,
			arenas->region_count + 1))
		return PMP_ENOMEM;
	arenas->regions[arenas->region_count++] = *region;
	return 0;
}

static int add_rest(struct pmp_arenas *arenas, uint64_t start, uint64_t end)
{
	struct pmp_area_list *rest = &arenas->rest;

	if (start >= end)
		return 0;
	if (PMP_RESERVE(&rest->items, &rest->capacity, rest->count + 1))
		return PMP_ENOMEM;
	rest->items[rest->count++] = (struct pmp_area){ start, end, false };
	return 0;
}

/* If there is a heap at this multiple of their size, add it and set *end to its end. 0 or
 * PMP_ENOMEM. */
static int take_heap(struct pmp_arenas *arenas, uint64_t at, uint64_t *end)
{
	struct pmp_chunk_region region = { .heap = true, .at = at };
	uint64_t info[FIRST_WORDS];

	*end = at;
	if (!is_heap(arenas, at, info))
		return 0;
	region.arena = arena_of(arenas, info[0]);
	if (region.arena == SIZE_MAX)
		return 0;
	/* Chunks follow the state; in other heaps, the header. */
	region.start = at + info[0] % PMP_THREAD_HEAP;
	if (info[0] - at < PMP_THREAD_HEAP)
		region.start = arenas->items[region.arena].at +
			       PMP_ARENA_NEXT * sizeof(uint64_t);
	region.end = *end = at + info[2];
	return add_region(arenas, &region);
}

/* The kernel may have merged heaps with each other and with adjacent mappings. */
static int take_heaps(struct pmp_arenas *arenas, const struct pmp_area *area)
{
	const uint64_t size = PMP_THREAD_HEAP;
	uint64_t from = area->start, end;
	uint64_t at = from + (size - from % size) % size;
	int code = 0;

	for (; at < area->end && !code && pmp_arenas_spend(arenas, PMP_EFFORT_READ);
	     at += size) {
		code = take_heap(arenas, at, &end);
		if (code || end == at)
			continue;
		code = add_rest(arenas, from, at);
		from = end;
	}
	return code ? code : add_rest(arenas, from, area->end);
}

/* If brk() fails, the main arena continues in mappings, the last of which has its top. */
static int take_main_mapping(struct pmp_arenas *arenas)
{
	uint64_t top;

	if (!arenas->count || !pmp_arena_read(arenas, &arenas->items[0], 0, &top, 1))
		return 0;
	for (size_t i = 0; i < arenas->rest.count; i++) {
		struct pmp_area *area = &arenas->rest.items[i];
		const struct pmp_chunk_region region = { .start = area->start,
							 .end = area->end };

		if (top < area->start || top >= area->end)
			continue;
		area->start = area->end;
		return add_region(arenas, &region);
	}
	return 0;
}

int pmp_arenas_find(struct pmp_arenas *arenas, const struct pmp_maps *maps)
{
	const struct pmp_area_list *areas = &arenas->areas->anonymous;
	int code = find_main(arenas, maps, true);
	struct pmp_chunk_region brk = { 0 };

	if (code == 0)
		code = find_main(arenas, maps, false);
	if (code <= 0)
		return code;
	code = 0;
	for (size_t i = 0; i < areas->count && !code; i++) {
		if (!areas->items[i].brk) {
			code = take_heaps(arenas, &areas->items[i]);
			continue;
		}
		brk.start = areas->items[i].start;
		brk.end = areas->items[i].end;
		code = add_region(arenas, &brk);
	}
	return code ? code : take_main_mapping(arenas);
}

/* Allocations cut pieces off the top all the time: the old top may be a block now. */
static bool read_top(const struct pmp_arenas *arenas,
		     const struct pmp_malloc_arena *arena, uint64_t *top, uint64_t *size)
{
	uint64_t head[2], again;

	for (int i = 0; i < TOP_TRIES; i++) {
		if (!pmp_arena_read(arenas, arena, 0, top, 1) || *top % PMP_CHUNK_ALIGN ||
		    !pmp_census_peek(arenas->memory, *top, head, sizeof(head)) ||
		    !pmp_arena_read(arenas, arena, 0, &again, 1))
			return false;
		*size = pmp_chunk_size(head[1]);
		if (again == *top && (*top + *size) % PMP_CENSUS_PAGE == 0)
			return true;
	}
	return false;
}

/* Where the top of the region's arena ends, if it is in the region. */
static bool find_top_end(const struct pmp_arenas *arenas,
			 const struct pmp_chunk_region *region, uint64_t *end)
{
	const uint64_t most =
		region->heap ? region->at + PMP_THREAD_HEAP : region->end + GROWTH_MAX;
	uint64_t top, size;

	if (!read_top(arenas, &arenas->items[region->arena], &top, &size) ||
	    top < region->start || top >= most || size > most - top)
		return false;
	*end = top + size;
	return true;
}

uint64_t pmp_arenas_end(const struct pmp_arenas *arenas, size_t i)
{
	const struct pmp_chunk_region *region = &arenas->regions[i];
	uint64_t end, words[FIRST_WORDS];

	if (find_top_end(arenas, region, &end))
		return end;
	if (region->heap &&
	    pmp_census_peek(arenas->memory, region->at, words, sizeof(words)) &&
	    words[2] && words[2] % PMP_CENSUS_PAGE == 0 && words[2] <= PMP_THREAD_HEAP)
		return region->at + words[2];
	return region->end;
}

void pmp_arenas_free(struct pmp_arenas *arenas)
{
	free(arenas->items);
	free(arenas->regions);
	free(arenas->rest.items);
	free(arenas->words);
}
