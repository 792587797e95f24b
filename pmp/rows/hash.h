/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A hash table from 64-bit keys to 32-bit numbers, and hashes to make keys of. */
#ifndef PMP_ROWS_HASH_H
#define PMP_ROWS_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hash {
	struct hash_slot *slots;
	size_t size, used; /* size: a power of two, or 0 */
};

/**
 * Where the number of a key is, made with the value fresh if it is new (which *added,
 * unless NULL, says whether it is new). NULL: no memory. Valid until the next call.
 */
uint32_t *hash_get(struct hash *hash, uint64_t key, uint32_t fresh, bool *added);
/** NULL if there is none. */
uint32_t *hash_find(const struct hash *hash, uint64_t key);
/** Empty it, but keep its memory. */
void hash_clear(struct hash *hash);
void hash_free(struct hash *hash);

uint64_t hash_mix(uint64_t a, uint64_t b);
uint64_t hash_text(const char *text);

#endif
