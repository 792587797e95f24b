/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A pattern is a filter of the library with one expression. The C library takes
 * exponential time for some expressions; filters refuse those.
 */
#include "pattern.h"

#include <stddef.h>

#define KIND PMP_FILTER_FOCUS /* any that is no replacement */

int pmp_pattern_set(struct pmp_pattern *pattern, const char *text, struct pmp_error *err)
{
	int code;

	pmp_pattern_free(pattern);
	code = pmp_filter_new(&pattern->filter, err);
	if (!code)
		code = pmp_filter_add(pattern->filter, KIND, text, err);
	if (code)
		pmp_pattern_free(pattern);
	return code;
}

bool pmp_pattern_matches(const struct pmp_pattern *pattern, const char *name)
{
	return pattern->filter && pmp_filter_matches(pattern->filter, KIND, name);
}

void pmp_pattern_free(struct pmp_pattern *pattern)
{
	pmp_filter_free(pattern->filter);
	pattern->filter = NULL;
}
