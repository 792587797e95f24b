/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the allocator takes from the kernel, derived from its blocks if it is glibc's. A
 * mapped block is marked as such. A block that ends beyond the known reach of its heap is
 * the last one of a heap that has grown; the chunk after it, which is the rest of the heap,
 * tells how far that reaches now. The call that needed the memory is recorded with its
 * stack. Growth that is too small for a record is added to the next one.
 */
#include "heap/recorder.h"

#define CHUNK_OTHER_ARENA 4
#define AREA ((uintptr_t)1 << AREA_BITS)
#define PAGE 4096
#define REST_MOST ((size_t)1 << 32) /* of a heap: anything larger is no size */
#define JUMP_MOST ((uintptr_t)1 << 40)
#define RATE_PART 4 /* record growth of at least rate / 4 */

uintptr_t growth_reach[AREAS];

/* The same for the heap of brk(), wherever that is. */
static uintptr_t main_reach, brk_start;
static uint64_t pending;

/* Raise *reach to at least `to`. Returns the value before, which another thread may just
 * have raised. */
static uintptr_t raise(uintptr_t *reach, uintptr_t to)
{
	uintptr_t is = __atomic_load_n(reach, __ATOMIC_RELAXED);

	while (is < to &&
	       !__atomic_compare_exchange_n(reach, &is, to, true, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED))
		;
	return is;
}

static uintptr_t reach_after(const void *block, size_t usable)
{
	const uintptr_t end = (uintptr_t)block + usable;
	const size_t rest = *(const size_t *)end & ~(size_t)CHUNK_FLAGS;

	return rest && rest < REST_MOST ? end - sizeof(rest) + rest : end;
}

/* By how many bytes has the heap grown, and which heap? */
static uint64_t measure(const struct call *call, bool *by_brk)
{
	const uintptr_t block = (uintptr_t)call->block;
	const size_t chunk = ((const size_t *)call->block)[-1];
	uintptr_t reach, was;
	bool recent;

	*by_brk = false;
	if (chunk & CHUNK_MMAPPED)
		return mapped_size(call->block, &recent);
	reach = reach_after(call->block, call->usable);
	was = raise(&growth_reach[(block >> AREA_BITS) % AREAS], reach);
	*by_brk = !(chunk & CHUNK_OTHER_ARENA);
	if (*by_brk)
		was = raise(&main_reach, reach);
	if (was >= reach)
		return 0;
	/* The first block of this heap: `was` is 0, or of another heap. */
	if (!was || reach - was > JUMP_MOST || (!*by_brk && was < (block & ~(AREA - 1))))
		was = *by_brk ? block & ~(uintptr_t)(PAGE - 1) : block & ~(AREA - 1);
	return reach - was;
}

/* Is it in the heap of brk(), if that is one piece? If brk() fails, glibc uses mappings. */
static bool is_in_brk(uintptr_t at)
{
	return brk_start && at > brk_start && at < main_reach &&
	       main_reach <= (uintptr_t)next.sbrk(0);
}

void growth_find_heap(struct pmp_heap_slot *slot, const void *block)
{
	const uintptr_t at = (uintptr_t)block;
	uintptr_t start = at & ~(AREA - 1);
	uintptr_t end = growth_reach[(at >> AREA_BITS) % AREAS];

	if (((const size_t *)block)[-1] & CHUNK_MMAPPED)
		return;
	if (is_in_brk(at)) {
		start = brk_start;
		end = main_reach;
	} else if (end > start + AREA || at >= end) {
		return;
	}
	slot->heap_start = start;
	slot->heap_size = end - start;
}

void growth_start(void)
{
	brk_start = next.sbrk ? (uintptr_t)next.sbrk(0) : 0;
}

/* The bytes to record now; 0: none yet. */
static uint64_t take_pending(uint64_t bytes)
{
	const uint64_t sum = __atomic_add_fetch(&pending, bytes, __ATOMIC_RELAXED);

	if (!recorder.exact &&
	    sum < __atomic_load_n(&recorder.header->rate, __ATOMIC_RELAXED) / RATE_PART)
		return 0;
	return __atomic_exchange_n(&pending, 0, __ATOMIC_RELAXED);
}

static void record(const struct call *call, uint64_t bytes)
{
	struct call growth = *call;

	if (!bytes || !sample_begin())
		return;
	growth.kind = PMP_HEAP_GROWTH;
	growth.usable = take_pending(bytes);
	if (growth.usable)
		sample_record(&growth, 0);
	sample_end();
}

void growth_block(const struct call *call)
{
	struct pmp_heap_process *process = recorder.process;
	bool by_brk;
	const uint64_t bytes = measure(call, &by_brk);

	if (!process || recorder.gone)
		return;
	__atomic_fetch_add(by_brk ? &process->brk_growth : &process->mmap_growth, bytes,
			   __ATOMIC_RELAXED);
	record(call, bytes);
}

void growth_unmapped(size_t size)
{
	if (recorder.process && !recorder.gone)
		__atomic_fetch_add(&recorder.process->given_back, size, __ATOMIC_RELAXED);
}

void growth_mapped(const void *at, size_t size, bool gives_back)
{
	const struct call call = { gives_back ? PMP_HEAP_UNMAP : PMP_HEAP_GROWTH,
				   PMP_HEAP_MMAP, at, size, size };
	struct pmp_heap_process *process;

	if (recorder_is_copy())
		recorder_forked();
	process = recorder.process;
	if (!size || !process || recorder.gone)
		return;
	__atomic_fetch_add(gives_back ? &process->given_back : &process->mmap_growth,
			   size, __ATOMIC_RELAXED);
	if (!sample_begin())
		return;
	sample_record(&call, 0);
	sample_end();
}
