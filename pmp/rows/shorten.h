/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Abbreviated names of functions. */
#ifndef PMP_ROWS_SHORTEN_H
#define PMP_ROWS_SHORTEN_H

#include <stddef.h>

/**
 * Shorten a demangled name: drops arguments and return type, and puts an ellipsis in <>;
 * `operator<`, `(anonymous namespace)` and the like stay. Returns buffer.
 */
char *shorten_name(const char *name, char *buffer, size_t size);

#endif
