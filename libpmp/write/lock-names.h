/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The locks that the stacks of a report waited for, those with most samples first. */
#ifndef PMP_WRITE_LOCK_NAMES_H
#define PMP_WRITE_LOCK_NAMES_H

#include "write/paths.h"

#define PMP_LOCK_NAME_NONE UINT32_MAX

struct pmp_lock_name {
	const char *text; /* "mutex LOCK_log+0x10", not escaped */
	uint64_t samples;
	uint32_t number; /* before sorting */
};

struct pmp_lock_names {
	struct pmp_lock_name *items;
	size_t count, capacity;
	uint32_t *of_path; /* index of the path's lock, or NONE */
	struct pmp_intern *texts;
};

/* Must be freed even on failure. 0 or PMP_ENOMEM. */
int pmp_lock_names_make(struct pmp_lock_names *names, const struct pmp_paths *paths,
			const struct pmp_report *report);
void pmp_lock_names_free(struct pmp_lock_names *names);

#endif
