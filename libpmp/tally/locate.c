/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tally/locate.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/search.h"

/* The address range of Go's heap, which has goroutines' stacks anywhere in it. */
#ifdef __aarch64__
#define GO_HEAP UINT64_C(0x4000000000)
#else
#define GO_HEAP UINT64_C(0xc000000000)
#endif
#define GO_HEAP_MAX (UINT64_C(1) << 36)

/* A thread's stack pointer, where its stack begins. */
struct pmp_stack_start {
	uint64_t sp; /* first, see base/search.h */
	pid_t tid;
};

int pmp_locator_start(struct pmp_locator *locator, const struct pmp_sample *sample,
		      struct pmp_symbolizer *symbolizer)
{
	locator->sample = sample;
	locator->symbolizer = symbolizer;
	locator->count = 0;
	return PMP_RESERVE(&locator->stacks, &locator->capacity,
			   sample->thread_count + 1);
}

static int compare_stacks(const void *a, const void *b)
{
	const struct pmp_stack_start *one = a, *other = b;

	return (one->sp > other->sp) - (one->sp < other->sp);
}

/* List the stacks of all threads whose stack pointer is known, once per sample. */
static void sort_stacks(struct pmp_locator *locator)
{
	const struct pmp_sample *sample = locator->sample;

	if (locator->count)
		return;
	for (size_t i = 0; i < sample->thread_count; i++) {
		if (sample->threads[i].sp)
			locator->stacks[locator->count++] = (struct pmp_stack_start){
				.sp = sample->threads[i].sp,
				.tid = sample->threads[i].tid,
			};
	}
	qsort(locator->stacks, locator->count, sizeof(*locator->stacks), compare_stacks);
}

/* Is the address between a thread's stack pointer and the end of the mapping? */
static void find_stack(const struct pmp_locator *locator, uint64_t address,
		       struct pmp_located_object *object)
{
	const struct pmp_sample *sample = locator->sample;
	const struct pmp_stack_start *stacks = locator->stacks;
	const struct pmp_region *region = pmp_maps_find(sample->maps, address);
	size_t after = pmp_search_after(stacks, locator->count, sizeof(*stacks), address);

	if (!region || strcmp(region->module->path, "[heap]") == 0 ||
	    address - GO_HEAP < GO_HEAP_MAX)
		return;
	if (after && stacks[after - 1].sp >= region->start)
		object->stack_of = stacks[after - 1].tid;
	else if (strcmp(region->module->path, "[stack]") == 0)
		object->stack_of = sample->pid;
	if (object->stack_of)
		object->in = PMP_IN_STACK;
}

void pmp_locator_find(struct pmp_locator *locator, uint64_t address,
		      struct pmp_located_object *object)
{
	*object = (struct pmp_located_object){ .location = PMP_LOCATION_NONE };
	if (!locator->sample->maps)
		return;
	pmp_symbolizer_locate_object(locator->symbolizer, locator->sample->maps, address,
				     object);
	if (object->in != PMP_IN_HEAP)
		return;
	sort_stacks(locator);
	find_stack(locator, address, object);
}

void pmp_locator_free(struct pmp_locator *locator)
{
	free(locator->stacks);
	*locator = (struct pmp_locator){ 0 };
}
