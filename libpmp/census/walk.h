/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks from chunk to chunk through a region, while the process runs. Memory is read in
 * windows; a chunk's state is in the header of the next one, which may be in the next
 * window. If the chain is inconsistent, something changed between two reads: the last
 * windows are read again, more of them each time, and chunks found in them are dropped. So
 * chunks are reported eight windows late.
 */
#ifndef PMP_CENSUS_WALK_H
#define PMP_CENSUS_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "census/effort.h"
#include "census/memory.h"

enum pmp_chunk_state {
	PMP_CHUNK_USED, /* by the program, or in a cache or fastbin */
	PMP_CHUNK_FREE,
	PMP_CHUNK_TOP, /* the end of the region */
};

struct pmp_chunk {
	uint64_t at, size;	/* including its header */
	uint64_t first, second; /* the program's words; 0: unreadable */
	enum pmp_chunk_state state;
};

struct pmp_chunk_totals {
	uint64_t swapped, unread, again;
};

struct pmp_chunk_walk;

struct pmp_chunk_calls {
	/* Called for each chunk, in address order; false: end the walk. */
	bool (*found)(void *arg, const struct pmp_chunk *chunk);
	/* Returns the current end of the region. NULL: it does not change. */
	uint64_t (*end)(void *arg);
	void *arg;
};

/* Both are borrowed. NULL: no memory. */
struct pmp_chunk_walk *pmp_chunk_walk_new(const struct pmp_census_memory *memory,
					  struct pmp_census_effort *effort);
void pmp_chunk_walk_free(struct pmp_chunk_walk *walk);
/* Walk from the first chunk at or after start up to end, where the last one is the top
 * unless it is a fence. Adds to totals. 0, PMP_ENOMEM, or 1: found() ended the walk. */
int pmp_chunk_walk_region(struct pmp_chunk_walk *walk, uint64_t start, uint64_t end,
			  const struct pmp_chunk_calls *calls,
			  struct pmp_chunk_totals *totals);

#endif
