/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See address-set.h: open addressing, at most half full. */
#include "census/address-set.h"

#include <stdlib.h>

#include "libpmp.h"

#define FIRST_SIZE 256

/* The slot of an address, or the free one for it. */
static uint64_t *find(const struct pmp_address_set *set, uint64_t address)
{
	size_t i = pmp_hash_pair(&set->key, address, 0) & (set->size - 1);

	while (set->slots[i] && set->slots[i] != address)
		i = (i + 1) & (set->size - 1);
	return &set->slots[i];
}

static int grow(struct pmp_address_set *set)
{
	struct pmp_address_set grown = *set;

	grown.size = set->size ? set->size * 2 : FIRST_SIZE;
	grown.slots = calloc(grown.size, sizeof(*grown.slots));
	if (!grown.slots)
		return PMP_ENOMEM;
	if (!set->size)
		pmp_hash_key_make(&grown.key);
	for (size_t i = 0; i < set->size; i++)
		if (set->slots[i])
			*find(&grown, set->slots[i]) = set->slots[i];
	free(set->slots);
	*set = grown;
	return 0;
}

int pmp_address_set_add(struct pmp_address_set *set, uint64_t address)
{
	if (!address || pmp_address_set_has(set, address))
		return 0;
	if (2 * (set->count + 1) > set->size && grow(set))
		return PMP_ENOMEM;
	*find(set, address) = address;
	set->count++;
	return 0;
}

bool pmp_address_set_has(const struct pmp_address_set *set, uint64_t address)
{
	return set->count && *find(set, address);
}

void pmp_address_set_free(struct pmp_address_set *set)
{
	free(set->slots);
	*set = (struct pmp_address_set){ 0 };
}
