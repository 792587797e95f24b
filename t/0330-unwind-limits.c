/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks that go round in circles, nowhere, or on and on. The unwinder stops,
 * says why, and keeps what it has.
 */
#include "tap.h"

#ifdef __x86_64__

#include <time.h>

#include "unwind/walk.h"
#include "fakeelf.h"

#define DEEP 1000000
#define OTHER_STACK UINT64_C(0x7ffd00000000)

enum { B = ELF_FUNCTION, C = 2 * ELF_FUNCTION, D = 3 * ELF_FUNCTION };

static struct pmp_raw_frame frames[DEEP + 16];
static struct pmp_walk walk;

static void walk_from(struct fakeelf *elf, uint64_t pc, uint64_t sp, uint64_t fp,
		      size_t limit)
{
	struct pmp_unwinder *unwinder = pmp_unwinder_new(pmp_arch_here, PMP_UNWIND_AUTO);
	struct pmp_regs regs = { 0 };

	pmp_regs_set(&regs, pmp_arch_here->pc, pc);
	pmp_regs_set(&regs, pmp_arch_here->sp, sp);
	pmp_regs_set(&regs, pmp_arch_here->fp, fp);
	walk = (struct pmp_walk){ .frames = frames, .limit = limit };
	if (!unwinder || pmp_unwinder_set_maps(unwinder, elf->maps, &elf->memory) ||
	    pmp_walk(unwinder, &regs, &elf->memory, &walk))
		abort();
	pmp_unwinder_free(unwinder);
}

static void is_end(size_t count, enum pmp_end end, const char *what)
{
	is_int(walk.count, count, "%s: frames", what);
	is_str(pmp_end_text(walk.end), pmp_end_text(end), "%s: end", what);
}

static void test_limit(struct fakeelf *elf)
{
	walk_from(elf, FAKEELF_PC(elf), FAKEELF_SP, FAKEELF_FP, 4);
	is_end(4, PMP_END_ROOT, "room for all");
	is_int(walk.top, ELF_STACK + 0x31 * 8, "sp of the outermost frame");
	walk_from(elf, FAKEELF_PC(elf), FAKEELF_SP, FAKEELF_FP, 3);
	is_end(3, PMP_END_DEPTH, "room for three");
	walk_from(elf, FAKEELF_PC(elf), FAKEELF_SP, FAKEELF_FP, 1);
	is_end(1, PMP_END_DEPTH, "room for one");
	walk_from(elf, FAKEELF_PC(elf), FAKEELF_SP, FAKEELF_FP, 0);
	is_end(0, PMP_END_DEPTH, "no room");
}

static void test_wild(struct fakeelf *elf)
{
	static const uint64_t wild[] = {
		0,
		1,
		0x1000,
		ELF_STACK - 16,
		ELF_STACK + ELF_STACK_SIZE - 8,
		ELF_STACK + ELF_STACK_SIZE,
		UINT64_C(0x800000000000),
		UINT64_C(0xfff0000000000000),
		UINT64_C(0xffffffffff600000),
		UINT64_MAX,
	};

	for (size_t i = 0; i < sizeof(wild) / sizeof(*wild); i++) {
		char what[64];

		snprintf(what, sizeof(what), "sp %#" PRIx64, wild[i]);
		walk_from(elf, FAKEELF_PC(elf), wild[i], FAKEELF_FP, 64);
		ok(walk.count >= 1 && walk.count <= 2 && walk.end != PMP_END_ROOT,
		   "%s: %s", what, pmp_end_text(walk.end));
		walk_from(elf, wild[i], FAKEELF_SP, wild[i], 64);
		ok(walk.count >= 1 && walk.count <= 4 && frames[0].pc == wild[i],
		   "pc and rbp instead: %s", pmp_end_text(walk.end));
	}
	walk_from(elf, FAKEELF_PC(elf), 0x1000, FAKEELF_FP, 64);
	is_end(1, PMP_END_UNREADABLE, "a stack that cannot be read");
}

/* The stack ends in the middle: as with a copy that is too short. */
static void test_cut(struct fakeelf *elf)
{
	elf->fake.parts[2].size = 0x22 * 8;
	walk_from(elf, FAKEELF_PC(elf), FAKEELF_SP, FAKEELF_FP, 64);
	is_end(3, PMP_END_UNREADABLE, "a stack that can be read in part");
	elf->fake.parts[2].size = ELF_STACK_SIZE;
}

