/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Open addressing; at most half full. */
#include "table.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SIZE 64

struct pmp_slot {
	uint64_t key; /* 0: free */
	uint32_t number;
};

uint64_t pmp_hash_mix(uint64_t a, uint64_t b)
{
	uint64_t value = (a ^ b * 0xff51afd7ed558ccdu) + 0x9e3779b97f4a7c15u;

	value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
	value = (value ^ value >> 27) * 0x94d049bb133111ebu;
	return value ^ value >> 31;
}

uint64_t pmp_hash_text(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
	return pmp_hash_mix(hash, 1);
}

static struct pmp_slot *find(struct pmp_slot *slots, size_t size, uint64_t key)
{
	size_t i = pmp_hash_mix(key, 0) & (size - 1);

	while (slots[i].key && slots[i].key != key)
		i = (i + 1) & (size - 1);
	return &slots[i];
}

static bool grow(struct pmp_table *table)
{
	size_t size = table->size ? table->size * 2 : FIRST_SIZE;
	struct pmp_slot *slots;

	if (table->used * 2 < table->size)
		return true;
	slots = calloc(size, sizeof(*slots));
	if (!slots)
		return false;
	for (size_t i = 0; i < table->size; i++) {
		if (table->slots[i].key)
			*find(slots, size, table->slots[i].key) = table->slots[i];
	}
	free(table->slots);
	table->slots = slots;
	table->size = size;
	return true;
}

uint32_t *pmp_table_get(struct pmp_table *table, uint64_t key, uint32_t fresh, bool *added)
{
	struct pmp_slot *slot;

	key += !key;
	if (!grow(table))
		return NULL;
	slot = find(table->slots, table->size, key);
	if (added)
		*added = !slot->key;
	if (!slot->key) {
		*slot = (struct pmp_slot){ key, fresh };
		table->used++;
	}
	return &slot->number;
}

uint32_t *pmp_table_find(const struct pmp_table *table, uint64_t key)
{
	struct pmp_slot *slot;

	if (!table->size)
		return NULL;
	key += !key;
	slot = find(table->slots, table->size, key);
	return slot->key ? &slot->number : NULL;
}

void pmp_table_clear(struct pmp_table *table)
{
	if (table->size)
		memset(table->slots, 0, table->size * sizeof(*table->slots));
	table->used = 0;
}

void pmp_table_free(struct pmp_table *table)
{
	free(table->slots);
	*table = (struct pmp_table){ 0 };
}
