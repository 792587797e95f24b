/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rules of aarch64 for code without call-frame information: instructions by
 * their words. What asks the processor itself is run on that one only.
 */
#include "tap.h"

#ifdef __aarch64__
#include "capture/user-regs.h"
#endif
#include "unwind/arch.h"
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
		{ "bl .+0x40", 0x94000010, true }, { "bl .-4", 0x97ffffff, true },
		{ "blr x3", 0xd63f0060, true },	   { "blraa x0, x1", 0xd73f0801, true },
		{ "blraaz x0", 0xd63f081f, true }, { "b .+0x40", 0x14000010, false },
		{ "br x3", 0xd61f0060, false },	   { "ret", 0xd65f03c0, false },
	};
	uint64_t target;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		code[3] = cases[i].word;
		is_int(pmp_arch_aarch64.follows_call(&memory, 0x1010, &target),
		       cases[i].is_call, "%s", cases[i].name);
	}
	code[3] = 0x94000010;
	ok(pmp_arch_aarch64.follows_call(&memory, 0x1010, &target) && target == 0x104c,
	   "bl: its target");
	code[3] = 0x97ffffff;
	ok(pmp_arch_aarch64.follows_call(&memory, 0x1010, &target) && target == 0x1008,
	   "bl back");
	ok(!pmp_arch_aarch64.follows_call(&memory, 0x1012, NULL), "not aligned");
}

static void test_frames(void)
{
	static uint64_t stack[128];
	struct pmp_regs regs = { 0 }, caller;
	struct pmp_arch_entry entry;

	code[0] = 0xd2801168; /* mov x8, #139 */
	code[1] = 0xd4000001; /* svc #0 */
	ok(pmp_arch_aarch64.is_sigreturn(&memory, 0x1000), "the trampoline");
	ok(pmp_arch_aarch64.is_sigreturn(&memory, 0x1004), "at its system call");
	ok(!pmp_arch_aarch64.is_sigreturn(&memory, 0x1008), "behind it");

	fake_add(&fake, 0x2000, stack, sizeof(stack));
	pmp_regs_set(&regs, pmp_arch_aarch64.sp, 0x2000);
	for (size_t i = 0; i < 33; i++)
		stack[(128 + 176 + 8) / 8 + i] = 0x100 + i;
	ok(pmp_arch_aarch64.signal_caller(&memory, &regs, &caller), "a signal frame");
	is_int(pmp_regs_get(&caller, pmp_arch_aarch64.pc), 0x100 + 32, "its pc");
	is_int(pmp_regs_get(&caller, pmp_arch_aarch64.sp), 0x100 + 31, "its sp");
	is_int(pmp_regs_get(&caller, pmp_arch_aarch64.fp), 0x100 + 29, "its fp");

	code[8] = 0xa9be7bfd; /* stp x29, x30, [sp, #-32]! */
	ok(pmp_arch_aarch64.entry(&memory, 0x1020, &entry),
	   "a function's first instruction");
	pmp_regs_set(&regs, 30, 0x1234);
	ok(pmp_arch_aarch64.entry_caller(&memory, &regs, &entry, &caller),
	   "its caller is in x30");
	is_int(pmp_regs_get(&caller, pmp_arch_aarch64.pc), 0x1234, "its address");
	is_int(pmp_regs_get(&caller, pmp_arch_aarch64.sp), 0x2000, "its stack pointer");
	code[8] = 0xd503201f; /* nop */
	ok(!pmp_arch_aarch64.entry(&memory, 0x1020, &entry), "another instruction");

	code[8] = 0xa9be7bfd;
	code[9] = 0x910003fd; /* mov x29, sp */
	stack[0] = 0x5678;
	stack[1] = 0x1238;
	ok(pmp_arch_aarch64.entry(&memory, 0x1024, &entry), "behind the push");
	ok(pmp_arch_aarch64.entry_caller(&memory, &regs, &entry, &caller), "its caller");
	is_int(pmp_regs_get(&caller, pmp_arch_aarch64.pc), 0x1238,
	       "by the pushed address");
	is_int(pmp_regs_get(&caller, pmp_arch_aarch64.fp), 0x5678,
	       "with the pushed frame pointer");
	is_int(pmp_regs_get(&caller, pmp_arch_aarch64.sp), 0x2020,
	       "above what was pushed");
	code[8] = 0xd503201f;
	ok(!pmp_arch_aarch64.entry(&memory, 0x1024, &entry),
	   "mov x29, sp behind no push");
}

