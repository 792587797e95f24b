/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A pattern is a filter of the library with one expression, which limits its steps. */
#include "options/pattern.h"

#include <stddef.h>

#define KIND PMP_FILTER_FOCUS /* any kind that is not a replacement */

int pattern_set(struct pattern *pattern, const char *text, struct pmp_error *err)
{
	int code;

	pattern_free(pattern);
	code = pmp_filter_new(&pattern->filter, err);
	if (!code)
		code = pmp_filter_add(pattern->filter, KIND, text, err);
	if (code)
		pattern_free(pattern);
	return code;
}

bool pattern_matches(const struct pattern *pattern, const char *name)
{
	return pattern->filter && pmp_filter_matches(pattern->filter, KIND, name);
}

int pattern_problem(const struct pattern *pattern, struct pmp_error *err)
{
	return pmp_filter_problem(pattern->filter, err);
}

void pattern_free(struct pattern *pattern)
{
	pmp_filter_free(pattern->filter);
	pattern->filter = NULL;
}
