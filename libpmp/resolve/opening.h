/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Modules are opened when the first name in them is wanted, and stay open. */
#ifndef PMP_RESOLVE_OPENING_H
#define PMP_RESOLVE_OPENING_H

#include "resolve/state.h"

/* Open a module, unless it is open. Lets the caller's lock go meanwhile. */
void pmp_opening_one(struct pmp_symbolizer *symbolizer, struct pmp_known_module *module);
/*
 * Open a module, and others with locations that have no names. Whoever writes a profile
 * wants names of all that is in it: while threads unpack what debug information some
 * modules have, the next ones are read. With a lock there is a view, which wants what is
 * on its screen: nothing but this module is opened.
 */
void pmp_opening_all(struct pmp_symbolizer *symbolizer, struct pmp_known_module *first);

#endif
