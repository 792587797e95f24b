/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A hash table from 64-bit keys to 32-bit numbers, and hashes to make keys of. */
#ifndef PMP_PMP_VIEW_TABLE_H
#define PMP_PMP_VIEW_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pmp_table {
	struct pmp_slot *slots;
	size_t size, used; /* size: a power of two, or 0 */
};

/**
 * Where the number of a key is, made with the value fresh if it is new (which *added,
 * unless NULL, tells). NULL: no memory. Valid until the next call.
 */
uint32_t *pmp_table_get(struct pmp_table *table, uint64_t key, uint32_t fresh, bool *added);
/** NULL if there is none. */
uint32_t *pmp_table_find(const struct pmp_table *table, uint64_t key);
/** Empty it, but keep its memory. */
void pmp_table_clear(struct pmp_table *table);
void pmp_table_free(struct pmp_table *table);

uint64_t pmp_hash_mix(uint64_t a, uint64_t b);
uint64_t pmp_hash_text(const char *text);

#endif
