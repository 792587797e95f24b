/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Taking numbers out of call-frame information byte by byte, and the names of its
 * instructions: for cfi.c, which checks them, and rules.c, which executes them.
 */
#ifndef PMP_CAPTURE_CURSOR_H
#define PMP_CAPTURE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* DW_CFA_ */
enum {
	PMP_CFA_NOP = 0x00, PMP_CFA_ADVANCE1 = 0x02, PMP_CFA_ADVANCE2 = 0x03,
	PMP_CFA_ADVANCE4 = 0x04, PMP_CFA_OFFSET_EXTENDED = 0x05,
	PMP_CFA_RESTORE_EXTENDED = 0x06, PMP_CFA_UNDEFINED = 0x07,
	PMP_CFA_SAME_VALUE = 0x08, PMP_CFA_REGISTER = 0x09, PMP_CFA_REMEMBER = 0x0a,
	PMP_CFA_RESTORE_STATE = 0x0b, PMP_CFA_DEF_CFA = 0x0c,
	PMP_CFA_DEF_CFA_REGISTER = 0x0d, PMP_CFA_DEF_CFA_OFFSET = 0x0e,
	PMP_CFA_DEF_CFA_EXPRESSION = 0x0f, PMP_CFA_EXPRESSION = 0x10,
	PMP_CFA_OFFSET_EXTENDED_SF = 0x11, PMP_CFA_DEF_CFA_SF = 0x12,
	PMP_CFA_DEF_CFA_OFFSET_SF = 0x13, PMP_CFA_VAL_EXPRESSION = 0x16,
	PMP_CFA_NEGATE_RA_STATE = 0x2d, PMP_CFA_ARGS_SIZE = 0x2e,
	PMP_CFA_NEGATIVE_OFFSET = 0x2f,
	/* with an operand in the low six bits */
	PMP_CFA_ADVANCE = 0x40, PMP_CFA_OFFSET = 0x80, PMP_CFA_RESTORE = 0xc0,
	PMP_CFA_PRIMARY = 0xc0,
};

/* Takes from [at, end) of data; once it has failed it gives zeros. */
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
	memcpy(&value, c->data + c->at, size);	/* little endian, as we are */
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
