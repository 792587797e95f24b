/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the C library would take for an expression, estimated before it is compiled: for some
 * of a few dozen characters it takes hours, or all memory.
 */
#ifndef PMP_REPORT_REGEX_COST_H
#define PMP_REPORT_REGEX_COST_H

#include <stdbool.h>
#include <stddef.h>

/* How often something is repeated: {2,5}; {2,}, which is twice and then any number of times. */
struct pmp_repeat {
	size_t least, most;
	bool endless;
};

/* What is wrong with an extended regular expression of length characters: a clause that
 * begins with "it". NULL: it is bounded; regcomp() says whether it is right. */
const char *pmp_expression_fault(const char *text, size_t length);

/* Read an interval at *at; returns what is after it. */
const char *pmp_expression_interval(const char *at, const char *end,
				    struct pmp_repeat *interval);

#endif
