/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Binary search among items that begin with a uint64_t, an address for instance. */
#ifndef PMP_BASE_SEARCH_H
#define PMP_BASE_SEARCH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* How many of count items, of size bytes each and ascending, begin at or below a value. */
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

/* How many begin below a value: the number of the first one that does not. */
static inline size_t pmp_search_from(const void *items, size_t count, size_t size,
				     uint64_t value)
{
	return value ? pmp_search_after(items, count, size, value - 1) : 0;
}

#endif
