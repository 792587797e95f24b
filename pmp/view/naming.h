/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names that are wanted on the screen, looked up by the worker, so that reading the symbols
 * of a large program holds nothing up. The lock is let go while files are read.
 */
#ifndef PMP_VIEW_NAMING_H
#define PMP_VIEW_NAMING_H

#include "libpmp.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct naming;
struct worker;

/** worker is borrowed. NULL: no memory, or no descriptor. */
struct naming *naming_new(struct worker *worker);
/** The symbolizer, whose options have the lock of the worker. */
void naming_start(struct naming *naming, struct pmp_symbolizer *symbolizer);
/** After worker_stop(). */
void naming_free(struct naming *naming);

/** Look these up; false: no memory. */
bool naming_ask(struct naming *naming, const pmp_location *locations, size_t count);
/** Readable when names have come; to be emptied by naming_has_named(). */
int naming_wake(const struct naming *naming);
bool naming_has_named(struct naming *naming);

#endif
