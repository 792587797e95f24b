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
};

struct pmp_names {
	struct pmp_name *names;
	size_t count, capacity;
	struct pmp_table table;
};

/** The number of a function's name (raw), or PMP_NAME_NONE: no memory. */
uint32_t pmp_names_add(struct pmp_names *names, const char *name, const char *module);
void pmp_names_free(struct pmp_names *names);

/**
 * Shorten a demangled name: no arguments, no return type, what is in <> becomes an
 * ellipsis; `operator<`, `(anonymous namespace)` and the like stay. Returns buffer.
 */
char *pmp_names_brief(const char *name, char *buffer, size_t size);

#endif
