/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Regular expressions of options, with the bounds that those of filters have. */
#ifndef PMP_PMP_PATTERN_H
#define PMP_PMP_PATTERN_H

#include <stdbool.h>

#include "libpmp.h"

struct pmp_pattern {
	struct pmp_filter *filter; /* NULL: none is given */
};

/**
 * Take an expression instead of the one before it. PMP_ENOMEM, or PMP_EINVAL: the
 * message says what is wrong with it, and pattern is without one.
 */
int pmp_pattern_set(struct pmp_pattern *pattern, const char *text, struct pmp_error *err);
/** Never, if none is given. */
bool pmp_pattern_matches(const struct pmp_pattern *pattern, const char *name);
void pmp_pattern_free(struct pmp_pattern *pattern);

#endif
