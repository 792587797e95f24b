/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rules of aarch64, on any processor: the same code with that one's registers. A
 * leaf's return address is in x30; frames are chained by x29.
 */
#include "tap.h"

#include "unwind/arch.h"
#include "unwind/cfa-rules.h"
#include "fakeproc.h"

/*
 *	0	stp x29, x30, [sp, #-32]!	CFA sp+32; x29 at CFA-32, x30 at CFA-24
 *	4	mov x29, sp
 *	8	...				CFA x29+32
 *	12	ldp x29, x30, [sp], #32		all as at the start
 *	16	ret
 */
static const char function[] = "\x2d\x41\x0e\x20\x9d\x04\x9e\x03"
			       "\x41\x0d\x1d"
			       "\x42\xde\xdd\x0c\x1f\x00";

static void make(uint64_t pc, struct pmp_rule *rule)
{
	static const uint8_t cie_program[] = { 0x0c, 31, 0 }; /* CFA sp+0 */
	const struct pmp_cfi_cie cie = {
		.arch = &pmp_arch_aarch64,
		.code_align = 4,
		.data_align = -8,
		.program = cie_program,
		.program_size = sizeof(cie_program),
	};
	const struct pmp_cfi_fde fde = {
		.start = 0x1000,
		.end = 0x1014,
		.program = (const uint8_t *)function,
		.program_size = sizeof(function) - 1,
	};

	pmp_rule_make(&cie, &fde, pc, rule);
}

static void is_rule(uint64_t pc, bool cfa_fp, int32_t cfa_offset, uint8_t where,
		    const char *what)
{
	struct pmp_rule rule;

	make(pc, &rule);
	is_int(rule.kind, PMP_RULE_FRAME, "%s: a frame", what);
	ok(rule.cfa_fp == cfa_fp && rule.cfa_offset == cfa_offset, "%s: CFA", what);
	ok(rule.fp == where && rule.ra == where, "%s: x29 and x30", what);
	if (where == PMP_WHERE_SAVED)
		ok(rule.fp_offset == -32 && rule.ra_offset == -24, "%s: where", what);
}

static void test_apply(void)
{
	const uint64_t stack[] = { 0x8040, UINT64_C(0x003f000000002222), 0, 0 };
	struct fake fake = { .count = 0 };
	struct pmp_reader reader = fake_reader(&fake);
	struct pmp_regs regs = { 0 };
	struct pmp_rule rule;

	fake_add(&fake, 0x8000, stack, sizeof(stack));
	pmp_regs_set(&regs, pmp_arch_aarch64.sp, 0x8000);
	pmp_regs_set(&regs, pmp_arch_aarch64.fp, 0x1234);
	pmp_regs_set(&regs, pmp_arch_aarch64.link, 0x5678);
	make(0x1000, &rule);
	ok(pmp_rule_apply(&pmp_arch_aarch64, &rule, &reader, &regs) && fake.reads == 0,
	   "a leaf reads nothing");
	ok(pmp_regs_get(&regs, pmp_arch_aarch64.pc) == 0x5678 &&
		   pmp_regs_get(&regs, pmp_arch_aarch64.sp) == 0x8000 &&
		   pmp_regs_get(&regs, pmp_arch_aarch64.fp) == 0x1234 &&
		   !pmp_regs_has(&regs, pmp_arch_aarch64.link),
	   "its caller; x30 is no longer known");
	pmp_regs_set(&regs, pmp_arch_aarch64.fp, 0x8000);
	make(0x1008, &rule);
	ok(pmp_rule_apply(&pmp_arch_aarch64, &rule, &reader, &regs) && fake.reads == 1,
	   "a frame: one read");
	ok(pmp_regs_get(&regs, pmp_arch_aarch64.pc) == 0x2222 &&
		   pmp_regs_get(&regs, pmp_arch_aarch64.sp) == 0x8020 &&
		   pmp_regs_get(&regs, pmp_arch_aarch64.fp) == 0x8040,
	   "its caller, without the signature");
}

/* In code of Go the return address is where sp is, and the frame pointer below it. */
static void test_go(void)
{
	enum { SP = 0x8008, SIZE = 48 };
	const uint64_t record[] = { 0x8100, 0x2222 };
	struct fake fake = { .count = 0 };
	struct pmp_reader reader = fake_reader(&fake);
	struct pmp_regs regs = { 0 }, first;
	struct pmp_rule rule;

	pmp_regs_set(&regs, pmp_arch_aarch64.sp, SP);
	pmp_regs_set(&regs, pmp_arch_aarch64.fp, SP - 8);
	pmp_regs_set(&regs, pmp_arch_aarch64.link, 0x5678);
	first = regs;
	pmp_arch_aarch64.go_frame(0, &rule);
	ok(pmp_rule_apply(&pmp_arch_aarch64, &rule, &reader, &regs) && fake.reads == 0 &&
		   pmp_regs_get(&regs, pmp_arch_aarch64.pc) == 0x5678 &&
		   pmp_regs_get(&regs, pmp_arch_aarch64.sp) == SP &&
		   pmp_regs_get(&regs, pmp_arch_aarch64.fp) == SP - 8,
	   "Go: the caller of a function without a frame");
	regs = first;
	pmp_arch_aarch64.go_frame(SIZE, &rule);
	ok(!pmp_rule_apply(&pmp_arch_aarch64, &rule, &reader, &regs),
	   "Go: a frame that cannot be read");
	fake_add(&fake, SP - 8, record, sizeof(record));
	ok(pmp_rule_apply(&pmp_arch_aarch64, &rule, &reader, &regs) &&
		   pmp_regs_get(&regs, pmp_arch_aarch64.pc) == record[1] &&
		   pmp_regs_get(&regs, pmp_arch_aarch64.sp) == SP + SIZE &&
		   pmp_regs_get(&regs, pmp_arch_aarch64.fp) == record[0],
	   "Go: the caller of a function with one");
}

int main(void)
{
	is_rule(0x1000, false, 0, PMP_WHERE_SAME, "first instruction");
	is_rule(0x1004, false, 32, PMP_WHERE_SAVED, "behind stp");
	is_rule(0x1008, true, 32, PMP_WHERE_SAVED, "behind mov x29, sp");
	is_rule(0x100c, true, 32, PMP_WHERE_SAVED, "before ldp");
	is_rule(0x1010, false, 0, PMP_WHERE_SAME, "before ret");
	test_apply();
	test_go();
	return done_testing();
}
