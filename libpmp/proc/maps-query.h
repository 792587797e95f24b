/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Are the mappings with code still the same? Asked of the kernel region by region
 * (PROCMAP_QUERY, Linux 6.11), which takes a tenth of the time that the text of maps does:
 * most mappings have no code.
 */
#ifndef PMP_PROC_MAPS_QUERY_H
#define PMP_PROC_MAPS_QUERY_H

#include "proc/process.h"
#include "sample.h"

/* 1: all regions with code are those of maps; 0: they are not; or a negative errno: the
 * kernel cannot say (-ENOTTY: not any kernel as old as this one). */
int pmp_maps_query_code(const struct pmp_process *process, const struct pmp_maps *maps);

#endif
