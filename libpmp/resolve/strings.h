/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names of functions, files and modules; equal strings are kept once. */
#ifndef PMP_RESOLVE_STRINGS_H
#define PMP_RESOLVE_STRINGS_H

#include "base/buf.h"
#include "base/intern.h"

#define PMP_STRINGS_UNKNOWN "[unknown]" /* in place of any string if memory runs out */

struct pmp_strings {
	struct pmp_intern *kept;
	struct pmp_buf scratch; /* for building a string */
	size_t size;		/* bytes of all strings */
};

/* Limit for a function's name, in bytes; C++ templates and hostile files exceed it. */
#define PMP_NAME_MAX 4096

/* Keep a string. Equal strings give the same pointer, borrowed for the life of .kept. Never
 * NULL. */
const char *pmp_strings_keep(struct pmp_strings *strings, const char *text);
/* The same for what is in scratch, which is cleared. */
const char *pmp_strings_keep_scratch(struct pmp_strings *strings);
/* The same for the name of a function, cut to PMP_NAME_MAX bytes and "..." if it is longer;
 * the second one takes it from scratch. */
const char *pmp_strings_keep_name(struct pmp_strings *strings, const char *name);
const char *pmp_strings_keep_scratch_name(struct pmp_strings *strings);
/* Cut a name like that in place. */
void pmp_strings_cut_name(struct pmp_buf *text);
void pmp_strings_free(struct pmp_strings *strings);

#endif
