/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hashing, for tables whose size is a power of two.
 *
 * Where a target or a file chooses what is put into a table that keeps all of it, the hash
 * must have a key: whoever can compute hashes can make all entries collide, and each look-up
 * then takes as long as the table is. Direct-mapped caches need none.
 */
#ifndef PMP_BASE_HASH_H
#define PMP_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* ---- with a key --------------------------------------------------------------------- */

/* Each table has its own. A process that reads files may have been taken over, and knows
 * what its parent knew when it was started. */
struct pmp_hash_key {
	uint64_t words[2];
};

/* Set a random key. Never blocks: early after boot, the key is not quite as random. */
void pmp_hash_key_make(struct pmp_hash_key *key);
/* SipHash-1-3 (Aumasson and Bernstein, 2012): any bits of it can be used. */
uint64_t pmp_hash_bytes(const struct pmp_hash_key *key, const void *data, size_t length);
/* The same of two numbers. */
uint64_t pmp_hash_pair(const struct pmp_hash_key *key, uint64_t one, uint64_t other);

/* ---- without ------------------------------------------------------------------------ */

/* Multiplication with the golden ratio spreads neighbouring values: addresses, pages, small
 * numbers. */
#define PMP_HASH_RATIO UINT64_C(0x9e3779b97f4a7c15)

/* Use its lowest bits; or mix in the next value: pmp_hash(hash ^ next). */
static inline uint64_t pmp_hash(uint64_t value)
{
	value *= PMP_HASH_RATIO;
	return value ^ value >> 29;
}

/* A hash of this many bits, 1 to 63. */
static inline uint64_t pmp_hash_bits(uint64_t value, unsigned bits)
{
	return value * PMP_HASH_RATIO >> (64 - bits);
}

#endif
