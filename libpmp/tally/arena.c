/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A bump allocator: pieces are taken one after the other and freed all at once. */
#include "tally/arena.h"

#include <sys/mman.h>

#include "libpmp.h"

#define ARENA_SIZE ((size_t)16 << 20)

bool pmp_arena_init(struct pmp_arena *arena)
{
	/* Unused parts cost no memory, nor the time of a malloc() that checks. */
	void *memory = mmap(NULL, ARENA_SIZE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	*arena = (struct pmp_arena){ .memory = memory != MAP_FAILED ? memory : NULL };
	return arena->memory;
}

void pmp_arena_free(struct pmp_arena *arena)
{
	if (arena->memory)
		munmap(arena->memory, ARENA_SIZE);
}

static void *take(void *arg, size_t size)
{
	struct pmp_arena *arena = arg;
	uint8_t *piece = arena->memory + arena->used;

	if (size > ARENA_SIZE - arena->used) {
		arena->full = true;
		return NULL;
	}
	size = (size + 15) & ~(size_t)15;
	if (size > ARENA_SIZE - arena->used)
		size = ARENA_SIZE - arena->used;
	arena->used += size;
	return piece;
}

static void give_back(void *arg, void *piece)
{
	(void)arg;
	(void)piece;
}

int pmp_arena_decode(struct pmp_arena *arena,
		     const ProtobufCMessageDescriptor *descriptor, const uint8_t *data,
		     size_t length, void *message)
{
	ProtobufCAllocator allocator = { take, give_back, arena };
	ProtobufCMessage **result = message;

	arena->used = 0;
	arena->full = false;
	*result = protobuf_c_message_unpack(descriptor, &allocator, length, data);
	if (*result)
		return 0;
	return arena->full ? PMP_ELIMIT : PMP_EFORMAT;
}
