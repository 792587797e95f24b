/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interning: an open-addressing table of (hash, id) for entries that are in
 * chunks and never move. A hit costs one hash, one probe and one comparison.
 * The hash has a key, because the strings come from targets.
 */
#include "base/intern.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"

#define FIRST_SLOTS 64		       /* a power of two */
#define CHUNK_SIZE ((size_t)64 * 1024) /* larger entries get their own chunk */
#define FIRST_CHUNK ((size_t)1024)     /* many tables stay small */

struct intern_slot {
	uint32_t hash;
	uint32_t number; /* id + 1; 0: free */
};

struct interned {
	size_t length;
	_Alignas(8) char data[];
};

struct chunk {
	struct chunk *next;
	_Alignas(8) char data[];
};

struct pmp_intern {
	struct intern_slot *slots;
	size_t slot_count;	   /* a power of two, at least twice the entries */
	struct interned **entries; /* by id */
	size_t count, capacity;
	struct chunk *chunks;
	char *free; /* unused part of the current chunk */
	size_t free_size, chunk_size;
	size_t chunks_size; /* of all chunks */
	struct pmp_hash_key key;
};

struct pmp_intern *pmp_intern_new(void)
{
	struct pmp_intern *table = calloc(1, sizeof(*table));

	if (!table)
		return NULL;
	table->slots = calloc(FIRST_SLOTS, sizeof(*table->slots));
	if (!table->slots) {
		free(table);
		return NULL;
	}
	table->slot_count = FIRST_SLOTS;
	table->chunk_size = FIRST_CHUNK;
	pmp_hash_key_make(&table->key);
	return table;
}

void pmp_intern_free(struct pmp_intern *table)
{
	if (!table)
		return;
	while (table->chunks) {
		struct chunk *next = table->chunks->next;

		free(table->chunks);
		table->chunks = next;
	}
	free(table->entries);
	free(table->slots);
	free(table);
}

/* The slot of these bytes, or the free one for them. */
static struct intern_slot *find_slot(const struct pmp_intern *table, uint32_t hash,
				     const void *data, size_t length)
{
	size_t mask = table->slot_count - 1;

	for (size_t i = hash & mask;; i = (i + 1) & mask) {
		struct intern_slot *slot = &table->slots[i];
		const struct interned *entry;

		if (!slot->number)
			return slot;
		if (slot->hash != hash)
			continue;
		entry = table->entries[slot->number - 1];
		if (entry->length == length &&
		    (length == 0 || memcmp(entry->data, data, length) == 0))
			return slot;
	}
}

/* Double the slots; false: no memory, with the table unchanged. */
static bool grow(struct pmp_intern *table)
{
	size_t mask = 2 * table->slot_count - 1;
	struct intern_slot *slots = calloc(mask + 1, sizeof(*slots));

	if (!slots)
		return false;
	for (size_t i = 0; i < table->slot_count; i++) {
		size_t to = table->slots[i].hash & mask;

		if (!table->slots[i].number)
			continue;
		while (slots[to].number)
			to = (to + 1) & mask;
		slots[to] = table->slots[i];
	}
	free(table->slots);
	table->slots = slots;
	table->slot_count = mask + 1;
	return true;
}

/* Allocate size bytes, aligned to 8, that never move. */
static void *place(struct pmp_intern *table, size_t size)
{
	bool own = size > CHUNK_SIZE / 4;
	size_t chunk_size = own ? size : table->chunk_size;
	struct chunk *chunk;

	if (size > table->free_size || own) {
		while (chunk_size < size)
			chunk_size *= 2;
		chunk = malloc(sizeof(*chunk) + chunk_size);
		if (!chunk)
			return NULL;
		chunk->next = table->chunks;
		table->chunks = chunk;
		table->chunks_size += sizeof(*chunk) + chunk_size;
		if (own)
			return chunk->data;
		table->free = chunk->data;
		table->free_size = chunk_size;
		if (table->chunk_size < CHUNK_SIZE)
			table->chunk_size *= 2;
	}
	table->free += size;
	table->free_size -= size;
	return table->free - size;
}

static struct interned *add_entry(struct pmp_intern *table, const void *data,
				  size_t length)
{
	struct interned *entry;

	if (length > SIZE_MAX / 2 ||
	    PMP_RESERVE(&table->entries, &table->capacity, table->count + 1))
		return NULL;
	entry = place(table, (sizeof(*entry) + length + 1 + 7) & ~(size_t)7);
	if (!entry)
		return NULL;
	entry->length = length;
	if (length)
		memcpy(entry->data, data, length);
	entry->data[length] = '\0';
	return entry;
}

uint32_t pmp_intern(struct pmp_intern *table, const void *data, size_t length)
{
	uint32_t hash = (uint32_t)pmp_hash_bytes(&table->key, data, length);
	struct intern_slot *slot = find_slot(table, hash, data, length);
	struct interned *entry;

	if (slot->number)
		return slot->number - 1;
	if (table->count >= PMP_INTERN_NONE - 1)
		return PMP_INTERN_NONE;
	if (2 * (table->count + 1) > table->slot_count) {
		if (!grow(table))
			return PMP_INTERN_NONE;
		slot = find_slot(table, hash, data, length);
	}
	entry = add_entry(table, data, length);
	if (!entry)
		return PMP_INTERN_NONE;
	table->entries[table->count++] = entry;
	*slot = (struct intern_slot){ .hash = hash, .number = (uint32_t)table->count };
	return slot->number - 1;
}

uint32_t pmp_intern_find(const struct pmp_intern *table, const void *data, size_t length)
{
	uint32_t hash = (uint32_t)pmp_hash_bytes(&table->key, data, length);
	const struct intern_slot *slot = find_slot(table, hash, data, length);

	return slot->number ? slot->number - 1 : PMP_INTERN_NONE;
}

size_t pmp_intern_count(const struct pmp_intern *table)
{
	return table->count;
}

size_t pmp_intern_size(const struct pmp_intern *table)
{
	return sizeof(*table) + table->slot_count * sizeof(*table->slots) +
	       table->capacity * sizeof(*table->entries) + table->chunks_size;
}

const void *pmp_intern_data(const struct pmp_intern *table, uint32_t id, size_t *length)
{
	if (id >= table->count) {
		if (length)
			*length = 0;
		return NULL;
	}
	if (length)
		*length = table->entries[id]->length;
	return table->entries[id]->data;
}