static void test_circles(struct fakeelf *elf)
{
	static uint64_t other[0x80];

	/* B's CFA is below its sp */
	walk_from(elf, elf->text + B + 0x10, ELF_STACK + 0x40 * 8, FAKEELF_FP, 64);
	is_end(1, PMP_END_LOOP, "a CFA below sp");

	/* B called by B, whose saved rbp points at itself */
	elf->stack[0x40] = ELF_STACK + 0x40 * 8;
	elf->stack[0x41] = elf->text + B + 0x10;
	walk_from(elf, elf->text + B + 0x10, ELF_STACK + 0x38 * 8, ELF_STACK + 0x40 * 8,
		  64);
	is_end(2, PMP_END_LOOP, "a saved rbp that points at itself");

	/* C's CFA - 8, at sp + 8, is on the other stack, each time */
	fake_add(&elf->fake, OTHER_STACK, other, sizeof(other));
	elf->maps->region_count = 0;
	elf->maps->generation++;
	elf->maps->exec_generation++;
	fake_region(elf->maps, ELF_BASE, 0x1000, PMP_PROT_READ, PMP_MODULE_FILE);
	fake_region(elf->maps, elf->text, 0x1000, PMP_PROT_READ | PMP_PROT_EXEC, -1);
	fake_region(elf->maps, OTHER_STACK, sizeof(other), PMP_PROT_READ,
		    PMP_MODULE_SPECIAL);
	fake_region(elf->maps, ELF_STACK, ELF_STACK_SIZE, PMP_PROT_READ,
		    PMP_MODULE_SPECIAL);
	other[0] = elf->stack[0x50] = elf->text + C + 0x10;
	other[2] = ELF_STACK + 0x50 * 8;
	elf->stack[0x52] = OTHER_STACK;
	walk_from(elf, elf->text + C + 0x10, ELF_STACK + 0x51 * 8, 0, DEEP);
	is_str(pmp_end_text(walk.end), pmp_end_text(PMP_END_LOOP),
	       "two stacks in a circle");
	ok(walk.count > 2 && walk.count < 200, "two stacks: %zu frames", walk.count);
}

/* A called by A called by ... D, each 16 bytes of stack. */
static void test_deep(struct fakeelf *elf)
{
	size_t size = ((size_t)DEEP * 2 + 64) * 8;
	uint64_t *stack = calloc(1, size);
	struct timespec begin, end;
	size_t wrong = 0;

	if (!stack)
		abort();
	for (size_t i = 1; i < DEEP; i++)
		stack[2 * i - 1] = elf->text + 0x10;
	stack[2 * DEEP - 1] = elf->text + D + 0x10;
	elf->fake.parts[elf->fake.count - 1].size = 0;
	fake_add(&elf->fake, UINT64_C(0x7fff00000000), stack, size);
	/* A calls itself: what the rules would look at */
	memcpy(elf->file + elf->offset + 0x0b, "\xe8\xf0\xff\xff\xff", 5);

	clock_gettime(CLOCK_MONOTONIC, &begin);
	walk_from(elf, FAKEELF_PC(elf), UINT64_C(0x7fff00000000), 0, DEEP + 16);
	clock_gettime(CLOCK_MONOTONIC, &end);
	is_end(DEEP + 1, PMP_END_ROOT, "a million frames");
	for (size_t i = 0; i < DEEP && i < walk.count; i++)
		wrong += frames[i].pc != elf->text + 0x10;
	is_int(wrong, 0, "a million frames: every one right");
	diag("%.0f ns a frame", ((double)(end.tv_sec - begin.tv_sec) * 1e9 +
				 (double)(end.tv_nsec - begin.tv_nsec)) /
					DEEP);
	walk_from(elf, FAKEELF_PC(elf), UINT64_C(0x7fff00000000), 0, 1024);
	is_end(1024, PMP_END_DEPTH, "the first 1024 of them");
	free(stack);
}

/*
 * A function after the others, with a call-frame program of up to 60 KB to execute for each
 * of its pcs: remember and restore, again and again, and then the end that is given.
 */