static void test_stubs(void)
{
	static const uint32_t first[] = { 0xa9bf7bf0, 0x90000090, 0xf9400611,
					  0x91002210, 0xd61f0220, 0xd503201f },
			      stub[] = { 0x90000090, 0xf9400a11, 0x91004210, 0xd61f0220 },
			      signed_stub[] = { 0x90000090, 0xf9400a11, 0x91004210,
						0xd503219f, 0xd61f0220 };
	struct pmp_arch_entry entry;

	memset(code, 0, sizeof(code));
	memcpy(code + 4, first, sizeof(first));
	memcpy(code + 10, stub, sizeof(stub));
	memcpy(code + 16, signed_stub, sizeof(signed_stub));
	for (uint64_t i = 0; i < 4; i++) {
		ok(pmp_arch_aarch64.entry(&memory, 0x1014 + 4 * i, &entry) &&
			   entry.words == 2,
		   "the first stub, instruction %d", (int)i + 1);
		ok(pmp_arch_aarch64.entry(&memory, 0x1028 + 4 * i, &entry) &&
			   entry.words == 0,
		   "a stub, instruction %d", (int)i);
	}
	for (uint64_t i = 0; i < 5; i++)
		ok(pmp_arch_aarch64.entry(&memory, 0x1040 + 4 * i, &entry) &&
			   entry.words == 0,
		   "a stub that checks a signature, instruction %d", (int)i);
	ok(!pmp_arch_aarch64.entry(&memory, 0x1024, &entry), "between two");
	ok(!pmp_arch_aarch64.entry(&memory, 0x1038, &entry), "behind one");
	code[12] = 0xd503201f;
	ok(!pmp_arch_aarch64.entry(&memory, 0x1028, &entry), "adrp alone");
	ok(!pmp_arch_aarch64.entry(&memory, 0x1034, &entry), "br x17 alone");
}

/* A return address as this processor signs it, if it does; else as others do. */
static void test_signature(void)
{
#ifdef __aarch64__
	register uint64_t link __asm__("x30") = UINT64_C(0x7fabcd1234);

	__asm__ volatile("hint #25" : "+r"(link)); /* paciasp */
#else
	const uint64_t link = UINT64_C(0x3a007fabcd1234);
#endif
	diag("signed: %#llx", (unsigned long long)link);
	is_int(pmp_arch_code(&pmp_arch_aarch64, link), UINT64_C(0x7fabcd1234),
	       "a signed address");
	is_int(pmp_arch_code(&pmp_arch_aarch64, UINT64_C(0xaaaabbbbcccc)),
	       UINT64_C(0xaaaabbbbcccc), "one that is not");
}

static void test_stack_pointer(void)
{
	static const struct {
		const char *name;
		uint32_t word;
		bool moves;
	} cases[] = {
		{ "sub sp, sp, x0", 0xcb2063ff, true },
		{ "sub sp, sp, #0x20", 0xd10083ff, false },
		{ "add sp, sp, #0x20", 0x910083ff, false },
		{ "mov sp, x0", 0x9100001f, true },
		{ "mov sp, x29", 0x910003bf, false },
		{ "and sp, x9, #~15", 0x927cec3f, true },
		{ "mov x29, sp", 0x910003fd, false },
		{ "sub x0, x1, x2", 0xcb020020, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		is_int(pmp_arch_aarch64.moves_sp((const uint8_t *)&cases[i].word, 4),
		       cases[i].moves, "moves sp: %s", cases[i].name);
}

static void test_prologues(void)
{
	static const struct {
		const char *name;
		bool framed;
		int size;
		uint32_t words[8];
	} cases[] = {
		{ "at the bottom",
		  true,
		  0,
		  { 0xa9be7bfd, 0x910003fd, 0xa90153f3, 0x94000000 } },
		{ "above arguments",
		  true,
		  16,
		  { 0xd10103ff, 0xa9017bfd, 0x910043fd, 0x94000000 } },
		{ "signed",
		  true,
		  0,
		  { 0xd503233f, 0xa9be7bfd, 0xd503201f, 0x910003fd, 0xd63f0000 } },
		{ "more room behind",
		  true,
		  48,
		  { 0xa9be7bfd, 0x910003fd, 0xd100c3ff, 0x94000000 } },
		{ "a push behind",
		  true,
		  16,
		  { 0xa9be7bfd, 0x910003fd, 0xf81f0fe0, 0x94000000 } },
		{ "two pushes behind",
		  true,
		  48,
		  { 0xa9be7bfd, 0x910003fd, 0xa9bf53f3, 0x6dbe27e8, 0x94000000 } },
		{ "a call before", false, 0, { 0x94000000, 0xa9be7bfd, 0x910003fd } },
		{ "none", false, 0, { 0xd10103ff, 0xf90003fe, 0x94000000 } },
		{ "from another register",
		  false,
		  0,
		  { 0xa9be7bfd, 0x910043fd, 0x9100013d, 0x94000000 } },
		{ "lost again",
		  false,
		  0,
		  { 0xa9be7bfd, 0x910003fd, 0x910083ff, 0x94000000 } },
	};
	uint64_t size;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		is_int(pmp_arch_aarch64.frame_size((const uint8_t *)cases[i].words,
						   sizeof(cases[i].words), &size),
		       cases[i].framed, "a frame's size: %s", cases[i].name);
		is_int(size, cases[i].size, "%s: %d", cases[i].name, cases[i].size);
	}
}

static void test_call(void)
{
#ifdef __aarch64__
	struct pmp_regs regs = { 0 };

	pmp_regs_set(&regs, pmp_arch_aarch64.pc, 0x1000);
	pmp_user_regs_after_call(&regs, 0x1008);
	is_int(pmp_regs_get(&regs, pmp_arch_aarch64.pc), 0x1000,
	       "a stop at another place");
	pmp_user_regs_after_call(&regs, 0x1004);
	is_int(pmp_regs_get(&regs, pmp_arch_aarch64.pc), 0x1004,
	       "a stop that the call outlives");
#endif
}

int main(void)
{
	fake_add(&fake, 0x1000, code, sizeof(code));
	memory = fake_reader(&fake);
	test_calls();
	test_frames();
	test_stubs();
	test_signature();
	test_stack_pointer();
	test_prologues();
	test_call();
	return done_testing();
}
