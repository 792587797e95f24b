/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Growing arrays and copies of bytes: the only places that compute sizes. */
#include "base/alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "libpmp.h"

#define FIRST_CAPACITY 8
#define BYTES_MAX ((size_t)PTRDIFF_MAX) /* no object is larger */

int pmp_array_reserve(void **array, size_t *capacity, size_t need, size_t size)
{
	size_t wanted = FIRST_CAPACITY;
	void *items, *grown;

	if (need <= *capacity)
		return 0;
	if (need > BYTES_MAX / size)
		return PMP_ENOMEM;
	/* need is below SIZE_MAX / 2, and so is the capacity. */
	if (wanted < 2 * *capacity)
		wanted = 2 * *capacity;
	if (wanted < need || wanted > BYTES_MAX / size)
		wanted = need;
	/* The caller's pointer has another type than void *: memcpy avoids a
	 * strict-aliasing violation. */
	memcpy(&items, array, sizeof(items));
	grown = realloc(items, wanted * size);
	if (!grown)
		return PMP_ENOMEM;
	memcpy(array, &grown, sizeof(grown));
	*capacity = wanted;
	/* cppcheck-suppress memleak ; *array has it */
	return 0;
}

char *pmp_copy(const void *data, size_t length)
{
	char *copy;

	if (length >= BYTES_MAX)
		return NULL;
	copy = malloc(length + 1);
	if (!copy)
		return NULL;
	if (length)
		memcpy(copy, data, length);
	copy[length] = '\0';
	return copy;
}
