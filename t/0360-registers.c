/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks that begin with pc and sp alone, as those of blocked threads do: what is
 * asked for, what is said of each frame; and registers that rules do not follow.
 */
#include "tap.h"

#ifdef __x86_64__

#include "unwind/walk.h"
#include "fakeelf.h"

#define FRAMES 16
#define RBX 3

enum { A, B = ELF_FUNCTION, C = 2 * ELF_FUNCTION, D = 3 * ELF_FUNCTION };

/* What find_fp was asked, and answers. */
static struct {
	unsigned asked;
	size_t frame;
	uint64_t pc, sp, answer;
} finder;

static bool find_fp(void *arg, const struct pmp_regs *regs, size_t frame, uint64_t *fp)
{
	is_int(arg == &finder, 1, "asked with its argument");
	finder.asked++;
	finder.frame = frame;
	finder.pc = pmp_regs_get(regs, pmp_arch_here->pc);
	finder.sp = pmp_regs_get(regs, pmp_arch_here->sp);
	*fp = finder.answer;
	return finder.answer;
}

static struct pmp_raw_frame frames[FRAMES];
static struct pmp_frame_regs frame_regs[FRAMES];
static struct pmp_walk walk;
static bool use_rules;

/* rbx: 0 for unknown. answer: 0 for none, -1 for nothing to ask. */
static void walk_with(struct fakeelf *elf, uint64_t rbx, uint64_t answer)
{
	struct pmp_unwinder *unwinder = pmp_unwinder_new(pmp_arch_here, PMP_UNWIND_AUTO);
	struct pmp_regs regs = { 0 };

	memset(&finder, 0, sizeof(finder));
	memset(frame_regs, 0xff, sizeof(frame_regs));
	finder.answer = answer;
	pmp_regs_set(&regs, pmp_arch_here->pc, FAKEELF_PC(elf));
	pmp_regs_set(&regs, pmp_arch_here->sp, FAKEELF_SP);
	if (rbx)
		pmp_regs_set(&regs, RBX, rbx);
	walk = (struct pmp_walk){ .frames = frames,
				  .regs = frame_regs,
				  .limit = FRAMES,
				  .find_fp = answer == UINT64_MAX ? NULL : find_fp,
				  .find_fp_arg = &finder };
	if (!unwinder || pmp_unwinder_set_maps(unwinder, elf->maps, &elf->memory))
		abort();
	pmp_unwinder_set_rules(unwinder, use_rules);
	if (pmp_walk(unwinder, &regs, &elf->memory, &walk))
		abort();
	pmp_unwinder_free(unwinder);
}

static void is_end(size_t count, enum pmp_end end, bool needs_fp, const char *what)
{
	is_int(walk.count, count, "%s: frames", what);
	is_str(pmp_end_text(walk.end), pmp_end_text(end), "%s: end", what);
	is_int(walk.needs_fp, needs_fp, "%s: frame pointer wanted", what);
}

static void test_find_fp(void)
{
	struct fakeelf elf;

	fakeelf_make(&elf, &(struct fakeelf_options){ 0 });
	walk_with(&elf, 0, UINT64_MAX);
	is_end(2, PMP_END_NO_INFO, true, "nothing to ask");
	is_int(walk.top, FAKEELF_SP + 16, "sp of the frame that needs it");
	walk_with(&elf, 0, 0);
	is_end(2, PMP_END_NO_INFO, true, "asked, not found");
	is_int(finder.asked, 1, "asked once");

	walk_with(&elf, 0, FAKEELF_FP);
	is_end(4, PMP_END_ROOT, false, "asked and found");
	ok(finder.asked == 1 && finder.frame == 1 && finder.pc == elf.text + B + 0x10 &&
		   finder.sp == FAKEELF_SP + 16,
	   "for the frame that needs it");
	is_int(walk.top, ELF_STACK + 0x31 * 8, "sp of the outermost frame");
	ok(frame_regs[0].sp == FAKEELF_SP && !frame_regs[0].has_fp && !frame_regs[0].fp &&
		   frame_regs[1].sp == FAKEELF_SP + 16 && !frame_regs[1].has_fp,
	   "sp of the first frames; what was found is not known");
	ok(frame_regs[2].has_fp && frame_regs[2].fp == 0x2222 &&
		   frame_regs[2].sp == FAKEELF_FP + 16,
	   "what their caller has saved is");
	ok(frame_regs[3].has_fp && frame_regs[3].fp == 0x2222, "and stays");
	fakeelf_free(&elf);

	fakeelf_make(&elf,
		     &(struct fakeelf_options){ .no_hdr = true, .no_eh_frame = true });
	walk_with(&elf, 0, UINT64_MAX);
	is_end(1, PMP_END_NO_INFO, true, "a chain of frame pointers without its start");
	elf.stack[0x20] = ELF_STACK + 0x22 * 8;
	elf.stack[0x22] = elf.stack[0x23] = 0;
	walk_with(&elf, 0, FAKEELF_FP);
	is_end(2, PMP_END_ROOT, false, "and with it");
	ok(finder.asked == 1 && finder.frame == 0, "for the first frame");
	fakeelf_free(&elf);
}

