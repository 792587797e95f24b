/* SPDX-License-Identifier: GPL-2.0-or-later */
/* malloc() and its family: the path of each call. */
#include "heap/recorder.h"

#include "heap/recorder-count.h"

#include <malloc.h>
#include <stdlib.h>

/* Functions of older and newer C libraries. */
void cfree(void *block);
void free_sized(void *block, size_t size);
void free_aligned_sized(void *block, size_t align, size_t size);

/* ---- the usual ones ------------------------------------------------------------------ */

/* The slow paths are separate functions, so that the fast path saves no registers. */
static __attribute__((noinline)) void *other_malloc(size_t size)
{
	struct pmp_heap_slot *slot = count_slot();
	void *block = next.malloc(size);

	count_alloc(slot, PMP_HEAP_MALLOC, block, size);
	return block;
}

static __attribute__((noinline)) void *other_calloc(size_t count, size_t size)
{
	struct pmp_heap_slot *slot = count_slot();
	void *block = next.calloc(count, size);
	size_t asked;

	if (__builtin_mul_overflow(count, size, &asked))
		asked = SIZE_MAX;
	count_alloc(slot, PMP_HEAP_CALLOC, block, asked);
	return block;
}

/* counted: the call has been counted, but an update of the sums is due. */
static __attribute__((noinline)) void other_free(void *block, bool counted)
{
	if (!block)
		return;
	if (counted)
		sample_publish(thread.slot);
	else
		count_free(count_slot(), block);
	next.free(block);
}

/* Count no block, a mapped one, or one for which the heap may have grown. */
static __attribute__((noinline)) void *count_unusual(struct pmp_heap_slot *slot,
						     unsigned function, void *block)
{
	const size_t asked = slot->asked;

	count_alloc(count_slot(), function, block, asked);
	return block;
}

/* Something is due for a block that has been counted. */
static __attribute__((noinline)) void *take_due(struct pmp_heap_slot *slot,
						unsigned function, void *block)
{
	const struct call call = { PMP_HEAP_ALLOC, (uint8_t)function, block, slot->asked,
				   chunk_usable_size(block) };

	sample_alloc(slot, &call);
	return block;
}

INTERPOSED void *malloc(size_t size)
{
	struct pmp_heap_slot *slot = thread.usual;
	void *block;

	if (LIKELY(slot && !count_is_copy())) {
		slot->asked = size;
		block = next.malloc(size);
		if (UNLIKELY(!count_usual_alloc(slot, PMP_HEAP_MALLOC, block)))
			block = count_unusual(slot, PMP_HEAP_MALLOC, block);
		else if (UNLIKELY(is_due(slot)))
			block = take_due(slot, PMP_HEAP_MALLOC, block);
	} else {
		block = other_malloc(size);
	}
	STAYS_IN_STACK();
	return block;
}

INTERPOSED void *calloc(size_t count, size_t size)
{
	struct pmp_heap_slot *slot = thread.usual;
	void *block;

	if (LIKELY(slot && !count_is_copy() &&
		   !__builtin_mul_overflow(count, size, &slot->asked))) {
		block = next.calloc(count, size);
		if (UNLIKELY(!count_usual_alloc(slot, PMP_HEAP_CALLOC, block)))
			block = count_unusual(slot, PMP_HEAP_CALLOC, block);
		else if (UNLIKELY(is_due(slot)))
			block = take_due(slot, PMP_HEAP_CALLOC, block);
	} else {
		block = other_calloc(count, size);
	}
	STAYS_IN_STACK();
	return block;
}

INTERPOSED void free(void *block)
{
	struct pmp_heap_slot *slot = thread.usual;
	const bool counted = count_usual_free(slot, block);

	if (LIKELY(counted && !is_free_due(slot))) {
		next.free(block);
		return;
	}
	other_free(block, counted);
	STAYS_IN_STACK();
}

INTERPOSED void cfree(void *block)
{
	other_free(block, false);
	STAYS_IN_STACK();
}

