/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads numbers from call-frame information byte by byte, and names its instructions: for
 * cfi.c, which checks them, and cfa-rules.c, which executes them.
 */
#ifndef PMP_UNWIND_CURSOR_H
#define PMP_UNWIND_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* If these bits of an instruction are not 0, the others are an operand. */
#define PMP_CFA_PRIMARY 0xc0

/* Reads [at, end) of data; after a failure it returns zeros. */
struct pmp_cursor {
	const uint8_t *data;
	size_t at, end;
	bool failed;
};

static inline uint64_t pmp_take(struct pmp_cursor *c, size_t size)
{
	uint64_t value = 0;

	if (c->failed || c->end - c->at < size) {
		c->failed = true;
		return 0;
	}
	memcpy(&value, c->data + c->at, size); /* little endian, as we are */
	c->at += size;
	return value;
}

static inline int64_t pmp_take_signed(struct pmp_cursor *c, size_t size)
{
	unsigned shift = 64 - 8 * (unsigned)size;

	return (int64_t)(pmp_take(c, size) << shift) >> shift;
}

static inline uint64_t pmp_take_leb(struct pmp_cursor *c, bool is_signed)
{
	uint64_t value = 0, byte;
	unsigned shift = 0;

	do {
		byte = pmp_take(c, 1);
		if (shift < 64)
			value |= (byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80 && shift < 70);
	c->failed |= byte & 0x80;
	if (is_signed && byte & 0x40 && shift < 64)
		value |= ~UINT64_C(0) << shift;
	return value;
}

static inline uint64_t pmp_take_uleb(struct pmp_cursor *c)
{
	return pmp_take_leb(c, false);
}

static inline int64_t pmp_take_sleb(struct pmp_cursor *c)
{
	return (int64_t)pmp_take_leb(c, true);
}

static inline void pmp_skip(struct pmp_cursor *c, uint64_t size)
{
	if (c->failed || size > c->end - c->at)
		c->failed = true;
	else
		c->at += size;
}

#endif
