/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The longest of some times in a window that ends now. What leaves the window cannot be
 * taken off a maximum: so there is one for each part of the window, and those of parts that
 * are too old are not asked. A window reaches back by up to a part more than its length.
 */
#ifndef PMP_TALLY_LONGEST_H
#define PMP_TALLY_LONGEST_H

#include <stdint.h>

#define PMP_LONGEST_PARTS 6

/* Zero it. Times are kept in ms. */
struct pmp_longest {
	uint32_t part; /* that was added to last */
	uint32_t most[PMP_LONGEST_PARTS];
};

/* Times in ns; now never decreases. window: how long it is. */
void pmp_longest_add(struct pmp_longest *longest, uint64_t window, uint64_t now,
		     uint64_t time);
uint64_t pmp_longest_get(const struct pmp_longest *longest, uint64_t window,
			 uint64_t now);

#endif
