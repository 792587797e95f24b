/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Live blocks by first word and size. Initialize it to zero. */
#ifndef PMP_CENSUS_ROWS_H
#define PMP_CENSUS_ROWS_H

#include "base/hash.h"
#include "census.h"

struct pmp_census_rows {
	struct pmp_census_row *slots; /* a hash table; a slot without blocks is empty */
	size_t count, size;
	struct pmp_hash_key key; /* set with the first slots */
};

/* Count one block. 0 or PMP_ENOMEM. */
int pmp_census_rows_add(struct pmp_census_rows *rows, uint64_t word, uint64_t size);
void pmp_census_rows_clear(struct pmp_census_rows *rows);
void pmp_census_rows_free(struct pmp_census_rows *rows);
/* Move the rows to the front: the first rows->count slots are filled. Nothing can be added
 * after that. */
void pmp_census_rows_pack(struct pmp_census_rows *rows);

#endif