INTERPOSED void free_sized(void *block, size_t size)
{
	if (!block)
		return;
	count_free(count_slot(), block);
	if (next.free_sized)
		next.free_sized(block, size);
	else
		next.free(block);
}

INTERPOSED void free_aligned_sized(void *block, size_t align, size_t size)
{
	if (!block)
		return;
	count_free(count_slot(), block);
	if (next.free_aligned_sized)
		next.free_aligned_sized(block, align, size);
	else
		next.free(block);
}

/* ---- realloc ------------------------------------------------------------------------ */

static void count_failed(struct pmp_heap_slot *slot, const void *block, size_t size)
{
	const struct call call = { PMP_HEAP_REALLOC_FAILED, PMP_HEAP_REALLOC, block, size,
				   0 };

	sample_failed(slot, &call);
}

/*
 * For a sampled block, a record of its free is reserved before the allocator can give its
 * memory to another thread, but completed only when realloc() has freed it. A realloc()
 * that acts as malloc() or free() is counted as such, so that blocks can be counted.
 */
static __attribute__((noinline)) void *move(struct pmp_heap_slot *slot, void *block,
					    size_t size)
{
	const size_t before = usable_size(block);
	bool recent;
	const size_t mapped = is_mapped(block) ? mapped_size(block, &recent) : 0;
	struct pmp_heap_record *record = NULL;
	void *moved;

	if (UNLIKELY(filter[filter_index(block)]))
		record = sample_move(slot, block);
	moved = next.realloc(block, size);
	if (!moved && size) {
		sample_moved(record, block, false);
		count_failed(slot, block, size);
		return NULL;
	}
	sample_moved(record, block, true);
	if (UNLIKELY(mapped))
		growth_unmapped(mapped);
	count_freed_bytes(slot, before);
	if (moved)
		count_alloc(slot, PMP_HEAP_REALLOC, moved, size);
	else
		count_call(slot, PMP_HEAP_CALL_FREE);
	return moved;
}

INTERPOSED void *realloc(void *block, size_t size)
{
	struct pmp_heap_slot *slot = count_slot();

	if (block) {
		block = move(slot, block, size);
	} else {
		block = next.realloc(NULL, size);
		count_block(slot, PMP_HEAP_MALLOC, PMP_HEAP_REALLOC, block, size);
	}
	STAYS_IN_STACK();
	return block;
}

/* ---- aligned blocks ----------------------------------------------------------------- */

INTERPOSED void *memalign(size_t align, size_t size)
{
	struct pmp_heap_slot *slot = count_slot();
	void *block = next.memalign ? next.memalign(align, size) : NULL;

	count_alloc(slot, PMP_HEAP_ALIGNED, block, size);
	return block;
}

INTERPOSED int posix_memalign(void **block, size_t align, size_t size)
{
	struct pmp_heap_slot *slot = count_slot();
	int status = next.posix_memalign(block, align, size);

	count_alloc(slot, PMP_HEAP_ALIGNED, status ? NULL : *block, size);
	return status;
}

INTERPOSED void *aligned_alloc(size_t align, size_t size)
{
	struct pmp_heap_slot *slot = count_slot();
	void *block = next.aligned_alloc ? next.aligned_alloc(align, size) : NULL;

	count_alloc(slot, PMP_HEAP_ALIGNED, block, size);
	return block;
}

INTERPOSED void *valloc(size_t size)
{
	struct pmp_heap_slot *slot = count_slot();
	void *block = next.valloc ? next.valloc(size) : NULL;

	count_alloc(slot, PMP_HEAP_ALIGNED, block, size);
	return block;
}

INTERPOSED void *pvalloc(size_t size)
{
	struct pmp_heap_slot *slot = count_slot();
	void *block = next.pvalloc ? next.pvalloc(size) : NULL;

	count_alloc(slot, PMP_HEAP_ALIGNED, block, size);
	return block;
}
