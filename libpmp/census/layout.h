/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory layout of glibc's malloc in 64-bit programs, since 2.3:
 *
 *	chunk      +0  size of the one before it, if that is free
 *	           +8  its own size, a multiple of 16; lowest bits: see below
 *	          +16  what the program gets
 *
 * Chunks are contiguous, up to the top of their arena. The next chunk's PREV_INUSE tells
 * whether a chunk is in use. A chunk of 16 bytes is not a real one: it ends a full region.
 *
 *	heap of threads   at multiples of 64 MiB: arena, heap before it, size; in the first heap
 *	                  of an arena its state comes next, then chunks
 *	state of an arena ... 10 fastbins, top, last remainder, 127 pairs of pointers, which
 *	                  are the ends of lists of free chunks, 4 words, next arena ...
 *	mapped block      a mapping of its own (or a part of one): 0, size | MAPPED, block;
 *	                  since 2.43: 0, or 1 if huge pages were asked for, (size - 16) | MAPPED,
 *	                  block, 8 bytes that are not used
 *
 * Since 2.43 there are no fastbins, and .top directly follows the first word of the state.
 */
#ifndef PMP_CENSUS_LAYOUT_H
#define PMP_CENSUS_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PMP_CHUNK_ALIGN UINT64_C(16)
#define PMP_CHUNK_HEAD UINT64_C(16)
#define PMP_CHUNK_MIN UINT64_C(32)
#define PMP_CHUNK_OVERHEAD UINT64_C(8) /* bytes that the program does not get */
#define PMP_PREV_INUSE UINT64_C(1)
#define PMP_IS_MAPPED UINT64_C(2)
#define PMP_NOT_MAIN UINT64_C(4)
#define PMP_CHUNK_FLAGS UINT64_C(7)
#define PMP_FENCE UINT64_C(16) /* size of the fencepost that ends a full region */

#define PMP_THREAD_HEAP (UINT64_C(64) << 20) /* alignment of heaps of threads */

/* Words of an arena's state, from .top on. */
#define PMP_ARENA_FASTBINS 10 /* before it */
#define PMP_ARENA_BEFORE 1    /* at least: a lock and flags */
#define PMP_ARENA_BINS 2      /* after .top and the last remainder */
#define PMP_ARENA_PAIRS 127
#define PMP_ARENA_NEXT (PMP_ARENA_BINS + 2 * PMP_ARENA_PAIRS + 2)
#define PMP_ARENA_WORDS (PMP_ARENA_NEXT + 1)

static inline uint64_t pmp_chunk_size(uint64_t header)
{
	return header & ~PMP_CHUNK_FLAGS;
}

/* Can this be the header of a chunk at address at, in a region that ends at end? */
static inline bool pmp_chunk_plausible(uint64_t header, uint64_t at, uint64_t end)
{
	const uint64_t size = pmp_chunk_size(header);

	return !(header & PMP_IS_MAPPED) && size >= PMP_CHUNK_MIN &&
	       size % PMP_CHUNK_ALIGN == 0 && size <= end - at;
}

#endif
