/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which GNU C library a process has: layout.h is right up to one of them. */
#ifndef PMP_CENSUS_GLIBC_VERSION_H
#define PMP_CENSUS_GLIBC_VERSION_H

#include "sample.h"

/* The minor number of its version, 36 of 2.36, as the file that is mapped says; 0: not known, as
 * in a static program. */
unsigned pmp_census_glibc(const struct pmp_maps *maps);

#endif
