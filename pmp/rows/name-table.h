/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of functions and threads, as views show them. */
#ifndef PMP_ROWS_NAME_TABLE_H
#define PMP_ROWS_NAME_TABLE_H

#include "rows/hash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NAME_NONE UINT32_MAX

struct name {
	const char *full;   /* escaped for a terminal */
	const char *brief;  /* no arguments, templates elided; may equal full */
	const char *module; /* base name of the first module, escaped; or "" */
	bool modules;	    /* in several modules */
	unsigned checked;   /* filter number for which matches is valid; 0: none */
	bool matches;
	unsigned searched; /* search number for which found is valid; 0: none */
	bool found;
};

struct names {
	struct name *names;
	size_t count, capacity;
	struct hash table;
	uint32_t *ranks; /* by number: place in alphabetic order */
	size_t rank_count;
	bool full_ranks; /* ranks are of full names */
};

/** The number of a function's name, unescaped; NAME_NONE: no memory. */
uint32_t names_add(struct names *names, const char *name, const char *module);
/** Rank brief or full names alphabetically, for names_rank(). False: no memory. */
bool names_sort(struct names *names, bool full);
/** A name's rank; equal names have equal ranks. */
static inline uint32_t names_rank(const struct names *names, uint32_t number)
{
	return number < names->rank_count ? names->ranks[number] : UINT32_MAX;
}
void names_free(struct names *names);

/** The last component of a path; the whole path if it has none. */
const char *name_base(const char *path);

#endif
