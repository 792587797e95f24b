/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PMP_RESOLVE_DEMANGLE_H
#define PMP_RESOLVE_DEMANGLE_H

#include <stdbool.h>

#include "base/buf.h"

/*
 * Append the readable form of a C++ or Rust (legacy and v0) symbol to out.
 * False, with nothing appended: the symbol is not mangled, or it or its readable
 * form is too long; show it as it is.
 */
bool pmp_demangle(const char *symbol, struct pmp_buf *out);

#endif
