/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that are not on this machine: the program may know where to get them. What it
 * brings is believed no more than what lies around here.
 */
#ifndef PMP_RESOLVE_FETCH_H
#define PMP_RESOLVE_FETCH_H

#include <stdbool.h>
#include <stddef.h>

#include "libpmp.h"

/* The fetch of struct pmp_symbolizer_options. All zero: nothing can be had. */
struct pmp_fetch {
	int (*get)(void *arg, const struct pmp_wanted_file *wanted);
	void *arg;
};

/*
 * The file, or the debug file, of a build-id in lower-case hex, which may be any text;
 * path is that of the module. An open regular file, or -1.
 */
int pmp_fetch_file(const struct pmp_fetch *fetch, const char *build_id, const char *path,
		   bool executable);
/* The debug file of a build-id as bytes. */
int pmp_fetch_debug(const struct pmp_fetch *fetch, const unsigned char *id, size_t size,
		    const char *path);

#endif
