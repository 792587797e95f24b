/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Open addressing, at most half full. Not uthash: keys are hashes already, a slot takes
 * 16 bytes without a pointer, and the tables are refilled for each screen, from a hundred
 * thousand stacks, while a key waits for the rows.
 */
#include "rows/hash.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SIZE 64

struct hash_slot {
	uint64_t key; /* 0: free */
	uint32_t number;
};

uint64_t hash_mix(uint64_t a, uint64_t b)
{
	uint64_t value = (a ^ b * 0xff51afd7ed558ccdu) + 0x9e3779b97f4a7c15u;

	value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
	value = (value ^ value >> 27) * 0x94d049bb133111ebu;
	return value ^ value >> 31;
}

uint64_t hash_text(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
	return hash_mix(hash, 1);
}

static struct hash_slot *find(struct hash_slot *slots, size_t size, uint64_t key)
{
	size_t i = hash_mix(key, 0) & (size - 1);

	while (slots[i].key && slots[i].key != key)
		i = (i + 1) & (size - 1);
	return &slots[i];
}

static bool grow(struct hash *hash)
{
	size_t size = hash->size ? hash->size * 2 : FIRST_SIZE;
	struct hash_slot *slots;

	if (hash->used * 2 < hash->size)
		return true;
	slots = calloc(size, sizeof(*slots));
	if (!slots)
		return false;
	for (size_t i = 0; i < hash->size; i++) {
		if (hash->slots[i].key)
			*find(slots, size, hash->slots[i].key) = hash->slots[i];
	}
	free(hash->slots);
	hash->slots = slots;
	hash->size = size;
	return true;
}

uint32_t *hash_get(struct hash *hash, uint64_t key, uint32_t fresh, bool *added)
{
	struct hash_slot *slot;

	key += !key;
	if (!grow(hash))
		return NULL;
	slot = find(hash->slots, hash->size, key);
	if (added)
		*added = !slot->key;
	if (!slot->key) {
		*slot = (struct hash_slot){ key, fresh };
		hash->used++;
	}
	return &slot->number;
}

uint32_t *hash_find(const struct hash *hash, uint64_t key)
{
	struct hash_slot *slot;

	if (!hash->size)
		return NULL;
	key += !key;
	slot = find(hash->slots, hash->size, key);
	return slot->key ? &slot->number : NULL;
}

void hash_clear(struct hash *hash)
{
	if (hash->size)
		memset(hash->slots, 0, hash->size * sizeof(*hash->slots));
	hash->used = 0;
}

void hash_free(struct hash *hash)
{
	free(hash->slots);
	*hash = (struct hash){ 0 };
}
