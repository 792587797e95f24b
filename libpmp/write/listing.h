/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Equal lines counted together: stacks that differ in their addresses only read
 * the same. For the formats that are lines with counts.
 */
#ifndef PMP_WRITE_LISTING_H
#define PMP_WRITE_LISTING_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct pmp_line {
	const char *text;	/* borrowed from the table; no newline */
	size_t length;
	uint64_t count;
};

struct pmp_intern;

/* All zero is an empty table, to be freed with pmp_listing_free(). */
struct pmp_listing {
	struct pmp_intern *table;
	struct pmp_line *lines;
	size_t count, capacity;
};

/* Add to the count of a line. 0 or PMP_ENOMEM. */
int pmp_listing_add(struct pmp_listing *lines, const struct pmp_buf *text, uint64_t count);
/* Sort with a comparison of struct pmp_line, such as pmp_listing_by_text(). */
void pmp_listing_sort(struct pmp_listing *lines, int (*compare)(const void *, const void *));
int pmp_listing_by_text(const void *a, const void *b);	/* ascending bytes */
void pmp_listing_free(struct pmp_listing *lines);

#endif
