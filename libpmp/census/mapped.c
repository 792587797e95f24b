/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See mapped.h. */
#include "census/mapped.h"

#include "census/layout.h"

#define SEARCH_MAX 16384      /* consecutive pages without a block */
#define LARGE UINT64_C(65536) /* minimum size of a block within other memory */
#define PAGES_A_SLICE 1024

/* after: there is a block before it, or the mapping begins here. Returns how much of the
 * mapping the block takes, and in *bytes what the program may use; 0: not a block. */
static uint64_t block_size(const uint64_t head[2], uint64_t room, bool after,
			   uint64_t *bytes)
{
	uint64_t size = pmp_chunk_size(head[1]);
	const bool old = size % PMP_CENSUS_PAGE == 0;

	if ((head[1] & PMP_CHUNK_FLAGS) != PMP_IS_MAPPED || head[0] > !old || !size)
		return 0;
	*bytes = old ? size - PMP_CHUNK_HEAD : size - PMP_CHUNK_OVERHEAD;
	size += old ? 0 : PMP_CHUNK_HEAD;
	return size % PMP_CENSUS_PAGE == 0 && size <= room && (after || size >= LARGE)
		       ? size
		       : 0;
}

int pmp_mapped_find(const struct pmp_census_memory *memory,
		    struct pmp_census_effort *effort, const struct pmp_area *area,
		    const struct pmp_mapped_calls *calls, uint64_t *other)
{
	uint64_t at = area->start, words[4], size, bytes;
	size_t searched = 0, read = 0;

	while (at < area->end && searched <= SEARCH_MAX) {
		const bool there = pmp_census_peek(memory, at, words, sizeof(words));

		if (!pmp_effort_spend(effort, there ? PMP_EFFORT_READ : PMP_EFFORT_PAGE))
			break;
		if (++read % PAGES_A_SLICE == 0)
			memory->rest(memory->arg);
		size = there ? block_size(words, area->end - at, searched == 0, &bytes)
			     : 0;
		if (size) {
			if (!calls->found(calls->arg, words[2], size, bytes))
				return 1;
			pmp_effort_give(effort, PMP_EFFORT_READ);
			at += size;
			searched = 0;
			continue;
		}
		searched++;
		*other += PMP_CENSUS_PAGE;
		at += PMP_CENSUS_PAGE;
	}
	*other += at < area->end ? area->end - at : 0;
	return 0;
}
