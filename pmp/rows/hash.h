/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A hash table from 64-bit keys to 32-bit numbers, and hash functions to make keys. */
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
 * The number stored for a key; a new key gets the value fresh, and *added, unless NULL,
 * says whether it is new. NULL: no memory. Valid until the next call.
 */
uint32_t *hash_get(struct hash *hash, uint64_t key, uint32_t fresh, bool *added);
/** The number stored for a key, or NULL. */
uint32_t *hash_find(const struct hash *hash, uint64_t key);
/** Remove all keys, but keep the memory. */
void hash_clear(struct hash *hash);
void hash_free(struct hash *hash);

uint64_t hash_mix(uint64_t a, uint64_t b);
uint64_t hash_text(const char *text);

#endif
