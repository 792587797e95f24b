/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Address ranges that may be heaps, and those of the data of modules. */
#ifndef PMP_CENSUS_AREAS_H
#define PMP_CENSUS_AREAS_H

#include "sample.h"

struct pmp_area {
	uint64_t start, end; /* start must be first, see base/search.h */
	bool brk;	     /* [heap] */
};

struct pmp_area_list {
	struct pmp_area *items; /* ascending, disjoint */
	size_t count, capacity;
};

struct pmp_areas {
	struct pmp_area_list anonymous; /* private writable memory without a file */
	struct pmp_area_list data;	/* of modules: non-code, and the zeros after it */
};

/* 0 or PMP_ENOMEM; to be freed in any case. */
int pmp_areas_make(struct pmp_areas *areas, const struct pmp_maps *maps);
void pmp_areas_free(struct pmp_areas *areas);
/* The area that contains address, or NULL. */
const struct pmp_area *pmp_area_find(const struct pmp_area_list *list, uint64_t address);
/* Can a chunk begin there? */
bool pmp_areas_may_be_chunk(const struct pmp_areas *areas, uint64_t address);

#endif
