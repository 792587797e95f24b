/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copies structs of the public headers that begin with their size: a program may have been
 * compiled with an older header, where they are shorter, or a newer one.
 */
#ifndef PMP_BASE_SIZED_H
#define PMP_BASE_SIZED_H

#include <stddef.h>
#include <string.h>

/* Copy the caller's options (NULL: none) into ours, which are zeroed and of that size. */
static inline void pmp_sized_take(void *ours, size_t size, const void *callers)
{
	if (callers) {
		size_t given = *(const size_t *)callers;

		memcpy(ours, callers, given < size ? given : size);
	}
	*(size_t *)ours = size;
}

/* Fill the caller's struct from ours, up to its size, which stays. */
static inline void pmp_sized_give(void *callers, const void *ours, size_t size)
{
	size_t room = *(const size_t *)callers;

	memcpy(callers, ours, room < size ? room : size);
	*(size_t *)callers = room;
}

#endif
