/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The longest time in a window that ends now. A value that leaves the window cannot be
 * subtracted from a maximum, so each part of the window has a maximum of its own, and parts
 * that are too old are ignored. The window reaches back by up to one part more than its
 * length.
 */
#ifndef PMP_TALLY_LONGEST_H
#define PMP_TALLY_LONGEST_H

#include <stdint.h>

#define PMP_LONGEST_PARTS 6

/* Zero it. Times are kept in ms. */
struct pmp_longest {
	uint32_t part; /* the one that was added to last */
	uint32_t most[PMP_LONGEST_PARTS];
};

/* All times in ns; now never decreases. window: its length. */
void pmp_longest_add(struct pmp_longest *longest, uint64_t window, uint64_t now,
		     uint64_t time);
uint64_t pmp_longest_get(const struct pmp_longest *longest, uint64_t window,
			 uint64_t now);

#endif
