/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Large blocks, each of which is a mapping, or was one that the kernel has merged with its
 * neighbours. */
#ifndef PMP_CENSUS_MAPPED_H
#define PMP_CENSUS_MAPPED_H

#include "census/areas.h"
#include "census/effort.h"
#include "census/memory.h"

struct pmp_mapped_calls {
	/* A block: its first word (0: not in memory), its size with all that belongs to it,
	 * and what of that is its program's; false: end the search. */
	bool (*found)(void *arg, uint64_t word, uint64_t size, uint64_t bytes);
	void *arg;
};

/* Look for them in an area, with that effort. What of it is none of them is added to *other. 0,
 * or 1: found() has ended it. */
int pmp_mapped_find(const struct pmp_census_memory *memory,
		    struct pmp_census_effort *effort, const struct pmp_area *area,
		    const struct pmp_mapped_calls *calls, uint64_t *other);

#endif