/* C's CFA becomes rbx+16, a register that A and B leave alone. */
static void test_other_register(void)
{
	struct fakeelf elf;
	char *program;

	fakeelf_make(&elf, &(struct fakeelf_options){ 0 });
	program = memmem(elf.file, ELF_SIZE, "\x0f\x05\x77\x08\x06\x23\x08", 7);
	if (!program)
		abort();
	memcpy(program, "\x0c\x03\x10\0\0\0\0", 7);
	walk_with(&elf, ELF_STACK + 0x2f * 8, FAKEELF_FP);
	is_end(4, PMP_END_ROOT, false, "a CFA by rbx");
	is_int(finder.asked, use_rules ? 2 : 1, "asked in each walk");
	is_int(walk.top, ELF_STACK + 0x31 * 8, "rbx was what it was at the start");
	walk_with(&elf, 0, FAKEELF_FP);
	is_end(3, PMP_END_NO_INFO, false, "by rbx, which is unknown");
	fakeelf_free(&elf);
}

static void is_rule(struct pmp_unwinder *unwinder, const struct fakeelf *elf, uint64_t pc,
		    bool exact, const struct pmp_rule *rule, const char *what)
{
	struct pmp_rule found;
	bool known = pmp_unwinder_rule(unwinder, elf->text + pc, exact, &found);

	is_int(known, rule->kind != PMP_RULE_NONE, "%s: known", what);
	is_int(found.kind, rule->kind, "%s: kind", what);
	is_int(found.function_start,
	       rule->kind == PMP_RULE_NONE ? 0
					   : elf->text + pc / ELF_FUNCTION * ELF_FUNCTION,
	       "%s: function", what);
	ok(found.cfa_fp == rule->cfa_fp && found.cfa_offset == rule->cfa_offset &&
		   found.fp == rule->fp && found.fp_offset == rule->fp_offset,
	   "%s: CFA and frame pointer", what);
}

static void test_rules(void)
{
	struct pmp_unwinder *unwinder = pmp_unwinder_new(pmp_arch_here, PMP_UNWIND_AUTO);
	const struct pmp_rule by_sp = { .kind = PMP_RULE_FRAME, .cfa_offset = 16 },
			      first = { .kind = PMP_RULE_FRAME, .cfa_offset = 8 },
			      by_fp = { .kind = PMP_RULE_FRAME,
					.cfa_fp = true,
					.cfa_offset = 16,
					.fp = PMP_WHERE_SAVED,
					.fp_offset = -16 },
			      root = { .kind = PMP_RULE_ROOT, .cfa_offset = 8 },
			      general = { .kind = PMP_RULE_LIBUNWIND },
			      none = { .kind = PMP_RULE_NONE };
	struct fakeelf elf;

	fakeelf_make(&elf, &(struct fakeelf_options){ 0 });
	if (pmp_unwinder_set_maps(unwinder, elf.maps, &elf.memory))
		abort();
	for (int again = 0; again < 2; again++) {
		const char *when = again ? "again" : "first";

		is_rule(unwinder, &elf, A + 0x10, true, &by_sp, when);
		is_rule(unwinder, &elf, A + 4, true, &by_sp, when);
		is_rule(unwinder, &elf, A + 4, false, &first, when);
		is_rule(unwinder, &elf, B + 0x10, false, &by_fp, when);
		is_rule(unwinder, &elf, C + 0x10, false, &general, when);
		is_rule(unwinder, &elf, D + 0x10, false, &root, when);
		is_rule(unwinder, &elf, 5 * ELF_FUNCTION, true, &none, when);
		if (!again)
			elf.fake.reads = 0;
	}
	is_int(elf.fake.reads, 0, "what is known is not read again");
	/* More than there is room for: each still says what it said. */
	for (uint64_t pc = 0; pc < 100000; pc++) {
		struct pmp_rule rule;

		pmp_unwinder_rule(unwinder, elf.text + pc, true, &rule);
	}
	is_rule(unwinder, &elf, B + 0x10, false, &by_fp, "after many others");
	pmp_unwinder_free(unwinder);
	fakeelf_free(&elf);
}

int main(void)
{
	for (int i = 0; i < 2; i++) {
		use_rules = i;
		diag("%s", i ? "by rules" : "by libunwind alone");
		test_find_fp();
		test_other_register();
	}
	test_rules();
	return done_testing();
}

#else

TAP_ONLY_SKIPS("not an x86-64 host")

#endif
