/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the file of a module may be that a core file was mapped from. */
#ifndef PMP_CORE_PLACES_H
#define PMP_CORE_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/image.h"
#include "resolve/fetch.h"

#define PMP_CORE_ID_TEXT (2 * PMP_CORE_ID_MAX + 1)

/* The file that is looked for. */
struct pmp_core_wanted {
	const char *path;     /* where it was */
	const char *build_id; /* lower-case hex, or "" */
	bool deleted, program;
};

/* All is borrowed. */
struct pmp_core_places {
	const char *exe;       /* the program, wherever it was; NULL: where it was */
	int exe_errno;	       /* why that cannot be read, or 0 */
	const char *symfs;     /* where to look first, or NULL */
	const char *debug_dir; /* has .build-id; or several, colons between */
	struct pmp_fetch fetch;
	uint64_t written; /* when the core was (ns since 1970); 0: not known */
	/* Who opens files instead, as pmp_core_places_open(); NULL: this process. */
	int (*ask)(void *arg, const struct pmp_core_wanted *wanted, unsigned place);
	void *ask_arg;
};

/* The file at one of the places, which are 0, 1, 2, ...; whether it is the one is another
 * question. A descriptor, or a negative errno; -ENODATA: there are no more places. */
int pmp_core_places_open(const struct pmp_core_places *places,
			 const struct pmp_core_wanted *wanted, unsigned place);

#endif
