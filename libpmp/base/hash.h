/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Multiplicative hashing of integers, for tables whose size is a power of two: with the
 * golden ratio, which spreads neighbouring values (addresses, pages, small numbers).
 */
#ifndef PMP_BASE_HASH_H
#define PMP_BASE_HASH_H

#include <stdint.h>

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
