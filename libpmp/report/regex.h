/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Regular expressions of filters, and replacements as sed has them: s/RE/TEXT/g. What
 * they are matched with comes from targets, so both are bounded: neither can be made
 * to take a time that is exponential.
 */
#ifndef PMP_REPORT_REGEX_H
#define PMP_REPORT_REGEX_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#include "libpmp.h"

struct pmp_program;

#define PMP_EXPRESSION_NAME 4096 /* of a name, with its NUL: the rest is not looked at */

struct pmp_expression {
	regex_t regex;
	bool compiled;
	struct pmp_program *program; /* NULL: regexec() has to do */
	bool global;
	char *text;   /* of a replacement, as it was written; NULL: none */
	char *source; /* all of it, as it was written; NULL: not kept */
	bool ignore_case;
};

/* An expression of length characters. PMP_EINVAL, PMP_ENOMEM. To be freed also then. */
int pmp_expression_compile(struct pmp_expression *expression, const char *text,
			   size_t length, bool ignore_case, struct pmp_error *err);
/* s/RE/TEXT/ and s/RE/TEXT/g; any character may stand for the slash. */
int pmp_expression_parse(struct pmp_expression *expression, const char *text,
			 bool ignore_case, struct pmp_error *err);
void pmp_expression_free(struct pmp_expression *expression);

/* 1, 0 or PMP_ENOMEM. */
int pmp_expression_matches(const struct pmp_expression *expression, const char *name);
/* Put name with what matches replaced into buffer; 0: nothing matches, it is name. 1,
 * PMP_ENOMEM. */
int pmp_expression_replace(const struct pmp_expression *expression, const char *name,
			   char *buffer, size_t size);
/* Put what a replacement makes of what matches into buffer, without the rest of name. 1, 0:
 * nothing matches, PMP_ENOMEM. */
int pmp_expression_take(const struct pmp_expression *expression, const char *name,
			char *buffer, size_t size);

#endif
