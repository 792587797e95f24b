/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What call-frame information says of one pc, as a rule that takes some ten
 * instructions to apply: the CFA is sp or the frame pointer plus a number, the
 * return address and the caller's frame pointer lie at fixed distances from it.
 * Nearly all code is like that; the rest is left to libunwind (general.c).
 */
#ifndef PMP_CAPTURE_RULES_H
#define PMP_CAPTURE_RULES_H

#include "capture/arch.h"

#include <stdbool.h>
#include <stdint.h>

enum pmp_rule_kind {
	PMP_RULE_UNKNOWN,	/* never asked */
	PMP_RULE_NONE,		/* no call-frame information */
	PMP_RULE_BAD,		/* some that makes no sense */
	PMP_RULE_FRAME,		/* as the fields below say */
	PMP_RULE_ROOT,		/* no return address: a thread's first function */
	PMP_RULE_SIGNAL,	/* a signal frame in the kernel's layout */
	PMP_RULE_GENERAL,	/* what only libunwind can do */
};

/* Where a register of the caller is. */
enum pmp_rule_where {
	PMP_WHERE_SAME,		/* still in the register */
	PMP_WHERE_SAVED,	/* in memory, at CFA + offset */
	PMP_WHERE_LOST,		/* nowhere */
};

struct pmp_rule {
	uint64_t function_start;	/* of the FDE; 0: PMP_RULE_NONE */
	uint8_t kind;		/* enum pmp_rule_kind */
	bool cfa_fp;		/* CFA = frame pointer + cfa_offset, else sp + it */
	uint8_t fp, ra;		/* enum pmp_rule_where; ra SAME: in pmp_reg_return */
	int32_t cfa_offset;
	int32_t fp_offset, ra_offset;	/* if saved */
};

#endif
