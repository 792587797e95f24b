/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a heap holds as profile.proto: two of them can be compared. */
#ifndef PMP_WRITE_OBJECTS_PPROF_H
#define PMP_WRITE_OBJECTS_PPROF_H

struct pmp_census_classes;
struct pmp_out;
struct pmp_report;

/* Sample types objects and space; a stack of one frame, the class, for each class and size. */
void pmp_objects_write_pprof(struct pmp_out *out, const struct pmp_report *report,
			     const struct pmp_census_classes *classes);

#endif
