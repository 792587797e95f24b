/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counting what is read from a saved profile. */
#include "tally/pprof-calls.h"

static uint32_t add_mapping(void *arg, const struct pmp_mapping *mapping)
{
	return pmp_symbolizer_add_mapping(pmp_profile_symbolizer(arg), mapping);
}

static pmp_location add_location(void *arg, const struct pmp_first_address *origin,
				 const struct pmp_frame *frames, size_t count)
{
	return pmp_symbolizer_add_location(pmp_profile_symbolizer(arg), origin, frames,
					   count);
}

static int count_stack(void *arg, const struct pmp_entry *entry)
{
	struct pmp_heap *heap = pmp_profile_heap(arg);
	int code = 0;

	if (entry->heap && heap)
		code = pmp_heap_count(heap, entry);
	if (!code && (entry->count || entry->end == PMP_END_BETWEEN))
		code = pmp_profile_count(arg, entry);
	return code;
}

static int add_process(void *arg, const struct pmp_process_heap *process)
{
	struct pmp_heap *heap = pmp_profile_heap(arg);

	return heap ? pmp_heap_add_process(heap, process) : 0;
}

static int join(void *arg, const struct pmp_profile_info *info,
		const struct pmp_metadata *metadata)
{
	return pmp_profile_join(arg, info, metadata);
}

struct pmp_pprof_calls pmp_pprof_into(struct pmp_profile *profile)
{
	return (struct pmp_pprof_calls){ add_mapping, add_location, count_stack,
					 add_process, join,	    profile };
}
