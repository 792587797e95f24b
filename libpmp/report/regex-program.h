/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An extended regular expression as a machine of states, all of which a name is in at once:
 * whether it matches is known after as many steps as the name has characters, whatever the
 * expression is. regexec() has no such bound: it makes a table for each set of states, and
 * starts again at each character.
 */
#ifndef PMP_REPORT_REGEX_PROGRAM_H
#define PMP_REPORT_REGEX_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

struct pmp_program;

/*
 * For an expression that pmp_expression_fault() and regcomp() accept. What is no ASCII is
 * bytes. PMP_ENOMEM; PMP_EINVAL: it has too many states.
 */
int pmp_program_new(struct pmp_program **program, const char *text, size_t length,
		    bool ignore_case);
void pmp_program_free(struct pmp_program *program);

/* Does it match anywhere in the first length bytes of name? */
bool pmp_program_matches(const struct pmp_program *program, const char *name,
			 size_t length);

#endif
