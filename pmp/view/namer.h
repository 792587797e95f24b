/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread that looks names up, so that reading the symbols of a large program holds
 * nothing up. There is one lock for all that is the symbolizer's and the profile's:
 * the front holds it but while it waits; the thread lets it go while it reads files.
 */
#ifndef PMP_PMP_VIEW_NAMER_H
#define PMP_PMP_VIEW_NAMER_H

#include "libpmp.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pmp_namer;

/** Not running yet. The caller holds its lock from now on. NULL: no memory. */
struct pmp_namer *pmp_namer_new(void);
/** Set the lock of the options of the symbolizer that it will work with. */
void pmp_namer_options(struct pmp_namer *namer, struct pmp_symbolizer_options *options);
/** Begin. False: there is no thread; names are not looked up. */
bool pmp_namer_start(struct pmp_namer *namer, struct pmp_symbolizer *symbolizer);
/** Ends the thread, which may take as long as the file it is reading. */
void pmp_namer_free(struct pmp_namer *namer);

/** Let the lock go, to wait for something; take it again. Both take NULL. */
void pmp_namer_unlock(struct pmp_namer *namer);
void pmp_namer_lock(struct pmp_namer *namer);

/** Look these up; false: no memory. */
bool pmp_namer_ask(struct pmp_namer *namer, const pmp_location *locations, size_t count);
/** Readable when names have come; to be emptied by pmp_namer_has_named(). */
int pmp_namer_wake(const struct pmp_namer *namer);
bool pmp_namer_has_named(struct pmp_namer *namer);

/**
 * Wait until nothing is looked up, and look nothing up until pmp_namer_go_on(): the
 * caller may name then, a writer does. Both take NULL.
 */
void pmp_namer_rest(struct pmp_namer *namer);
void pmp_namer_go_on(struct pmp_namer *namer);

#endif
