/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decoding nested messages with protobuf-c, one at a time, into an arena of fixed size:
 * this limits the memory that a message can take.
 */
#ifndef PMP_TALLY_ARENA_H
#define PMP_TALLY_ARENA_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pmp_arena {
	uint8_t *memory;
	size_t used;
	bool full;
};

/* False: out of memory. */
bool pmp_arena_init(struct pmp_arena *arena);
void pmp_arena_free(struct pmp_arena *arena);
/* Decode a message; *message is valid until the next call. 0, PMP_EFORMAT, PMP_ELIMIT. */
int pmp_arena_decode(struct pmp_arena *arena,
		     const ProtobufCMessageDescriptor *descriptor, const uint8_t *data,
		     size_t length, void *message);

#endif
