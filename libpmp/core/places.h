/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the file of a module of a core file may be. */
#ifndef PMP_CORE_PLACES_H
#define PMP_CORE_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/image.h"
#include "resolve/fetch.h"

#define PMP_CORE_ID_TEXT (2 * PMP_CORE_ID_MAX + 1)

/* The file to find. */
struct pmp_core_wanted {
	const char *path;     /* where it was */
	const char *build_id; /* lower-case hex, or "" */
	bool deleted, program;
};

/* All fields are borrowed. */
struct pmp_core_places {
	const char *exe;       /* the program, wherever it was; NULL: at its path */
	int exe_errno;	       /* why exe cannot be read, or 0 */
	const char *symfs;     /* where to look first, or NULL */
	const char *debug_dir; /* has .build-id; or several, separated by colons */
	struct pmp_fetch fetch;
	uint64_t written; /* when the core was written (ns since 1970); 0: unknown */
	/* Opens files instead of this process, as pmp_core_places_open(); or NULL. */
	int (*ask)(void *arg, const struct pmp_core_wanted *wanted, unsigned place);
	void *ask_arg;
};

/* Open the file at one of the places, numbered 0, 1, 2, ...; the caller checks that it is
 * the right one. Returns a descriptor, or a negative errno; -ENODATA: no more places. */
int pmp_core_places_open(const struct pmp_core_places *places,
			 const struct pmp_core_wanted *wanted, unsigned place);

#endif
