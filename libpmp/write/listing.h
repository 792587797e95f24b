/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Equal lines counted together: stacks that differ in their addresses only read the
 * same. For the formats that are lines with counts. A line is a path whose names
 * are joined by a separator; it is never put together before it is written, as a
 * million of them would fill the memory.
 */
#ifndef PMP_WRITE_LISTING_H
#define PMP_WRITE_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "write/paths.h"

struct pmp_line {
	const struct pmp_path *path;
	uint64_t count;
	uint64_t base; /* unscaled */
};

/* The first three are to be set, with paths already made. */
struct pmp_listing {
	const struct pmp_paths *paths;
	char separator;
	bool leaf_first;

	struct pmp_line *lines;
	size_t count;
};

/* Find the lines, sorted by their bytes. 0 or PMP_ENOMEM. */
int pmp_listing_make(struct pmp_listing *listing);
/* The most frequent first; equal ones the other way round than before. */
void pmp_listing_by_count(struct pmp_listing *listing);
void pmp_listing_put(struct pmp_buf *buf, const struct pmp_listing *listing,
		     const struct pmp_line *line);
void pmp_listing_free(struct pmp_listing *listing);

#endif
