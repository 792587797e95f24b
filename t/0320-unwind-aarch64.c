/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rules of aarch64 for code without call-frame information: instructions by
 * their words. The functions are built for their own processor only.
 */
#include "tap.h"

#ifdef __aarch64__

#include "capture/arch.h"
#include "fakeproc.h"

static uint32_t code[64];
static struct fake fake;
static struct pmp_reader memory;

static void test_calls(void)
{
	static const struct {
		const char *name;
		uint32_t word;
		bool is_call;
	} cases[] = {
		{ "bl .+0x40", 0x94000010, true },
		{ "bl .-4", 0x97ffffff, true },
		{ "blr x3", 0xd63f0060, true },
		{ "blraa x0, x1", 0xd73f0801, true },
		{ "blraaz x0", 0xd63f081f, true },
		{ "b .+0x40", 0x14000010, false },
		{ "br x3", 0xd61f0060, false },
		{ "ret", 0xd65f03c0, false },
	};
	uint64_t target;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		code[3] = cases[i].word;
		is_int(pmp_arch_follows_call(&memory, 0x1010, &target), cases[i].is_call,
		       "%s", cases[i].name);
	}
	code[3] = 0x94000010;
	ok(pmp_arch_follows_call(&memory, 0x1010, &target) && target == 0x104c,
	   "bl: its target");
	code[3] = 0x97ffffff;
	ok(pmp_arch_follows_call(&memory, 0x1010, &target) && target == 0x1008,
	   "bl back");
	ok(!pmp_arch_follows_call(&memory, 0x1012, NULL), "not aligned");
}

static void test_frames(void)
{
	static uint64_t stack[128];
	struct pmp_regs regs = { 0 }, caller;
	struct pmp_arch_entry entry;

	code[0] = 0xd2801168;		/* mov x8, #139 */
	code[1] = 0xd4000001;		/* svc #0 */
	ok(pmp_arch_is_sigreturn(&memory, 0x1000), "the trampoline");
	ok(pmp_arch_is_sigreturn(&memory, 0x1004), "at its system call");
	ok(!pmp_arch_is_sigreturn(&memory, 0x1008), "behind it");

	fake_add(&fake, 0x2000, stack, sizeof(stack));
	pmp_regs_set(&regs, pmp_reg_sp, 0x2000);
	for (size_t i = 0; i < 33; i++)
		stack[(128 + 176 + 8) / 8 + i] = 0x100 + i;
	ok(pmp_arch_signal_caller(&memory, &regs, &caller), "a signal frame");
	is_int(pmp_regs_get(&caller, pmp_reg_pc), 0x100 + 32, "its pc");
	is_int(pmp_regs_get(&caller, pmp_reg_sp), 0x100 + 31, "its sp");
	is_int(pmp_regs_get(&caller, pmp_reg_fp), 0x100 + 29, "its fp");

	code[8] = 0xa9be7bfd;		/* stp x29, x30, [sp, #-32]! */
	ok(pmp_arch_entry(&memory, 0x1020, &entry), "a function's first instruction");
	pmp_regs_set(&regs, 30, 0x1234);
	ok(pmp_arch_entry_caller(&memory, &regs, &entry, &caller),
	   "its caller is in x30");
	is_int(pmp_regs_get(&caller, pmp_reg_pc), 0x1234, "its address");
	is_int(pmp_regs_get(&caller, pmp_reg_sp), 0x2000, "its stack pointer");
	code[8] = 0xd503201f;		/* nop */
	ok(!pmp_arch_entry(&memory, 0x1020, &entry), "another instruction");
	is_int(pmp_arch_code(UINT64_C(0x003f7fffabcd1234)), UINT64_C(0x7fffabcd1234),
	       "a signed address");
}

int main(void)
{
	fake_add(&fake, 0x1000, code, sizeof(code));
	memory = fake_reader(&fake);
	test_calls();
	test_frames();
	return done_testing();
}

#else

int main(void)
{
	skip("not an aarch64 host");
	return done_testing();
}

#endif
