/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of a location: of its symbol, of functions inlined there, or a placeholder. */
#ifndef PMP_RESOLVE_NAMING_H
#define PMP_RESOLVE_NAMING_H

#include "base/buf.h"
#include "resolve/state.h"

/* Look the names of a location up, which has none. Opens its module. */
void pmp_naming_location(struct pmp_symbolizer *symbolizer, pmp_location number);
/* Append [libfoo.so.1+0x1234], [vdso+0x7f0], [anon+0x7f0000001000]. */
void pmp_naming_placeholder(struct pmp_buf *text, const struct pmp_known_module *module,
			    uint64_t address);

#endif
