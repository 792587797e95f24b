/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Regular expressions, matched by PCRE2. Both they and the names may come from strangers, so
 * the steps that an expression may take are limited: in all, so that many names that each
 * cost a little less than too much do not add up to minutes.
 */
#ifndef PMP_BASE_REGEX_H
#define PMP_BASE_REGEX_H

#include <stdbool.h>
#include <stddef.h>

#include "libpmp.h"

struct pmp_regex;

#define PMP_EXPRESSION_NAME 4096 /* of a name, with its NUL: the rest is not looked at */
#define PMP_EXPRESSION_GROUPS 10 /* \0 ... \9 */

/* What a group has matched, from begin up to end; both 0: nothing. */
struct pmp_regex_group {
	size_t begin, end;
};

/* An expression of length characters; *regex is to be freed. PMP_EINVAL: the message says what
 * is wrong with it, without the text; PMP_ENOMEM. */
int pmp_regex_new(struct pmp_regex **regex, const char *text, size_t length,
		  bool ignore_case, struct pmp_error *err);
/* Takes NULL. */
void pmp_regex_free(struct pmp_regex *regex);
/* It may take fewer steps: it is a stranger's. */
void pmp_regex_distrust(struct pmp_regex *regex);
/* How many groups it has. */
unsigned pmp_regex_groups(const struct pmp_regex *regex);

/*
 * Where does it match first in the length bytes of name, from from on? 1, 0, PMP_ENOMEM, or
 * PMP_ELIMIT: it has taken too many steps, and from now on it matches nothing. groups may be
 * NULL. Several threads may do this at a time.
 */
int pmp_regex_find(const struct pmp_regex *regex, const char *name, size_t length,
		   size_t from, struct pmp_regex_group groups[PMP_EXPRESSION_GROUPS]);
/* The same in the part of name that is looked at. */
int pmp_regex_matches(const struct pmp_regex *regex, const char *name);
/* PMP_ELIMIT with a message if that has happened, else 0. */
int pmp_regex_problem(const struct pmp_regex *regex, struct pmp_error *err);

#endif
