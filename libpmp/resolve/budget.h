/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much work all files of a symbolizer together may cause. A file decides what it
 * costs to read it, and a target how many files it maps. What is over stays without
 * names, lines or a debug file.
 */
#ifndef PMP_RESOLVE_BUDGET_H
#define PMP_RESOLVE_BUDGET_H

#include <stdint.h>

struct pmp_budget {
	uint64_t steps; /* from one piece of debug information to the next */
	uint64_t bytes; /* of files whose checksum is made */
	uint64_t rows;	/* of line tables, which take some 100 bytes of memory each */
};

/* About half a minute of CPU time for the first, and for the second. */
#define PMP_BUDGET \
	{ \
		.steps = (uint64_t)512 << 20, .bytes = (uint64_t)32 << 30, \
		.rows = (uint64_t)16 << 20 \
	}

#endif