#define SLOW_START 0x1000 /* from the text on */
#define SLOW_SIZE 0x10000
#define SLOW_FDE 0x100000 /* from the file's first byte on */
#define SLOW_PAIRS 30000
#define SLOW_PAIRS_LIBUNWIND 1000     /* with 3000 they are not given to it */
#define EXPRESSION "\x0f\x02\x77\x08" /* for the CFA: %rsp + 8 */
#define SLOW_EXPRESSION 20000	      /* bytes */
#define SLOW_DEPTH 500
#define SLOW_STACK UINT64_C(0x7fff00000000)

static void add_slow(struct fakeelf *elf, int pairs, const char *end, size_t end_size)
{
	static uint8_t fde[4 + 2 * SLOW_PAIRS + 64], code[SLOW_SIZE];
	uint64_t start = elf->text - ELF_BASE + SLOW_START;
	struct fakeelf_out out = { fde, 0 }, hdr = { elf->file, 0x208 };
	Elf64_Phdr *segment = (Elf64_Phdr *)(void *)(elf->file + sizeof(Elf64_Ehdr)) + 2;

	fakeelf_put(&out, 0, 4);
	fakeelf_put(&out, SLOW_FDE + 4 - 0x300, 4);
	fakeelf_put(&out, start - (SLOW_FDE + 8), 4);
	fakeelf_put(&out, SLOW_SIZE, 4);
	fakeelf_put(&out, 0, 1);
	for (int i = 0; i < pairs; i++)
		fakeelf_bytes(&out, "\x0a\x0b", 2);
	fakeelf_bytes(&out, end, end_size);
	fakeelf_end(&out, 0);
	fakeelf_put(&hdr, 5, 4);
	hdr.at += 4 * 8;
	fakeelf_put(&hdr, start - 0x200, 4);
	fakeelf_put(&hdr, SLOW_FDE - 0x200, 4);
	segment->p_filesz = segment->p_memsz = hdr.at - 0x200;
	elf->maps->regions[1].end += SLOW_SIZE;
	fake_add(&elf->fake, ELF_BASE + SLOW_FDE, fde, out.at);
	fake_add(&elf->fake, elf->text + SLOW_START, code, sizeof(code));
}

static void count_beat(void *arg)
{
	++*(size_t *)arg;
}

/* Walk the same stack, called from 500 places of that function, again and again. */
static void test_slow(int pairs, const char *end, size_t end_size, const char *what)
{
	static uint64_t stack[SLOW_DEPTH + 64];
	const bool completes = end_size == 0;
	struct pmp_unwinder *unwinder = pmp_unwinder_new(pmp_arch_here, PMP_UNWIND_AUTO);
	struct pmp_regs regs = { 0 };
	struct fakeelf elf;
	size_t beats = 0, most = 0;

	fakeelf_make(&elf, &(struct fakeelf_options){ 0 });
	add_slow(&elf, pairs, end, end_size);
	for (size_t i = 0; i < SLOW_DEPTH; i++)
		stack[i] = elf.text + SLOW_START + 0x20 + 16 * i;
	stack[SLOW_DEPTH] = elf.text + D + 0x10;
	fake_add(&elf.fake, SLOW_STACK, stack, sizeof(stack));
	pmp_regs_set(&regs, pmp_arch_here->pc, elf.text + SLOW_START + 0x10);
	pmp_regs_set(&regs, pmp_arch_here->sp, SLOW_STACK);
	pmp_unwinder_set_beat(unwinder, count_beat, &beats);
	pmp_unwinder_set_maps(unwinder, elf.maps, &elf.memory);
	for (int i = 0; i < (completes ? 100 : 3); i++) {
		walk = (struct pmp_walk){ .frames = frames, .limit = DEEP };
		pmp_walk(unwinder, &regs, &elf.memory, &walk);
		if (pmp_unwinder_work(unwinder) > most)
			most = pmp_unwinder_work(unwinder);
		if (i == 0) {
			is_str(pmp_end_text(walk.end), pmp_end_text(PMP_END_BAD_INFO),
			       "%s: the first walk gives up", what);
			ok(walk.count >= 2 && walk.count < 20, "%s: after %zu frames",
			   what, walk.count);
			ok(beats >= walk.count - 1, "%s: with a sign of life for each",
			   what);
		}
	}
	ok(most <= PMP_WALK_WORK_MAX + 8 * PMP_CFI_PROGRAM_MAX,
	   "%s: no walk executes more than the limit, and one program: %zu bytes", what,
	   most);
	if (completes)
		is_end(SLOW_DEPTH + 2, PMP_END_ROOT,
		       "what is known by then takes no work");
	pmp_unwinder_free(unwinder);
	fakeelf_free(&elf);
}

