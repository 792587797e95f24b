/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Addresses for the formats that have them: locations are numbered as they are
 * used, and the mappings that they are in are put side by side. Processes share
 * addresses, and a library may have been unmapped and another one mapped in its
 * place: of mappings that overlap all but the first are moved where there is room.
 */
#ifndef PMP_WRITE_ADDRESS_LAYOUT_H
#define PMP_WRITE_ADDRESS_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "report/report.h"

#define PMP_LAYOUT_NOWHERE 1 /* in place of address 0, at which readers stop */

struct pmp_placed_mapping {
	struct pmp_mapping mapping; /* start and end: where it is now */
	uint64_t start;		    /* where it was */
	bool named;		    /* some location in it has a name, */
	bool lines, inlines;	    /* a line, inlined functions */
};

/* All zero but report is an empty one, to be freed with pmp_layout_free(). */
struct pmp_address_layout {
	const struct pmp_report *report;
	uint32_t *numbers; /* by location; 0: not used */
	size_t number_count, number_capacity;
	pmp_location *used; /* by number - 1 */
	size_t used_count, used_capacity;
	uint32_t *indices; /* by mapping: index of mappings, plus 1 */
	size_t index_count, index_capacity;
	struct pmp_placed_mapping *mappings;
	size_t mapping_count, mapping_capacity;
};

/* The number of a location: 1, 2, ... in the order of use. 0: no memory. */
uint32_t pmp_layout_use(struct pmp_address_layout *layout, pmp_location location);
/* Use those of these entries, in this order, and settle. 0 or PMP_ENOMEM. */
int pmp_layout_use_all(struct pmp_address_layout *layout,
		       const struct pmp_entry *const *entries, size_t count);
/*
 * All locations have been used: find room for each mapping. The program's comes
 * first: that of a file named like process. 0 or PMP_ENOMEM.
 */
int pmp_layout_settle(struct pmp_address_layout *layout, const char *process);
/* Where a location is now, the return address of a call as it is; its mapping as an
 * index, or SIZE_MAX when there is none. */
uint64_t pmp_layout_address(const struct pmp_address_layout *layout,
			    pmp_location location, bool *exact, size_t *mapping);
/* The same for readers that take 1 off: of what is exact, as it was interrupted, the address
 * after it. */
uint64_t pmp_layout_return_address(const struct pmp_address_layout *layout,
				   pmp_location location);
/* For those that do not: of the innermost one. */
uint64_t pmp_layout_pc(const struct pmp_address_layout *layout, pmp_location location);
/* Append the mappings as lines of /proc/PID/maps. words: with paths as pmp_name_path() has
 * them, else only without ends of lines. */
void pmp_layout_put_maps(const struct pmp_address_layout *layout, bool words,
			 struct pmp_buf *buf);
void pmp_layout_free(struct pmp_address_layout *layout);

#endif
