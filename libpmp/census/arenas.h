/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The arenas of a process, and the regions that contain their chunks. An arena is
 * recognized by the heads of its lists of free chunks: pairs of pointers, most of which
 * point to themselves.
 */
#ifndef PMP_CENSUS_ARENAS_H
#define PMP_CENSUS_ARENAS_H

#include "census/areas.h"
#include "census/effort.h"
#include "census/memory.h"

struct pmp_malloc_arena {
	uint64_t at; /* address of .top in its state */
	bool main;
};

/* A region of chunks. */
struct pmp_chunk_region {
	uint64_t start, end;
	size_t arena; /* index */
	bool heap;    /* a thread's heap: its size is stored at its start */
	uint64_t at;  /* address of that heap */
};

struct pmp_arenas {
	const struct pmp_census_memory *memory;
	struct pmp_census_effort *effort;
	const struct pmp_areas *areas;
	struct pmp_malloc_arena *items;
	size_t count, capacity;
	bool no_fastbins; /* as arenas of threads show */
	struct pmp_chunk_region *regions;
	size_t region_count, region_capacity;
	struct pmp_area_list rest; /* anonymous memory that is in no region */
	uint64_t *words;	   /* of a module */
	size_t word_capacity;
};

/* Find all. The main arena may be missing: then arenas->count is 0, or the first one is
 * not a main one. 0 or PMP_ENOMEM; to be freed in any case. maps: to find the C
 * library. */
int pmp_arenas_find(struct pmp_arenas *arenas, const struct pmp_maps *maps);
void pmp_arenas_free(struct pmp_arenas *arenas);
/* The current end of a region: after the top of its arena, if that is in it. */
uint64_t pmp_arenas_end(const struct pmp_arenas *arenas, size_t region);
/* Spend effort, and rest between slices. False: none left. */
bool pmp_arenas_spend(const struct pmp_arenas *arenas, uint64_t steps);
/* The words at an arena's .top; offset may be negative. False: unreadable. */
bool pmp_arena_read(const struct pmp_arenas *arenas, const struct pmp_malloc_arena *arena,
		    long offset, uint64_t *words, size_t count);

#endif
