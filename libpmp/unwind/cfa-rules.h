/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call-frame information for one pc as a rule that takes one addition and one read to
 * apply: the CFA is sp or the frame pointer plus a number, and the return address and the
 * caller's frame pointer are at fixed distances from it. Nearly all code is like that; the
 * rest is left to libunwind (libunwind.c).
 */
#ifndef PMP_UNWIND_CFA_RULES_H
#define PMP_UNWIND_CFA_RULES_H

#include "unwind/arch.h"
#include "unwind/cfi.h"
#include "base/reader.h"

#include <stdbool.h>
#include <stdint.h>

enum pmp_rule_kind {
	PMP_RULE_UNKNOWN,   /* not looked up yet */
	PMP_RULE_NONE,	    /* no call-frame information */
	PMP_RULE_BAD,	    /* malformed call-frame information */
	PMP_RULE_FRAME,	    /* given by the fields of struct pmp_rule */
	PMP_RULE_ROOT,	    /* no return address: a thread's first function */
	PMP_RULE_SIGNAL,    /* a signal frame in the kernel's layout */
	PMP_RULE_SWITCH,    /* continues for its caller on another stack: Go */
	PMP_RULE_LIBUNWIND, /* only libunwind can apply it */
};

/* Where a register of the caller is. */
enum pmp_rule_where {
	PMP_WHERE_SAME,	 /* still in the register */
	PMP_WHERE_SAVED, /* in memory, at CFA + offset */
	PMP_WHERE_LOST,	 /* nowhere */
};

struct pmp_rule {
	uint64_t function_start, function_end; /* of the FDE; 0: PMP_RULE_NONE */
	uint8_t kind;			       /* enum pmp_rule_kind */
	bool cfa_fp;	/* CFA = frame pointer + cfa_offset, else sp + it */
	bool go;	/* from go-rules.h, unknown to libunwind */
	bool signal;	/* describes a signal frame */
	bool injected;	/* a signal handler inserted the call before the caller's pc */
	uint8_t fp, ra; /* enum pmp_rule_where; ra SAME: in the register link of the
			 * arch */
	int32_t cfa_offset;
	int32_t fp_offset, ra_offset; /* if saved */
};

/* The rule at pc, which is in fde: of kind PMP_RULE_FRAME, _ROOT or _LIBUNWIND. */
void pmp_rule_make(const struct pmp_cfi_cie *cie, const struct pmp_cfi_fde *fde,
		   uint64_t pc, struct pmp_rule *rule);
/*
 * Step from the frame in regs to its caller, with a PMP_RULE_FRAME. The registers that the
 * rule needs must be valid: sp, or fp if cfa_fp; arch->link if ra is PMP_WHERE_SAME.
 * Afterwards pc, sp and maybe fp of the caller are known. False, with regs unchanged: the
 * return address cannot be read.
 */
bool pmp_rule_apply(const struct pmp_arch *arch, const struct pmp_rule *rule,
		    const struct pmp_reader *stack, struct pmp_regs *regs);

#endif
