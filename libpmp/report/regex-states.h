/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The states of a pmp_program: regex-program.c makes them, regex-match.c goes through them. */
#ifndef PMP_REPORT_REGEX_STATES_H
#define PMP_REPORT_REGEX_STATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PMP_STATES_MAX 4096

enum pmp_state_kind {
	PMP_STATE_END,	/* it matches */
	PMP_STATE_SET,	/* one byte of a set */
	PMP_STATE_BOTH, /* go on with either of two */
	/* A place, without a byte: */
	PMP_STATE_BEGIN,
	PMP_STATE_FINISH,
	PMP_STATE_WORD_BEGIN,
	PMP_STATE_WORD_END,
	PMP_STATE_WORD_EDGE,
	PMP_STATE_NO_WORD_EDGE,
};

struct pmp_state {
	uint16_t kind, next;
	uint16_t other; /* the second of two; the number of a set */
};

struct pmp_byte_set {
	uint64_t bits[4];
};

struct pmp_program {
	struct pmp_state *states;
	struct pmp_byte_set *sets;
	size_t count, room, set_count, set_room;
	uint16_t start;
	struct pmp_byte_set first; /* bytes at which a match can begin */
	bool skips;		   /* which is known */
};

static inline bool pmp_set_has(const struct pmp_byte_set *set, unsigned char byte)
{
	return set->bits[byte / 64] >> (byte % 64) & 1;
}

/* Of a word are letters, digits and underscores. */
static inline bool pmp_is_word(unsigned char byte)
{
	return (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
	       (byte >= 'a' && byte <= 'z') || byte == '_';
}

#endif
