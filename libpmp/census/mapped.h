/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Large blocks, each of which is a mapping, or was one before the kernel merged it with
 * its neighbours. */
#ifndef PMP_CENSUS_MAPPED_H
#define PMP_CENSUS_MAPPED_H

#include "census/areas.h"
#include "census/effort.h"
#include "census/memory.h"

struct pmp_mapped_calls {
	/* Called for a block with its first word (0: not in memory), its total size, and
	 * the bytes that the program may use; false: end the search. */
	bool (*found)(void *arg, uint64_t word, uint64_t size, uint64_t bytes);
	void *arg;
};

/* Find them in an area, with limited effort. Adds the size of everything else to *other.
 * 0, or 1: found() ended the search. */
int pmp_mapped_find(const struct pmp_census_memory *memory,
		    struct pmp_census_effort *effort, const struct pmp_area *area,
		    const struct pmp_mapped_calls *calls, uint64_t *other);

#endif
