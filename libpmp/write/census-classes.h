/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The blocks of a census by class and size, with names. */
#ifndef PMP_WRITE_CENSUS_CLASSES_H
#define PMP_WRITE_CENSUS_CLASSES_H

#include "base/buf.h"
#include "report/report.h"

struct pmp_census_class {
	size_t name;		    /* offset in names; "": blocks without a class */
	uint64_t smallest, largest; /* usable bytes of a block; 0: unknown */
	uint64_t blocks, bytes;
};

struct pmp_census_classes {
	struct pmp_buf names;
	struct pmp_census_class *items;
	size_t count, capacity;
};

/* Look up names and merge blocks. by_size: keep different sizes apart; else only for
 * blocks without a class. Sorted by bytes, the most first. 0 or PMP_ENOMEM; must be freed
 * in any case. */
int pmp_census_classes_make(struct pmp_census_classes *classes,
			    const struct pmp_report *report, bool by_size);
void pmp_census_classes_free(struct pmp_census_classes *classes);
const char *pmp_census_class_name(const struct pmp_census_classes *classes, size_t i);

#endif
