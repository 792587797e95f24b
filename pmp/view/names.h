/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of functions and threads, as a view shows them. */
#ifndef PMP_PMP_VIEW_NAMES_H
#define PMP_PMP_VIEW_NAMES_H

#include "table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PMP_NAME_NONE UINT32_MAX

struct pmp_name {
	const char *full;  /* fit for a terminal */
	const char *brief; /* without arguments, templates elided; may be full */
	const char *module; /* base name, fit for a terminal, of the first place; or "" */
	unsigned checked;  /* filter for which matches is right; 0: none */
	bool matches;
	unsigned searched; /* search for which found is right; 0: none */
	bool found;
};

struct pmp_names {
	struct pmp_name *names;
	size_t count, capacity;
	struct pmp_table table;
	uint32_t *ranks; /* by number, when they are in alphabetic order */
	size_t rank_count;
	bool full_ranks; /* of full names */
};

/** The number of a function's name (raw), or PMP_NAME_NONE: no memory. */
uint32_t pmp_names_add(struct pmp_names *names, const char *name, const char *module);
/** Put them into alphabetic order, brief or full, for pmp_names_rank(). False: no memory. */
bool pmp_names_sort(struct pmp_names *names, bool full);
/** A name's place in that order; equal names have the same. */
static inline uint32_t pmp_names_rank(const struct pmp_names *names, uint32_t number)
{
	return number < names->rank_count ? names->ranks[number] : UINT32_MAX;
}
void pmp_names_free(struct pmp_names *names);

/**
 * Shorten a demangled name: no arguments, no return type, what is in <> becomes an
 * ellipsis; `operator<`, `(anonymous namespace)` and the like stay. Returns buffer.
 */
char *pmp_names_brief(const char *name, char *buffer, size_t size);

#endif
