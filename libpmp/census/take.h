/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Takes a census of the heap of glibc's malloc. */
#ifndef PMP_CENSUS_TAKE_H
#define PMP_CENSUS_TAKE_H

#include <stdbool.h>

#include "census.h"
#include "census/memory.h"
#include "sample.h"

enum pmp_census_outcome {
	PMP_CENSUS_TAKEN,
	PMP_CENSUS_NOMEM,
	PMP_CENSUS_UNUSED,  /* the process has allocated nothing with it */
	PMP_CENSUS_UNKNOWN, /* there is a heap, but not with a known layout */
};

/* maps: of the process, just read. types: look at first words. *census is to be freed with
 * pmp_census_free() if the outcome is PMP_CENSUS_TAKEN. */
enum pmp_census_outcome pmp_census_take(const struct pmp_census_memory *memory,
					const struct pmp_maps *maps, bool types,
					struct pmp_census **census);

#endif
