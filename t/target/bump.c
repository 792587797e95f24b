/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An allocator that counts the calls of malloc() and free() that come to it; to be preloaded.
 * It gives memory away in a row, and takes none back. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ROOM ((size_t)64 << 20)
#define ALIGN ((size_t)16)

static _Alignas(16) unsigned char room[ROOM];
static size_t used;
static uint64_t calls;

uint64_t bump_calls(void);
size_t malloc_usable_size(void *block);

static void *take(size_t size)
{
	const size_t whole = ((size + ALIGN - 1) & ~(ALIGN - 1)) + ALIGN;
	const size_t at = __atomic_fetch_add(&used, whole, __ATOMIC_RELAXED);

	if (size > ROOM || at + whole > ROOM)
		return NULL;
	memcpy(room + at, &size, sizeof(size));
	return room + at + ALIGN;
}

void *malloc(size_t size)
{
	__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
	return take(size);
}

void free(void *block)
{
	if (block)
		__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
}

void *calloc(size_t count, size_t size)
{
	return take(count * size);
}

size_t malloc_usable_size(void *block)
{
	size_t size = 0;

	if (block)
		memcpy(&size, (unsigned char *)block - ALIGN, sizeof(size));
	return size;
}

void *realloc(void *block, size_t size)
{
	const size_t had = malloc_usable_size(block);
	void *moved = take(size);

	if (moved && had)
		memcpy(moved, block, had < size ? had : size);
	return moved;
}

uint64_t bump_calls(void)
{
	return __atomic_load_n(&calls, __ATOMIC_RELAXED);
}
