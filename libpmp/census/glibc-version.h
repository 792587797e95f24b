/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which GNU C library a process uses: layout.h is valid up to a certain version. */
#ifndef PMP_CENSUS_GLIBC_VERSION_H
#define PMP_CENSUS_GLIBC_VERSION_H

#include "sample.h"

/* The minor number of its version, 36 for 2.36, from the mapped file; 0: unknown, as in a
 * static program. */
unsigned pmp_census_glibc(const struct pmp_maps *maps);

#endif
