/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See address-set.h: open addressing, at most half full. */
#include "census/address-set.h"

#include <stdlib.h>

#include "base/hash.h"
#include "libpmp.h"

#define FIRST_SIZE 256

static void put(uint64_t *slots, size_t size, uint64_t address)
{
	size_t i = pmp_hash(address) & (size - 1);

	while (slots[i])
		i = (i + 1) & (size - 1);
	slots[i] = address;
}

static int grow(struct pmp_address_set *set)
{
	const size_t size = set->size ? set->size * 2 : FIRST_SIZE;
	uint64_t *slots = calloc(size, sizeof(*slots));

	if (!slots)
		return PMP_ENOMEM;
	for (size_t i = 0; i < set->size; i++)
		if (set->slots[i])
			put(slots, size, set->slots[i]);
	free(set->slots);
	set->slots = slots;
	set->size = size;
	return 0;
}

int pmp_address_set_add(struct pmp_address_set *set, uint64_t address)
{
	if (!address || pmp_address_set_has(set, address))
		return 0;
	if (2 * (set->count + 1) > set->size && grow(set))
		return PMP_ENOMEM;
	put(set->slots, set->size, address);
	set->count++;
	return 0;
}

bool pmp_address_set_has(const struct pmp_address_set *set, uint64_t address)
{
	size_t i;

	if (!set->count)
		return false;
	i = pmp_hash(address) & (set->size - 1);
	while (set->slots[i]) {
		if (set->slots[i] == address)
			return true;
		i = (i + 1) & (set->size - 1);
	}
	return false;
}

void pmp_address_set_free(struct pmp_address_set *set)
{
	free(set->slots);
	*set = (struct pmp_address_set){ 0 };
}
