/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks that go round in circles, nowhere, or on and on. The unwinder stops,
 * says why, and keeps what it has.
 */
#include "tap.h"

#ifdef __x86_64__

#include <time.h>

#include "capture/walk.h"
#include "fakeelf.h"

#define DEEP 1000000
#define OTHER_STACK UINT64_C(0x7ffd00000000)

enum { B = ELF_FUNCTION, C = 2 * ELF_FUNCTION, D = 3 * ELF_FUNCTION };

static struct pmp_raw_frame frames[DEEP + 16];
static struct pmp_walk walk;

static void walk_from(struct fakeelf *elf, uint64_t pc, uint64_t sp, uint64_t fp,
		      size_t limit)
{
	struct pmp_unwinder *unwinder = pmp_unwinder_new(PMP_UNWIND_AUTO);
	struct pmp_regs regs = { 0 };

	pmp_regs_set(&regs, pmp_reg_pc, pc);
	pmp_regs_set(&regs, pmp_reg_sp, sp);
	pmp_regs_set(&regs, pmp_reg_fp, fp);
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
		0, 1, 0x1000, ELF_STACK - 16, ELF_STACK + ELF_STACK_SIZE - 8,
		ELF_STACK + ELF_STACK_SIZE, UINT64_C(0x800000000000),
		UINT64_C(0xfff0000000000000), UINT64_C(0xffffffffff600000), UINT64_MAX,
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
				 (double)(end.tv_nsec - begin.tv_nsec)) / DEEP);
	walk_from(elf, FAKEELF_PC(elf), UINT64_C(0x7fff00000000), 0, 1024);
	is_end(1024, PMP_END_DEPTH, "the first 1024 of them");
	free(stack);
}

/* The same address, another module: what was cached must not be used. */
static void test_remap(void)
{
	struct fakeelf one, two;
	struct pmp_unwinder *unwinder = pmp_unwinder_new(PMP_UNWIND_CFI);
	struct pmp_regs regs = { 0 };

	fakeelf_make(&one, &(struct fakeelf_options){ 0 });
	fakeelf_make(&two,
		     &(struct fakeelf_options){ .no_hdr = true, .no_eh_frame = true });
	two.maps->exec_generation = one.maps->exec_generation + 1;
	two.maps->modules[0]->id = 77;
	pmp_regs_set(&regs, pmp_reg_pc, FAKEELF_PC(&one));
	pmp_regs_set(&regs, pmp_reg_sp, FAKEELF_SP);
	pmp_regs_set(&regs, pmp_reg_fp, FAKEELF_FP);
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
	test_deep(&elf);
	fakeelf_free(&elf);
	test_remap();
	return done_testing();
}

#else

int main(void)
{
	skip("not an x86-64 host");
	return done_testing();
}

#endif
