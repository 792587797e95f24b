/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which addresses may be a heap, and which are the data of modules. */
#ifndef PMP_CENSUS_AREAS_H
#define PMP_CENSUS_AREAS_H

#include "sample.h"

struct pmp_area {
	uint64_t start, end; /* first, see base/search.h */
	bool brk;	     /* [heap] */
};

struct pmp_area_list {
	struct pmp_area *items; /* ascending, disjoint */
	size_t count, capacity;
};

struct pmp_areas {
	struct pmp_area_list
		anonymous;	   /* private memory that is written to, without a file */
	struct pmp_area_list data; /* of modules: not code; and zeros after it */
};

/* 0 or PMP_ENOMEM; to be freed in any case. */
int pmp_areas_make(struct pmp_areas *areas, const struct pmp_maps *maps);
void pmp_areas_free(struct pmp_areas *areas);
/* The one that has an address, or NULL. */
const struct pmp_area *pmp_area_find(const struct pmp_area_list *list, uint64_t address);
/* Can a chunk begin there? */
bool pmp_areas_may_be_chunk(const struct pmp_areas *areas, uint64_t address);

#endif
