/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See address-filter.h. A filter of pages rejects most symbols at once. */
#include "resolve/address-filter.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/search.h"

#define PAGE_SHIFT 12
#define FILTER_SHIFT 16 /* bits of the filter, as a power of two */
#define FILTER_PAGES 8	/* longer symbols always pass */
#define NO_START UINT64_MAX

struct pmp_address_filter {
	uint64_t *addresses; /* ascending */
	size_t count;
	bool *covered;	   /* is address i covered? */
	uint64_t *unknown; /* the last start of a symbol of unknown size that is after
			    * address i - 1 and not after address i, or NO_START */
	uint64_t pages[(1 << FILTER_SHIFT) / 64];
};

static unsigned filter_bit(uint64_t page)
{
	return (unsigned)pmp_hash_bits(page, FILTER_SHIFT);
}

static int ascending(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

struct pmp_address_filter *pmp_address_filter_new(const uint64_t *addresses, size_t count)
{
	struct pmp_address_filter *filter = calloc(1, sizeof(*filter));

	if (!filter)
		return NULL;
	filter->addresses = calloc(count, sizeof(*filter->addresses));
	filter->covered = calloc(count, sizeof(*filter->covered));
	filter->unknown = malloc(count * sizeof(*filter->unknown));
	if (!filter->addresses || !filter->covered || !filter->unknown) {
		pmp_address_filter_free(filter);
		return NULL;
	}
	filter->count = count;
	memcpy(filter->addresses, addresses, count * sizeof(*addresses));
	qsort(filter->addresses, count, sizeof(*filter->addresses), ascending);
	for (size_t i = 0; i < count; i++) {
		unsigned bit = filter_bit(filter->addresses[i] >> PAGE_SHIFT);

		filter->pages[bit / 64] |= UINT64_C(1) << bit % 64;
		filter->unknown[i] = NO_START;
	}
	return filter;
}

void pmp_address_filter_free(struct pmp_address_filter *filter)
{
	if (!filter)
		return;
	free(filter->addresses);
	free(filter->covered);
	free(filter->unknown);
	free(filter);
}

/* The index of the first address not below this one, or count. */
static size_t first_from(const struct pmp_address_filter *filter, uint64_t address)
{
	if (address == 0)
		return 0;
	return pmp_search_after(filter->addresses, filter->count,
				sizeof(*filter->addresses), address - 1);
}

bool pmp_address_filter_has(const struct pmp_address_filter *filter, uint64_t address)
{
	size_t i = first_from(filter, address);

	return i < filter->count && filter->addresses[i] == address;
}

/* False: no address is in any of these pages. */
static bool filter_passes(const struct pmp_address_filter *filter, uint64_t start,
			  uint64_t size)
{
	uint64_t first = start >> PAGE_SHIFT, last = (start + size - 1) >> PAGE_SHIFT;

	if (last < first || last - first >= FILTER_PAGES)
		return true;
	for (uint64_t page = first; page <= last; page++) {
		unsigned bit = filter_bit(page);

		if (filter->pages[bit / 64] >> bit % 64 & 1)
			return true;
	}
	return false;
}

bool pmp_address_filter_covers(struct pmp_address_filter *filter, uint64_t start,
			       uint64_t size)
{
	size_t first;

	if (size && !filter_passes(filter, start, size))
		return false;
	first = first_from(filter, start);
	if (first == filter->count)
		return false;
	if (size == 0) {
		if (filter->unknown[first] == NO_START || filter->unknown[first] < start)
			filter->unknown[first] = start;
		return false;
	}
	for (size_t i = first; i < filter->count && filter->addresses[i] - start < size;
	     i++)
		filter->covered[i] = true;
	return filter->addresses[first] - start < size;
}

bool pmp_address_filter_answered(const struct pmp_address_filter *filter,
				 uint64_t (*end_of)(void *arg, uint64_t start), void *arg)
{
	uint64_t last = NO_START;

	for (size_t i = 0; i < filter->count; i++) {
		if (filter->unknown[i] != NO_START)
			last = filter->unknown[i];
		if (!filter->covered[i] && last != NO_START &&
		    filter->addresses[i] < end_of(arg, last))
			return false;
	}
	return true;
}