static void test_too_slow_for_libunwind(void)
{
	struct fakeelf elf;

	fakeelf_make(&elf, &(struct fakeelf_options){ 0 });
	add_slow(&elf, 3000, EXPRESSION, strlen(EXPRESSION));
	walk_from(&elf, elf.text + SLOW_START + 0x10, SLOW_STACK, 0, 8);
	is_end(1, PMP_END_BAD_INFO, "a program too slow for libunwind is not executed");
	fakeelf_free(&elf);
}

/* An expression that libunwind has cached is executed again for each frame. */
static void test_slow_expression(void)
{
	static uint64_t stack[SLOW_DEPTH + 64];
	static char program[SLOW_EXPRESSION + 16] = "\x0f";
	struct pmp_unwinder *unwinder = pmp_unwinder_new(pmp_arch_here, PMP_UNWIND_AUTO);
	struct pmp_regs regs = { 0 };
	struct fakeelf elf;
	size_t length = 1;

	/* Its length, %rsp + 8, and DW_OP_dup, DW_OP_drop, again and again. */
	for (unsigned rest = SLOW_EXPRESSION; rest; rest >>= 7)
		program[length++] = (char)((rest & 0x7f) | (rest >> 7 ? 0x80 : 0));
	memcpy(program + length, "\x77\x08", 2);
	for (size_t i = 2; i < SLOW_EXPRESSION; i++)
		program[length + i] = i % 2 ? 0x13 : 0x12;
	fakeelf_make(&elf, &(struct fakeelf_options){ 0 });
	add_slow(&elf, 0, program, length + SLOW_EXPRESSION);
	for (size_t i = 0; i < SLOW_DEPTH; i++)
		stack[i] = elf.text + SLOW_START + 0x20;
	stack[SLOW_DEPTH] = elf.text + D + 0x10;
	fake_add(&elf.fake, SLOW_STACK, stack, sizeof(stack));
	pmp_regs_set(&regs, pmp_arch_here->pc, elf.text + SLOW_START + 0x10);
	pmp_regs_set(&regs, pmp_arch_here->sp, SLOW_STACK);
	pmp_unwinder_set_maps(unwinder, elf.maps, &elf.memory);
	for (int i = 0; i < 3; i++) {
		walk = (struct pmp_walk){ .frames = frames, .limit = DEEP };
		pmp_walk(unwinder, &regs, &elf.memory, &walk);
		is_str(pmp_end_text(walk.end), pmp_end_text(PMP_END_BAD_INFO),
		       "a slow expression in each frame: walk %d gives up", i + 1);
		ok(walk.count >= 2 &&
			   walk.count < 2 + PMP_WALK_WORK_MAX / SLOW_EXPRESSION,
		   "after %zu frames", walk.count);
	}
	pmp_unwinder_free(unwinder);
	fakeelf_free(&elf);
}

struct many_rules {
	struct pmp_unwinder *unwinder;
	uint64_t fp;
};

/* Asks for more rules than are cached. */
static bool find_fp(void *arg, const struct pmp_regs *regs, size_t frame, uint64_t *fp)
{
	const struct many_rules *many = arg;
	struct pmp_rule rule;

	(void)regs;
	(void)frame;
	for (uint64_t pc = 1; pc < 100000; pc++)
		pmp_unwinder_rule(many->unwinder, pc, true, &rule);
	*fp = many->fp;
	return true;
}

static void test_rule_stays(struct fakeelf *elf)
{
	struct many_rules many = { pmp_unwinder_new(pmp_arch_here, PMP_UNWIND_AUTO),
				   FAKEELF_FP };
	struct pmp_regs regs = { 0 };

	pmp_regs_set(&regs, pmp_arch_here->pc, FAKEELF_PC(elf));
	pmp_regs_set(&regs, pmp_arch_here->sp, FAKEELF_SP);
	walk = (struct pmp_walk){
		.frames = frames, .limit = 64, .find_fp = find_fp, .find_fp_arg = &many
	};
	pmp_unwinder_set_maps(many.unwinder, elf->maps, &elf->memory);
	pmp_walk(many.unwinder, &regs, &elf->memory, &walk);
	is_end(4, PMP_END_ROOT, "the frame pointer is found by walks through other code");
	pmp_unwinder_free(many.unwinder);
}

