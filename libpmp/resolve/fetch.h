/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that are not on this machine, but that the program may be able to fetch. They are
 * trusted no more than files on this machine.
 */
#ifndef PMP_RESOLVE_FETCH_H
#define PMP_RESOLVE_FETCH_H

#include <stdbool.h>
#include <stddef.h>

#include "libpmp.h"

/* The fetch of struct pmp_symbolizer_options. All zero: nothing can be fetched. */
struct pmp_fetch {
	int (*get)(void *arg, const struct pmp_wanted_file *wanted);
	void *arg;
};

/*
 * Fetch the file (executable) or the debug file with a build-id; this should be lower-case
 * hex, but may be any text. path: of the module. Returns an open regular file, or -1.
 */
int pmp_fetch_file(const struct pmp_fetch *fetch, const char *build_id, const char *path,
		   bool executable);
/* The same for a debug file, with the build-id as bytes. */
int pmp_fetch_debug(const struct pmp_fetch *fetch, const unsigned char *id, size_t size,
		    const char *path);

#endif
