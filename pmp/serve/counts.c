/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See counts.h. */
#include "serve/counts.h"

#include <sys/mman.h>

/* All statuses that are sent; any other counts as the last one. */
static const int statuses[] = {
	200, 400, 401, 403, 404, 405, 408, 410, 413,
	414, 417, 421, 431, 501, 503, 505, 500,
};

#define STATUS_COUNT (sizeof(statuses) / sizeof(*statuses))

_Static_assert(STATUS_COUNT <= COUNTS_STATUSES, "columns for all of them");

struct serve_counts *counts_new(void)
{
	void *counts = mmap(NULL, sizeof(struct serve_counts), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return counts == MAP_FAILED ? NULL : counts;
}

void counts_free(struct serve_counts *counts)
{
	if (counts)
		munmap(counts, sizeof(*counts));
}

void counts_add(struct serve_counts *counts, ptrdiff_t page, int status)
{
	size_t row = page < 0 || page >= COUNTS_PAGES ? COUNTS_PAGES - 1 : (size_t)page;
	size_t column = 0;

	while (column + 1 < STATUS_COUNT && statuses[column] != status)
		column++;
	counts->requests[row][column]++;
}

int counts_status(size_t i)
{
	return i < STATUS_COUNT ? statuses[i] : 0;
}
