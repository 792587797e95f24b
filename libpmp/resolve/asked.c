/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See asked.h. A filter of pages turns most symbols away at once. */
#include "resolve/asked.h"

#include <stdlib.h>
#include <string.h>

#include "resolve/ranges.h"

#define PAGE_SHIFT 12
#define FILTER_SHIFT 16 /* bits of the filter, as a power of two */
#define FILTER_PAGES 8	/* of longer symbols it says nothing */
#define NO_START UINT64_MAX

struct pmp_asked {
	uint64_t *addresses; /* ascending */
	size_t count;
	bool *covered;	   /* is the i-th? */
	uint64_t *unknown; /* the last start of unknown size that is after the i-1-th
			    * and not after the i-th, or NO_START */
	uint64_t filter[(1 << FILTER_SHIFT) / 64];
};

static unsigned filter_bit(uint64_t page)
{
	return (unsigned)(page * UINT64_C(0x9e3779b97f4a7c15) >> (64 - FILTER_SHIFT));
}

static int ascending(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

struct pmp_asked *pmp_asked_new(const uint64_t *addresses, size_t count)
{
	struct pmp_asked *asked = calloc(1, sizeof(*asked));

	if (!asked)
		return NULL;
	asked->addresses = calloc(count, sizeof(*asked->addresses));
	asked->covered = calloc(count, sizeof(*asked->covered));
	asked->unknown = malloc(count * sizeof(*asked->unknown));
	if (!asked->addresses || !asked->covered || !asked->unknown) {
		pmp_asked_free(asked);
		return NULL;
	}
	asked->count = count;
	memcpy(asked->addresses, addresses, count * sizeof(*addresses));
	qsort(asked->addresses, count, sizeof(*asked->addresses), ascending);
	for (size_t i = 0; i < count; i++) {
		unsigned bit = filter_bit(asked->addresses[i] >> PAGE_SHIFT);

		asked->filter[bit / 64] |= UINT64_C(1) << bit % 64;
		asked->unknown[i] = NO_START;
	}
	return asked;
}

void pmp_asked_free(struct pmp_asked *asked)
{
	if (!asked)
		return;
	free(asked->addresses);
	free(asked->covered);
	free(asked->unknown);
	free(asked);
}

/* The first that is not below an address, or count. */
static size_t first_from(const struct pmp_asked *asked, uint64_t address)
{
	if (address == 0)
		return 0;
	return pmp_ranges_after(asked->addresses, asked->count, sizeof(*asked->addresses),
				address - 1);
}

bool pmp_asked_has(const struct pmp_asked *asked, uint64_t address)
{
	size_t i = first_from(asked, address);

	return i < asked->count && asked->addresses[i] == address;
}

/* False: no address is in any of these pages. */
static bool filter_passes(const struct pmp_asked *asked, uint64_t start, uint64_t size)
{
	uint64_t first = start >> PAGE_SHIFT, last = (start + size - 1) >> PAGE_SHIFT;

	if (last < first || last - first >= FILTER_PAGES)
		return true;
	for (uint64_t page = first; page <= last; page++) {
		unsigned bit = filter_bit(page);

		if (asked->filter[bit / 64] >> bit % 64 & 1)
			return true;
	}
	return false;
}

bool pmp_asked_covers(struct pmp_asked *asked, uint64_t start, uint64_t size)
{
	size_t first;

	if (size && !filter_passes(asked, start, size))
		return false;
	first = first_from(asked, start);
	if (first == asked->count)
		return false;
	if (size == 0) {
		if (asked->unknown[first] == NO_START || asked->unknown[first] < start)
			asked->unknown[first] = start;
		return false;
	}
	for (size_t i = first; i < asked->count && asked->addresses[i] - start < size;
	     i++)
		asked->covered[i] = true;
	return asked->addresses[first] - start < size;
}

bool pmp_asked_answered(const struct pmp_asked *asked,
			uint64_t (*end_of)(void *arg, uint64_t start), void *arg)
{
	uint64_t last = NO_START;

	for (size_t i = 0; i < asked->count; i++) {
		if (asked->unknown[i] != NO_START)
			last = asked->unknown[i];
		if (!asked->covered[i] && last != NO_START &&
		    asked->addresses[i] < end_of(arg, last))
			return false;
	}
	return true;
}
