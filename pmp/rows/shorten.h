/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of functions, cut down. */
#ifndef PMP_ROWS_SHORTEN_H
#define PMP_ROWS_SHORTEN_H

#include <stddef.h>

/**
 * Shorten a demangled name: no arguments, no return type, what is in <> becomes an
 * ellipsis; `operator<`, `(anonymous namespace)` and the like stay. Returns buffer.
 */
char *shorten_name(const char *name, char *buffer, size_t size);

#endif
