/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Addresses for the formats that need them. Locations are numbered as they are used, and
 * their mappings are placed side by side: processes share addresses, and a library may
 * have been unmapped and another mapped in its place. Of overlapping mappings all but the
 * first move to free addresses.
 */
#ifndef PMP_WRITE_ADDRESS_LAYOUT_H
#define PMP_WRITE_ADDRESS_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "report/report.h"

#define PMP_LAYOUT_NOWHERE 1 /* used for address 0, which ends a stack for readers */

struct pmp_placed_mapping {
	struct pmp_mapping mapping; /* start and end: where it is placed */
	uint64_t start;		    /* its original start */
	bool named;		    /* a location in it has a name, ... */
	bool lines, inlines;	    /* ... a line, inlined functions */
};

/* Set report and leave the rest zero; free with pmp_layout_free(). */
struct pmp_address_layout {
	const struct pmp_report *report;
	uint32_t *numbers; /* by location; 0: unused */
	size_t number_count, number_capacity;
	pmp_location *used; /* by number - 1 */
	size_t used_count, used_capacity;
	uint32_t *indices; /* by mapping number: 1 + index in mappings */
	size_t index_count, index_capacity;
	struct pmp_placed_mapping *mappings;
	size_t mapping_count, mapping_capacity;
};

/* The number of a location: 1, 2, ... in order of first use. 0: no memory. */
uint32_t pmp_layout_use(struct pmp_address_layout *layout, pmp_location location);
/* Use all locations of these entries in order, then settle. 0 or PMP_ENOMEM. */
int pmp_layout_use_all(struct pmp_address_layout *layout,
		       const struct pmp_entry *const *entries, size_t count);
/*
 * Place each mapping, once all locations have been used. The mapping of the program,
 * whose file is named like process, becomes the first. 0 or PMP_ENOMEM.
 */
int pmp_layout_settle(struct pmp_address_layout *layout, const char *process);
/* The address of a location as placed; for a call, its return address. *exact: it is not
 * a call. *mapping: its index, or SIZE_MAX: none. */
uint64_t pmp_layout_address(const struct pmp_address_layout *layout,
			    pmp_location location, bool *exact, size_t *mapping);
/* The same for readers that subtract 1 from every address: 1 is added to exact ones. */
uint64_t pmp_layout_return_address(const struct pmp_address_layout *layout,
				   pmp_location location);
/* For addresses that readers do not adjust: those of innermost locations. */
uint64_t pmp_layout_pc(const struct pmp_address_layout *layout, pmp_location location);
/* Append the mappings as lines of /proc/PID/maps. words: paths as pmp_name_path() writes
 * them; else only newlines are escaped. */
void pmp_layout_put_maps(const struct pmp_address_layout *layout, bool words,
			 struct pmp_buf *buf);
void pmp_layout_free(struct pmp_address_layout *layout);

#endif
