/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The expressions of a filter, and replacements as in sed: s/RE/TEXT/g. */
#ifndef PMP_REPORT_REPLACE_H
#define PMP_REPORT_REPLACE_H

#include "base/regex.h"

struct pmp_expression {
	struct pmp_regex *regex;
	bool global;
	char *text;   /* replacement, as written; NULL: none */
	char *source; /* the whole expression, as written; NULL: not kept */
	bool ignore_case;
};

/* Like pmp_regex_new(). Must be freed even on failure. */
int pmp_expression_compile(struct pmp_expression *expression, const char *text,
			   size_t length, bool ignore_case, struct pmp_error *err);
/* Parse s/RE/TEXT/ or s/RE/TEXT/g; any other character may be the delimiter. */
int pmp_expression_parse(struct pmp_expression *expression, const char *text,
			 bool ignore_case, struct pmp_error *err);
void pmp_expression_free(struct pmp_expression *expression);

/* Fill buffer with name after the replacement. 1: replaced, 0: no match, or an error from
 * pmp_regex_find(). */
int pmp_expression_replace(const struct pmp_expression *expression, const char *name,
			   char *buffer, size_t size);
/* Fill buffer with the replacement text for the first match, without the rest of name. */
int pmp_expression_take(const struct pmp_expression *expression, const char *name,
			char *buffer, size_t size);

#endif
