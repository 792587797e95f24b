/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A saved profile may have several values for each stack. One of them is counted: how often
 * the stack was seen, as in the profiles that pmp takes, or something else with a name and
 * a unit, bytes for instance.
 */
#ifndef PMP_TALLY_SAMPLE_TYPE_H
#define PMP_TALLY_SAMPLE_TYPE_H

#include <stdbool.h>
#include <stddef.h>

#include "libpmp.h"

struct pmp_sample_type {
	const char *type, *unit; /* raw bytes; both "": number of stacks */
};

/*
 * Choose the type to count among those of a file. wanted: its name; NULL: the number of
 * stacks if there is one, else the file's default (normal, or NULL: none), else the last,
 * as `go tool pprof` chooses. Returns its index, or PMP_EINVAL: there is no such type; the
 * hint lists those there are.
 */
int pmp_sample_type_choose(const struct pmp_sample_type *types, size_t count,
			   const char *wanted, const char *normal, struct pmp_error *err);
/* Is it the number of stacks? */
bool pmp_sample_type_is_stacks(const struct pmp_sample_type *sample_type);
bool pmp_sample_type_is_same(const struct pmp_sample_type *one,
			     const struct pmp_sample_type *other);
/* Its name, or "stacks", escaped for messages. Returns text. */
char *pmp_sample_type_text(const struct pmp_sample_type *sample_type, char *text,
			   size_t size);

#endif
