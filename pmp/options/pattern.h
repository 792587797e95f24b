/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Regular expressions of options, with the limits that filters have. */
#ifndef PMP_OPTIONS_PATTERN_H
#define PMP_OPTIONS_PATTERN_H

#include <stdbool.h>

#include "libpmp.h"

struct pattern {
	struct pmp_filter *filter; /* NULL: no expression */
};

/**
 * Replace the expression. PMP_ENOMEM, or PMP_EINVAL: the message says what is wrong;
 * pattern then has none.
 */
int pattern_set(struct pattern *pattern, const char *text, struct pmp_error *err);
/** False without an expression. */
bool pattern_matches(const struct pattern *pattern, const char *name);
/** See pmp_filter_problem(). */
int pattern_problem(const struct pattern *pattern, struct pmp_error *err);
void pattern_free(struct pattern *pattern);

#endif
