/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The effort that a pass of a census may spend without finding blocks: on searching for
 * heaps, for the next valid chunk and along lists of free blocks, and on rereading. A
 * process can claim terabytes that do not exist, or make each chunk lead nowhere. Finding
 * blocks refunds the cost of the search, so the effort suffices for a real heap of any
 * size.
 */
#ifndef PMP_CENSUS_EFFORT_H
#define PMP_CENSUS_EFFORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"

/* In steps of about 4 ns: examining a word that has been read takes one. */
#define PMP_EFFORT_MAX (UINT64_C(1) << 29)
#define PMP_EFFORT_PAGE 16	   /* checking whether a page is present */
#define PMP_EFFORT_READ 256	   /* a separate read */
#define PMP_EFFORT_AGAIN (1 << 19) /* a wait, and up to eight windows */

struct pmp_census_effort {
	uint64_t left, most;
};

/* False: none left. */
static inline bool pmp_effort_spend(struct pmp_census_effort *effort, uint64_t steps)
{
	if (effort->left < steps && !PMP_FAULT("census-endless")) {
		effort->left = 0;
		return false;
	}
	effort->left -= steps;
	return true;
}

static inline void pmp_effort_renew(struct pmp_census_effort *effort, uint64_t most)
{
	effort->left = effort->most = most;
}

static inline void pmp_effort_give(struct pmp_census_effort *effort, uint64_t steps)
{
	const uint64_t spent = effort->most - effort->left;

	effort->left += steps < spent ? steps : spent;
}

#endif
