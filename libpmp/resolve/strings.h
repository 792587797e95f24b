/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The strings of functions, files and modules: each is kept once. */
#ifndef PMP_RESOLVE_STRINGS_H
#define PMP_RESOLVE_STRINGS_H

#include "base/buf.h"
#include "base/intern.h"

#define PMP_STRINGS_UNKNOWN "[unknown]" /* what there was no memory for */

struct pmp_strings {
	struct pmp_intern *kept;
	struct pmp_buf scratch; /* to put one together in */
	size_t size;		/* bytes of all strings */
};

/* Bytes of a function's name; C++ templates and hostile files have longer ones. */
#define PMP_NAME_MAX 4096

/* Equal strings are the same pointer, borrowed for the life of kept. Never NULL. */
const char *pmp_strings_keep(struct pmp_strings *strings, const char *text);
/* The same for what is in scratch, which is cleared. */
const char *pmp_strings_keep_scratch(struct pmp_strings *strings);
/* The name of a function: of a longer one PMP_NAME_MAX bytes, and "..." after them. The
 * second one takes it from scratch. */
const char *pmp_strings_keep_name(struct pmp_strings *strings, const char *name);
const char *pmp_strings_keep_scratch_name(struct pmp_strings *strings);
/* The same cut for a text that stays where it is. */
void pmp_strings_cut_name(struct pmp_buf *text);
void pmp_strings_free(struct pmp_strings *strings);

#endif
