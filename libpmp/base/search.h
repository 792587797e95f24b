/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Binary search among items that begin with a uint64_t, for example an address. */
#ifndef PMP_BASE_SEARCH_H
#define PMP_BASE_SEARCH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The number of items at or below a value, of count ascending items of size bytes each. */
static inline size_t pmp_search_after(const void *items, size_t count, size_t size,
				      uint64_t value)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		uint64_t start;

		memcpy(&start, (const char *)items + middle * size, sizeof(start));
		if (start <= value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The number of items below a value: the index of the first one that is not. */
static inline size_t pmp_search_from(const void *items, size_t count, size_t size,
				     uint64_t value)
{
	return value ? pmp_search_after(items, count, size, value - 1) : 0;
}

#endif
