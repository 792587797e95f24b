/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A limit on the work that all files of a symbolizer may cause together. The contents of a
 * file decide how expensive it is to read, and a target decides how many files it maps.
 * When the budget is spent, the rest gets no names, lines or debug files.
 */
#ifndef PMP_RESOLVE_BUDGET_H
#define PMP_RESOLVE_BUDGET_H

#include <stdint.h>

struct pmp_budget {
	uint64_t steps; /* from one piece of debug information to the next */
	uint64_t bytes; /* of files whose checksums are computed */
	uint64_t rows;	/* of line tables, which take some 100 bytes of memory each */
};

/* steps and bytes take about half a minute of CPU time each. */
#define PMP_BUDGET \
	{ \
		.steps = (uint64_t)512 << 20, .bytes = (uint64_t)32 << 30, \
		.rows = (uint64_t)16 << 20 \
	}

#endif
