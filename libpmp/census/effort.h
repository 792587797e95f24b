/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a pass of a census may spend where it finds no blocks: on looking for heaps, for where
 * to go on and along lists of free blocks, and on reading again. A process can claim terabytes
 * that are not there, or have each chunk lead nowhere. Blocks that are found give back what
 * the search for them has cost, so whatever the size of a real heap, the effort suffices.
 */
#ifndef PMP_CENSUS_EFFORT_H
#define PMP_CENSUS_EFFORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"

/* In steps, each of about 4 ns: looking at a word that has been read is one. */
#define PMP_EFFORT_MAX (UINT64_C(1) << 29)
#define PMP_EFFORT_PAGE 16	   /* asking whether a page is there */
#define PMP_EFFORT_READ 256	   /* a read of its own */
#define PMP_EFFORT_AGAIN (1 << 19) /* a wait, and up to eight windows */

struct pmp_census_effort {
	uint64_t left, most;
};

/* False: there is none left. */
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
