/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counting each call, in the thread's own slot. */
#ifndef PMP_HEAP_RECORDER_COUNT_H
#define PMP_HEAP_RECORDER_COUNT_H

#include "heap/recorder.h"

/* The slot of this thread. Get it before calling the allocator, as the first call looks up
 * the allocator's functions. A child that ran no fork() handlers still has its parent's
 * slot. */
static inline struct pmp_heap_slot *count_slot(void)
{
	struct pmp_heap_slot *slot = thread.slot;

	if (UNLIKELY(recorder_is_copy())) {
		recorder_forked();
		slot = NULL;
	}
	return LIKELY(slot) ? slot : thread_attach();
}

/* In one instruction where possible, so that nothing is lost if a signal handler interrupts
 * it and adds as well. */
static inline __attribute__((always_inline)) void count_add(uint64_t *counter, uint64_t n)
{
#ifdef __x86_64__
	__asm__("addq %1, %0" : "+m"(*counter) : "er"(n) : "cc");
#else
	*counter += n;
#endif
}

static inline void count_call(struct pmp_heap_slot *slot, unsigned function)
{
	if (LIKELY(slot))
		count_add(&slot->calls[function], 1);
	else
		sample_common(function, 0, 0);
}

/* Is a sample, or an update of the sums, due? */
static inline bool is_due(const struct pmp_heap_slot *slot)
{
	return slot->allocated > slot->due_allocated;
}

static inline bool is_free_due(const struct pmp_heap_slot *slot)
{
	return slot->freed > slot->due_freed;
}

/* block: the result of the call, or NULL; counter: index of the counter for the call. */
static inline void count_block(struct pmp_heap_slot *slot, unsigned counter,
			       unsigned function, void *block, size_t asked)
{
	struct call call = { PMP_HEAP_ALLOC, (uint8_t)function, block, asked, 0 };

	if (UNLIKELY(!block)) {
		call.kind = PMP_HEAP_FAILED;
		sample_failed(slot, &call);
		return;
	}
	call.usable = usable_size(block);
	if (UNLIKELY(is_growth(block, call.usable)))
		growth_block(&call);
	if (UNLIKELY(!slot)) {
		sample_common_block(counter, &call);
		return;
	}
	if (UNLIKELY(slot == thread.usual && !is_in_heap(slot, block, call.usable)))
		growth_find_heap(slot, block);
	count_add(&slot->calls[counter], 1);
	count_add(&slot->allocated, call.usable);
	if (UNLIKELY(is_due(slot)))
		sample_alloc(slot, &call);
}

static inline void count_alloc(struct pmp_heap_slot *slot, unsigned function, void *block,
			       size_t asked)
{
	count_block(slot, function, function, block, asked);
}

static inline void count_freed_bytes(struct pmp_heap_slot *slot, size_t size)
{
	if (UNLIKELY(!slot)) {
		sample_common(PMP_HEAP_CALLS, 0, size);
		return;
	}
	count_add(&slot->freed, size);
	if (UNLIKELY(is_free_due(slot)))
		sample_publish(slot);
}

/* To be called before the block is freed. */
static inline void count_free(struct pmp_heap_slot *slot, void *block)
{
	bool recent;

	if (UNLIKELY(filter[filter_index(block)]) && !RECORDER_FAULT(MISSES))
		sample_free(slot, block);
	if (UNLIKELY(is_mapped(block)))
		growth_unmapped(mapped_size(block, &recent));
	count_freed_bytes(slot, usable_size(block));
	count_call(slot, PMP_HEAP_CALL_FREE);
}

/* ---- the fast path ------------------------------------------------------------------ */

static inline __attribute__((always_inline)) bool count_is_copy(void)
{
	return !__atomic_load_n(recorder.mark, __ATOMIC_RELAXED);
}

/*
 * Nearly all calls: the thread has a slot, sizes are in glibc's chunk headers, and the
 * block is within the known range of the heap. This has to be few instructions. False: any
 * other call; nothing has been counted. A mapped block may be where a heap has been, so
 * that is checked as well.
 */
static inline __attribute__((always_inline)) bool
count_usual_alloc(struct pmp_heap_slot *slot, unsigned function, const void *block)
{
	size_t usable;

	if (UNLIKELY(!block || RECORDER_FAULT(SIZE)))
		return false;
	usable = chunk_usable_size(block);
	if (UNLIKELY(((const size_t *)block)[-1] & CHUNK_MMAPPED ||
		     !is_in_heap(slot, block, usable)))
		return false;
	count_add(&slot->allocated, usable);
	count_add(&slot->calls[function], 1);
	return true;
}

static inline __attribute__((always_inline)) bool
count_usual_free(struct pmp_heap_slot *slot, const void *block)
{
	if (UNLIKELY(!slot || count_is_copy() || filter[filter_index(block)] ||
		     ((const size_t *)block)[-1] & CHUNK_MMAPPED))
		return false;
	count_add(&slot->freed, chunk_usable_size(block));
	count_add(&slot->calls[PMP_HEAP_CALL_FREE], 1);
	return true;
}

#endif
