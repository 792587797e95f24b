/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The contents of a heap as profile.proto, to compare two of them. */
#ifndef PMP_WRITE_OBJECTS_PPROF_H
#define PMP_WRITE_OBJECTS_PPROF_H

struct pmp_census_classes;
struct pmp_out;
struct pmp_report;

/* Sample types objects and space; per class and size, a stack with the class as
 * its frame. */
void pmp_objects_write_pprof(struct pmp_out *out, const struct pmp_report *report,
			     const struct pmp_census_classes *classes);

#endif
