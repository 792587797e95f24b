/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See rows.h: open addressing, at most half full. */
#include "census/rows.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "libpmp.h"

#define FIRST_SIZE 1024
#define FEW (PMP_CENSUS_ROWS_MAX / 2) /* beyond that, sizes are merged */

static struct pmp_census_row *find(const struct pmp_census_rows *rows, uint64_t word,
				   uint64_t bytes)
{
	struct pmp_census_row *slots = rows->slots;
	size_t i = pmp_hash_pair(&rows->key, word, bytes) & (rows->size - 1);

	while (slots[i].blocks && (slots[i].word != word || slots[i].size != bytes))
		i = (i + 1) & (rows->size - 1);
	return &slots[i];
}

static int grow(struct pmp_census_rows *rows)
{
	struct pmp_census_rows grown = *rows;

	grown.size = rows->size ? rows->size * 2 : FIRST_SIZE;
	grown.slots = calloc(grown.size, sizeof(*grown.slots));
	if (!grown.slots)
		return PMP_ENOMEM;
	if (!rows->size)
		pmp_hash_key_make(&grown.key);
	for (size_t i = 0; i < rows->size; i++) {
		const struct pmp_census_row *row = &rows->slots[i];

		if (row->blocks)
			*find(&grown, row->word, row->size) = *row;
	}
	free(rows->slots);
	*rows = grown;
	return 0;
}

/* The row to count in; without blocks, it is new. */
static struct pmp_census_row *choose(struct pmp_census_rows *rows, uint64_t word,
				     uint64_t size)
{
	struct pmp_census_row *row = find(rows, word, size);

	if (row->blocks || rows->count < FEW)
		return row;
	row = find(rows, word, 0);
	if (row->blocks || rows->count < PMP_CENSUS_ROWS_MAX - 1)
		return row;
	return find(rows, 0, 0);
}

int pmp_census_rows_add(struct pmp_census_rows *rows, uint64_t word, uint64_t size)
{
	struct pmp_census_row *row;

	if (2 * (rows->count + 1) > rows->size && grow(rows))
		return PMP_ENOMEM;
	row = choose(rows, word, size);
	if (!row->blocks) {
		const bool whole = rows->count < FEW;

		row->size = whole ? size : 0;
		row->word = rows->count < PMP_CENSUS_ROWS_MAX - 1 ? word : 0;
		rows->count++;
	}
	row->blocks++;
	row->bytes += size;
	return 0;
}

void pmp_census_rows_clear(struct pmp_census_rows *rows)
{
	if (rows->size)
		memset(rows->slots, 0, rows->size * sizeof(*rows->slots));
	rows->count = 0;
}

void pmp_census_rows_free(struct pmp_census_rows *rows)
{
	free(rows->slots);
	*rows = (struct pmp_census_rows){ 0 };
}

void pmp_census_rows_pack(struct pmp_census_rows *rows)
{
	size_t kept = 0;

	for (size_t i = 0; i < rows->size; i++)
		if (rows->slots[i].blocks)
			rows->slots[kept++] = rows->slots[i];
}
