/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Regular expressions of options, with the bounds that those of filters have. */
#ifndef PMP_OPTIONS_PATTERN_H
#define PMP_OPTIONS_PATTERN_H

#include <stdbool.h>

#include "libpmp.h"

struct pattern {
	struct pmp_filter *filter; /* NULL: none is given */
};

/**
 * Take an expression instead of the one before it. PMP_ENOMEM, or PMP_EINVAL: the
 * message says what is wrong with it, and pattern is without one.
 */
int pattern_set(struct pattern *pattern, const char *text, struct pmp_error *err);
/** Never, if none is given. */
bool pattern_matches(const struct pattern *pattern, const char *name);
/** As pmp_filter_problem() has it. */
int pattern_problem(const struct pattern *pattern, struct pmp_error *err);
void pattern_free(struct pattern *pattern);

#endif
