/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the C library would take for an expression, estimated before it is compiled: for some
 * of a few dozen characters it takes hours, or all memory.
 */
#ifndef PMP_REPORT_REGEX_COST_H
#define PMP_REPORT_REGEX_COST_H

#include <stddef.h>

/* What is wrong with an extended regular expression of length characters: a clause that
 * begins with "it". NULL: it is bounded; regcomp() says whether it is right. */
const char *pmp_expression_fault(const char *text, size_t length);

#endif
