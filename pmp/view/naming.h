/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looks up the names wanted on the screen in the worker, so that reading the symbols of a
 * large program does not block the view. The lock is released while files are read.
 */
#ifndef PMP_VIEW_NAMING_H
#define PMP_VIEW_NAMING_H

#include "libpmp.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct naming;
struct worker;

/** The worker is borrowed. NULL: no memory, or no descriptor. */
struct naming *naming_new(struct worker *worker);
/** Set the symbolizer, whose options must have the worker's lock. */
void naming_start(struct naming *naming, struct pmp_symbolizer *symbolizer);
/** Call it after worker_stop(). */
void naming_free(struct naming *naming);

/** Queue these for lookup; false: no memory. */
bool naming_ask(struct naming *naming, const pmp_location *locations, size_t count);
/** A descriptor that is readable when names are known; naming_has_named() empties it. */
int naming_wake(const struct naming *naming);
bool naming_has_named(struct naming *naming);

#endif
