/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a saved profile or a core file in the worker, also for the base of --diff. */
#ifndef PMP_SOURCE_SAVED_H
#define PMP_SOURCE_SAVED_H

#include "libpmp.h"

#include <stdbool.h>

struct source;

/**
 * Read a file into a profile; "-" is standard input. hint: for a file that does not exist,
 * or NULL. *is_core, unless is_core is NULL, is set to whether it is a core. 0, or the
 * status to exit with, with the message printed.
 */
int saved_read(struct source *source, struct pmp_profile *profile, const char *path,
	       const char *hint, bool *is_core);

#endif
