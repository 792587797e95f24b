/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PMP_RESOLVE_DEMANGLE_H
#define PMP_RESOLVE_DEMANGLE_H

#include <stdbool.h>

#include "base/buf.h"

/*
 * Append the readable form of a C++ or Rust (legacy and v0) symbol to out.
 * False, and nothing is appended: not a mangled name, or too long, or it would
 * become too long; show it as it is.
 */
bool pmp_demangle(const char *symbol, struct pmp_buf *out);

#endif
