/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See mapped.h. */
#include "census/mapped.h"

#include "census/layout.h"

#define SEARCH_MAX 16384      /* pages that are none of a block's, one after another */
#define LARGE UINT64_C(65536) /* what a block among others' memory is, at least */
#define PAGES_A_SLICE 1024

/* after: there is a block before it, or the mapping begins here. */
static bool is_block(const uint64_t head[2], uint64_t room, bool after)
{
	const uint64_t size = pmp_chunk_size(head[1]);

	return head[0] == 0 && (head[1] & PMP_CHUNK_FLAGS) == PMP_IS_MAPPED &&
	       size % PMP_CENSUS_PAGE == 0 && size <= room && size &&
	       (after || size >= LARGE);
}

int pmp_mapped_find(const struct pmp_census_memory *memory, const struct pmp_area *area,
		    const struct pmp_mapped_calls *calls, uint64_t *other)
{
	uint64_t at = area->start, words[4];
	size_t searched = 0, read = 0;

	while (at < area->end && searched <= SEARCH_MAX) {
		const bool there = pmp_census_peek(memory, at, words, sizeof(words));

		if (++read % PAGES_A_SLICE == 0)
			memory->rest(memory->arg);
		if (there && is_block(words, area->end - at, searched == 0)) {
			if (!calls->found(calls->arg, words[2], pmp_chunk_size(words[1])))
				return 1;
			at += pmp_chunk_size(words[1]);
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
