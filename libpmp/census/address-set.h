/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A set of addresses that only grows. Initialize it to zero. */
#ifndef PMP_CENSUS_ADDRESS_SET_H
#define PMP_CENSUS_ADDRESS_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

struct pmp_address_set {
	uint64_t *slots; /* 0: empty */
	size_t count, size;
	struct pmp_hash_key key; /* set with the first slots */
};

/* address must not be 0. 0 or PMP_ENOMEM. */
int pmp_address_set_add(struct pmp_address_set *set, uint64_t address);
bool pmp_address_set_has(const struct pmp_address_set *set, uint64_t address);
void pmp_address_set_free(struct pmp_address_set *set);

#endif
