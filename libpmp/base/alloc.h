/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Growing arrays. Overflow is checked here, not at the call sites. */
#ifndef PMP_BASE_ALLOC_H
#define PMP_BASE_ALLOC_H

#include <stddef.h>

/*
 * Make room for at least `need` elements of `size` bytes. The capacity at least
 * doubles, so that appending n elements takes linear time. *array and *capacity
 * are unchanged on failure. New elements are not initialised. Returns 0 or
 * PMP_ENOMEM.
 */
int pmp_array_reserve(void **array, size_t *capacity, size_t need, size_t size);

/* The same, inlined for the common case that there is enough room. */
static inline int pmp_array_ensure(void **array, size_t *capacity, size_t need,
				   size_t size)
{
	return need <= *capacity ? 0 : pmp_array_reserve(array, capacity, need, size);
}

/* PMP_RESERVE(&v->items, &v->capacity, v->count + 1) */
#define PMP_RESERVE(array, capacity, need) \
	pmp_array_ensure((void **)(array), (capacity), (need), sizeof(**(array)))

/* malloc'ed copy of length bytes plus a NUL, or NULL. */
char *pmp_copy(const void *data, size_t length);

#endif
