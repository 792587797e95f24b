/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which allocator a process uses, judging by its mapped libraries. */
#ifndef PMP_CENSUS_ALLOCATOR_H
#define PMP_CENSUS_ALLOCATOR_H

#include "sample.h"

/* The allocator that replaces glibc's malloc, for example "jemalloc", and the path of its
 * library, borrowed from maps; NULL: no known one. */
const char *pmp_census_allocator(const struct pmp_maps *maps, const char **library);

#endif
