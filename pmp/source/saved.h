/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading a saved profile or a core file, by the worker: as what is shown, and as the base of
 * --diff. */
#ifndef PMP_SOURCE_SAVED_H
#define PMP_SOURCE_SAVED_H

#include "libpmp.h"

#include <stdbool.h>

struct source;

/**
 * Read a file into a profile; "-" is standard input. hint, or NULL: when it cannot be opened.
 * *is_core, unless is_core is NULL, becomes whether it is a core. 0, or the status to end
 * with: the message is printed.
 */
int saved_read(struct source *source, struct pmp_profile *profile, const char *path,
	       const char *hint, bool *is_core);

#endif
