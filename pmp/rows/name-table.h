/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of functions and threads, as a view shows them. */
#ifndef PMP_ROWS_NAME_TABLE_H
#define PMP_ROWS_NAME_TABLE_H

#include "rows/hash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NAME_NONE UINT32_MAX

struct name {
	const char *full;   /* fit for a terminal */
	const char *brief;  /* without arguments, templates elided; may be full */
	const char *module; /* base name, fit for a terminal, of the first place; or "" */
	bool modules;	    /* there are others */
	unsigned checked;   /* filter for which matches is right; 0: none */
	bool matches;
	unsigned searched; /* search for which found is right; 0: none */
	bool found;
};

struct names {
	struct name *names;
	size_t count, capacity;
	struct hash table;
	uint32_t *ranks; /* by number, when they are in alphabetic order */
	size_t rank_count;
	bool full_ranks; /* of full names */
};

/** The number of a function's name (raw), or NAME_NONE: no memory. */
uint32_t names_add(struct names *names, const char *name, const char *module);
/** Put them into alphabetic order, brief or full, for names_rank(). False: no memory. */
bool names_sort(struct names *names, bool full);
/** A name's place in that order; equal names have the same. */
static inline uint32_t names_rank(const struct names *names, uint32_t number)
{
	return number < names->rank_count ? names->ranks[number] : UINT32_MAX;
}
void names_free(struct names *names);

/** The last component of a path; all of it if there is none. */
const char *name_base(const char *path);

#endif
