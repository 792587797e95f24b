/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of functions and threads, and what a view wants to know of them. */
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
	bool locks;	   /* a function that waits for a lock */
	bool waits;	   /* a function in which threads wait for work */
	bool parks;	   /* one that does so with the futex call of a lock */
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
/** conn-17 is conn-N: runs of digits become N. Returns buffer. */
char *pmp_names_fold(const char *name, char *buffer, size_t size);

/** Is that a system call in which a thread waits for work? */
bool pmp_names_waiting_call(const char *syscall);

#endif
