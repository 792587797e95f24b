/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose the heap of a process is, by the libraries that it has mapped. */
#ifndef PMP_CENSUS_ALLOCATOR_H
#define PMP_CENSUS_ALLOCATOR_H

#include "sample.h"

/* The allocator that takes the place of glibc's malloc, "jemalloc", and the path of its
 * library, borrowed from maps; NULL: none that is known. */
const char *pmp_census_allocator(const struct pmp_maps *maps, const char **library);

#endif