/* One program that is larger than any is not executed at all. */
static void test_too_large(void)
{
	static const uint8_t program[PMP_CFI_PROGRAM_MAX + 64];
	struct fakeelf_out out;
	struct pmp_cfi_bytes bytes = { .arch = pmp_arch_here };
	struct pmp_cfi_entry entry;
	struct pmp_cfi_cie cie = { .arch = pmp_arch_here };
	struct pmp_cfi_fde fde;
	uint8_t *data = malloc(sizeof(program) + 64);

	for (int i = 0; i < 2; i++) {
		out = (struct fakeelf_out){ data, 0 };
		fakeelf_put(&out, 0, 4);
		fakeelf_put(&out, 1, 4);
		fakeelf_put(&out, 0x1000, 8);
		fakeelf_put(&out, 0x1000, 8);
		fakeelf_bytes(&out, program, PMP_CFI_PROGRAM_MAX - 8 + 16 * (unsigned)i);
		fakeelf_end(&out, 0);
		bytes.data = data;
		bytes.size = out.at;
		ok(pmp_cfi_entry(&bytes, 0, &entry) &&
			   pmp_cfi_parse_fde(&bytes, &entry, &cie, &fde) == !i,
		   "a program of %u bytes is %s",
		   (unsigned)PMP_CFI_PROGRAM_MAX - 8 + 16 * i, i ? "refused" : "taken");
	}
	free(data);
}

/* The same address, another module: what was cached must not be used. */
static void test_remap(void)
{
	struct fakeelf one, two;
	struct pmp_unwinder *unwinder = pmp_unwinder_new(pmp_arch_here, PMP_UNWIND_CFI);
	struct pmp_regs regs = { 0 };

	fakeelf_make(&one, &(struct fakeelf_options){ 0 });
	fakeelf_make(&two,
		     &(struct fakeelf_options){ .no_hdr = true, .no_eh_frame = true });
	two.maps->exec_generation = one.maps->exec_generation + 1;
	two.maps->modules[0]->id = 77;
	pmp_regs_set(&regs, pmp_arch_here->pc, FAKEELF_PC(&one));
	pmp_regs_set(&regs, pmp_arch_here->sp, FAKEELF_SP);
	pmp_regs_set(&regs, pmp_arch_here->fp, FAKEELF_FP);
	walk = (struct pmp_walk){ .frames = frames, .limit = 64 };
	pmp_unwinder_set_maps(unwinder, one.maps, &one.memory);
	pmp_walk(unwinder, &regs, &one.memory, &walk);
	is_end(4, PMP_END_ROOT, "the first module");
	pmp_unwinder_set_maps(unwinder, two.maps, &two.memory);
	pmp_walk(unwinder, &regs, &two.memory, &walk);
	is_end(1, PMP_END_NO_INFO, "another module in its place");
	pmp_unwinder_set_maps(unwinder, one.maps, &one.memory);
	pmp_walk(unwinder, &regs, &one.memory, &walk);
	is_end(4, PMP_END_ROOT, "the first one again");
	pmp_unwinder_free(unwinder);
	fakeelf_free(&one);
	fakeelf_free(&two);
}

int main(void)
{
	struct fakeelf elf;

	fakeelf_make(&elf, &(struct fakeelf_options){ 0 });
	test_limit(&elf);
	test_wild(&elf);
	test_cut(&elf);
	test_circles(&elf);
	test_rule_stays(&elf);
	test_deep(&elf);
	fakeelf_free(&elf);
	test_remap();
	test_slow(SLOW_PAIRS, "", 0, "by rules");
	test_slow(SLOW_PAIRS_LIBUNWIND, EXPRESSION, strlen(EXPRESSION), "by libunwind");
	test_too_slow_for_libunwind();
	test_slow_expression();
	test_too_large();
	return done_testing();
}

#else

TAP_ONLY_SKIPS("not an x86-64 host")

#endif
