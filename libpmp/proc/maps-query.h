/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Are the mappings with code still the same? Queries the kernel region by region
 * (PROCMAP_QUERY, Linux 6.11), in a tenth of the time that reading the text of maps takes,
 * because most mappings have no code.
 */
#ifndef PMP_PROC_MAPS_QUERY_H
#define PMP_PROC_MAPS_QUERY_H

#include "proc/process.h"
#include "sample.h"

/* 1: all regions with code equal those in maps; 0: they do not; or a negative errno: the
 * kernel cannot tell (-ENOTTY: it is too old). */
int pmp_maps_query_code(const struct pmp_process *process, const struct pmp_maps *maps);

#endif
