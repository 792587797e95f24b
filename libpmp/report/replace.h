/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The expressions of a filter, and replacements as sed has them: s/RE/TEXT/g. */
#ifndef PMP_REPORT_REPLACE_H
#define PMP_REPORT_REPLACE_H

#include "base/regex.h"

struct pmp_expression {
	struct pmp_regex *regex;
	bool global;
	char *text;   /* of a replacement, as it was written; NULL: none */
	char *source; /* all of it, as it was written; NULL: not kept */
	bool ignore_case;
};

/* As pmp_regex_new(). To be freed also if it fails. */
int pmp_expression_compile(struct pmp_expression *expression, const char *text,
			   size_t length, bool ignore_case, struct pmp_error *err);
/* s/RE/TEXT/ and s/RE/TEXT/g; any character may stand for the slash. */
int pmp_expression_parse(struct pmp_expression *expression, const char *text,
			 bool ignore_case, struct pmp_error *err);
void pmp_expression_free(struct pmp_expression *expression);

/* Put name with what matches replaced into buffer, or, as pmp_regex_find() says that there is
 * nothing or why not, as it is. */
int pmp_expression_replace(const struct pmp_expression *expression, const char *name,
			   char *buffer, size_t size);
/* Put what a replacement makes of what matches into buffer, without the rest of name. */
int pmp_expression_take(const struct pmp_expression *expression, const char *name,
			char *buffer, size_t size);

#endif
