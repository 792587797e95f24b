/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See census.h. */
#include "census.h"

#include <stdlib.h>
#include <string.h>

struct pmp_census *pmp_census_copy(const struct pmp_census_totals *totals,
				   const struct pmp_census_row *rows, size_t count)
{
	struct pmp_census *census = calloc(1, sizeof(*census));

	if (!census)
		return NULL;
	census->totals = *totals;
	census->rows = calloc(count + 1, sizeof(*rows));
	if (!census->rows) {
		free(census);
		return NULL;
	}
	if (count)
		memcpy(census->rows, rows, count * sizeof(*rows));
	census->row_count = count;
	return census;
}

void pmp_census_free(struct pmp_census *census)
{
	if (!census)
		return;
	free(census->rows);
	free(census);
}
