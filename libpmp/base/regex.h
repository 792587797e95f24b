/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Regular expressions, matched by PCRE2. Both they and the names may be untrusted, so the
 * steps that an expression may take are limited: in total, so that many names that each
 * stay just below a limit do not add up to minutes.
 */
#ifndef PMP_BASE_REGEX_H
#define PMP_BASE_REGEX_H

#include <stdbool.h>
#include <stddef.h>

#include "libpmp.h"

struct pmp_regex;

#define PMP_EXPRESSION_NAME 4096 /* of a name, with its NUL: the rest is ignored */
#define PMP_EXPRESSION_GROUPS 10 /* \0 ... \9 */

/* What a group has matched, [begin, end); both 0: nothing. */
struct pmp_regex_group {
	size_t begin, end;
};

/* Compile an expression of length characters; *regex is to be freed with pmp_regex_free().
 * PMP_EINVAL: the message says what is wrong, without quoting the text; PMP_ENOMEM. */
int pmp_regex_new(struct pmp_regex **regex, const char *text, size_t length,
		  bool ignore_case, struct pmp_error *err);
/* Takes NULL. */
void pmp_regex_free(struct pmp_regex *regex);
/* Allow it fewer steps, because it comes from an untrusted source. */
void pmp_regex_distrust(struct pmp_regex *regex);
/* The number of its groups. */
unsigned pmp_regex_groups(const struct pmp_regex *regex);

/*
 * Find the first match in the length bytes of name, at or after from. 1, 0, PMP_ENOMEM, or
 * PMP_ELIMIT: it has taken too many steps, and from now on matches nothing. groups may be
 * NULL. Several threads may call this at a time.
 */
int pmp_regex_find(const struct pmp_regex *regex, const char *name, size_t length,
		   size_t from, struct pmp_regex_group groups[PMP_EXPRESSION_GROUPS]);
/* Does it match in the first PMP_EXPRESSION_NAME - 1 bytes of name? Returns the same. */
int pmp_regex_matches(const struct pmp_regex *regex, const char *name);
/* PMP_ELIMIT with a message if the limit was exceeded, else 0. */
int pmp_regex_problem(const struct pmp_regex *regex, struct pmp_error *err);

#endif
