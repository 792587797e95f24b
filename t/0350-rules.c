/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rules against elfutils' reader of call-frame information: every row of every
 * function of some real files must say the same. Files named as arguments are
 * compared instead: t/0350-rules.t /usr/sbin/mariadbd.
 *
 * Then what no real file has: damaged programs.
 */
#include "tap.h"

#ifdef __x86_64__

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "unwind/cfa-rules.h"
#include "fakeproc.h"

#define NOISE 200000

enum { RBP = 6, RSP = 7, RIP = 16 };

struct tally {
	size_t functions, rows, general, simple, different;
};

/* ---- elfutils' opinion ------------------------------------------------------------ */

/* Where register is, as enum pmp_rule_where; -1: in a way that rules cannot say. */
static int libdw_register(Dwarf_Frame *frame, int reg, int32_t *offset)
{
	Dwarf_Op memory[3], *ops;
	size_t count;

	*offset = 0;
	if (dwarf_frame_register(frame, reg, memory, &ops, &count))
		return -1;
	if (count == 0)
		return ops ? PMP_WHERE_LOST : PMP_WHERE_SAME;
	if (ops != memory || ops[0].atom != DW_OP_call_frame_cfa || count > 2)
		return -1;
	if (count == 2 && ops[1].atom != DW_OP_plus_uconst)
		return -1;
	*offset = count == 2 ? (int32_t)ops[1].number : 0;
	return PMP_WHERE_SAVED;
}

/* What linkers write for a .plt (lit11 or another): each byte has a rule of its own. */
static bool libdw_is_plt(const Dwarf_Op *ops, size_t count)
{
	return count == 9 && ops[0].atom == DW_OP_breg7 && ops[0].number == 8 &&
	       ops[1].atom == DW_OP_breg16 && ops[2].atom == DW_OP_lit15 &&
	       ops[3].atom == DW_OP_and && ops[5].atom == DW_OP_ge;
}

/* The CFA as register and offset. False: by an expression, or of another register. */
static bool libdw_cfa(Dwarf_Frame *frame, uint64_t pc, int *reg, int32_t *offset)
{
	Dwarf_Op *ops;
	size_t count;

	if (dwarf_frame_cfa(frame, &ops, &count))
		return false;
	if (libdw_is_plt(ops, count)) {
		*reg = RSP;
		*offset = 8 + (pc % 16 >= ops[4].atom - (unsigned)DW_OP_lit0) * 8;
		return true;
	}
	if (count != 1 || ops[0].atom != DW_OP_bregx ||
	    (ops[0].number != RSP && ops[0].number != RBP))
		return false;
	*reg = (int)ops[0].number;
	*offset = (int32_t)ops[0].number2;
	return true;
}

static void libdw_rule(Dwarf_Frame *frame, uint64_t pc, struct pmp_rule *rule)
{
	int reg, fp, ra;
	bool signal;

	*rule = (struct pmp_rule){ .kind = PMP_RULE_LIBUNWIND };
	dwarf_frame_info(frame, NULL, NULL, &signal);
	fp = libdw_register(frame, RBP, &rule->fp_offset);
	ra = libdw_register(frame, RIP, &rule->ra_offset);
	if (!libdw_cfa(frame, pc, &reg, &rule->cfa_offset) || signal || fp < 0 ||
	    ra < 0 || ra == PMP_WHERE_SAME)
		return;
	rule->cfa_fp = reg == RBP;
	rule->fp = (uint8_t)fp;
	rule->ra = (uint8_t)ra;
	rule->kind = ra == PMP_WHERE_LOST ? PMP_RULE_ROOT : PMP_RULE_FRAME;
}

static bool same(const struct pmp_rule *a, const struct pmp_rule *b)
{
	if (a->kind != b->kind || a->kind == PMP_RULE_LIBUNWIND)
		return a->kind == b->kind;
	return a->cfa_fp == b->cfa_fp && a->cfa_offset == b->cfa_offset &&
	       a->fp == b->fp && a->ra == b->ra &&
	       (a->fp != PMP_WHERE_SAVED || a->fp_offset == b->fp_offset) &&
	       (a->ra != PMP_WHERE_SAVED || a->ra_offset == b->ra_offset);
}

/* ---- one file ----------------------------------------------------------------------- */

static void compare_row(Dwarf_CFI *cfi, const struct pmp_cfi_cie *cie,
			const struct pmp_cfi_fde *fde, uint64_t *pc, struct tally *tally)
{
	struct pmp_rule theirs = { .kind = PMP_RULE_LIBUNWIND }, ours;
	Dwarf_Frame *frame = NULL;
	Dwarf_Addr end = *pc + 1;
	Dwarf_Op *ops;
	size_t count;

	if (!dwarf_cfi_addrframe(cfi, *pc, &frame)) {
		libdw_rule(frame, *pc, &theirs);
		if (dwarf_frame_cfa(frame, &ops, &count) || !libdw_is_plt(ops, count))
			dwarf_frame_info(frame, NULL, &end, NULL);
	}
	pmp_rule_make(cie, fde, *pc, &ours);
	tally->rows++;
	tally->general += ours.kind == PMP_RULE_LIBUNWIND;
	tally->simple += ours.kind == PMP_RULE_FRAME || ours.kind == PMP_RULE_ROOT;
	if (!same(&ours, &theirs) && tally->different++ < 10)
		diag("%#" PRIx64 ": ours kind %d cfa_fp %d %d fp %d %d ra %d %d; "
		     "theirs kind %d cfa_fp %d %d fp %d %d ra %d %d",
		     *pc, ours.kind, ours.cfa_fp, ours.cfa_offset, ours.fp,
		     ours.fp_offset, ours.ra, ours.ra_offset, theirs.kind, theirs.cfa_fp,
		     theirs.cfa_offset, theirs.fp, theirs.fp_offset, theirs.ra,
		     theirs.ra_offset);
	free(frame);
	/* Its last byte as well; then the next row. */
	if (end > fde->end)
		end = fde->end;
	if (end > *pc + 1) {
		pmp_rule_make(cie, fde, end - 1, &ours);
		tally->different += !same(&ours, &theirs);
	}
	*pc = end > *pc ? end : *pc + 1;
}

static void compare_section(Dwarf_CFI *cfi, const struct pmp_cfi_bytes *bytes,
			    struct tally *tally)
{
	struct pmp_cfi_entry entry;
	struct pmp_cfi_cie cie;
	struct pmp_cfi_fde fde;

	for (size_t at = 0; at < bytes->size && pmp_cfi_entry(bytes, at, &entry);
	     at = entry.end) {
		if (entry.is_cie || entry.is_filler ||
		    !pmp_cfi_parse_cie(bytes, entry.cie, &cie) ||
		    !pmp_cfi_parse_fde(bytes, &entry, &cie, &fde) || fde.start == 0)
			continue;
		tally->functions++;
		for (uint64_t pc = fde.start; pc < fde.end;)
			compare_row(cfi, &cie, &fde, &pc, tally);
	}
}

static void compare_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	Dwarf_CFI *cfi = elf ? dwarf_getcfi_elf(elf) : NULL;
	struct tally tally = { 0 };
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	if (!cfi || elf_getshdrstrndx(elf, &names)) {
		diag("%s: no call-frame information", path);
		goto out;
	}
	while ((section = elf_nextscn(elf, section))) {
		Elf_Data *data;

		gelf_getshdr(section, &header);
		if (strcmp(elf_strptr(elf, names, header.sh_name), ".eh_frame"))
			continue;
		data = elf_rawdata(section, NULL);
		compare_section(cfi,
				&(struct pmp_cfi_bytes){ .arch = pmp_arch_here,
							 .data = data->d_buf,
							 .size = data->d_size,
							 .address = header.sh_addr },
				&tally);
	}
	ok(tally.functions > 0 && tally.different == 0,
	   "%s: %zu functions, %zu rows, %zu of them rules, %zu for libunwind, %zu "
	   "different",
	   path, tally.functions, tally.rows, tally.simple, tally.general,
	   tally.different);
out:
	dwarf_cfi_end(cfi);
	elf_end(elf);
	if (fd >= 0)
		close(fd);
}

/* The files that this test itself is made of. */
static void compare_own(void)
{
	struct pmp_maps *maps = self_maps();

	for (size_t i = 0; i < maps->module_count; i++)
		if (maps->modules[i]->kind == PMP_MODULE_FILE)
			for (size_t r = 0; r < maps->region_count; r++)
				if (maps->regions[r].module == maps->modules[i] &&
				    maps->regions[r].prot & PMP_PROT_EXEC) {
					compare_file(maps->modules[i]->path);
					break;
				}
	pmp_maps_unref(maps);
}

/* ---- programs by hand ---------------------------------------------------------------- */

#define CIE "\x0c\x07\x08\x90\x01" /* CFA rsp+8, return address at CFA-8 */

static void make(const char *program, size_t size, uint64_t pc, struct pmp_rule *rule)
{
	const struct pmp_cfi_cie cie = {
		.arch = pmp_arch_here,
		.code_align = 1,
		.data_align = -8,
		.program = (const uint8_t *)CIE,
		.program_size = sizeof(CIE) - 1,
	};
	const struct pmp_cfi_fde fde = {
		.start = 0x1000,
		.end = 0x1100,
		.program = (const uint8_t *)program,
		.program_size = size,
	};

	pmp_rule_make(&cie, &fde, pc, rule);
}

#define PROGRAM(text) text, sizeof(text) - 1
static const struct {
	const char *name, *program;
	size_t size;
	uint64_t pc;
	struct pmp_rule rule;
} programs[] = {
	{ "nothing",
	  PROGRAM(""),
	  0x1000,
	  { .kind = PMP_RULE_FRAME, .cfa_offset = 8, .ra = 1, .ra_offset = -8 } },
	{ "before push %rbp",
	  PROGRAM("\x41\x0e\x10\x86\x02"),
	  0x1000,
	  { .kind = PMP_RULE_FRAME, .cfa_offset = 8, .ra = 1, .ra_offset = -8 } },
	{ "behind it",
	  PROGRAM("\x41\x0e\x10\x86\x02"),
	  0x1001,
	  { .kind = PMP_RULE_FRAME,
	    .cfa_offset = 16,
	    .fp = 1,
	    .fp_offset = -16,
	    .ra = 1,
	    .ra_offset = -8 } },
	{ "by rbp",
	  PROGRAM("\x0e\x10\x86\x02\x0d\x06"),
	  0x1000,
	  { .kind = PMP_RULE_FRAME,
	    .cfa_fp = true,
	    .cfa_offset = 16,
	    .fp = 1,
	    .fp_offset = -16,
	    .ra = 1,
	    .ra_offset = -8 } },
	{ "rbp restored",
	  PROGRAM("\x86\x02\x41\xc6"),
	  0x1001,
	  { .kind = PMP_RULE_FRAME, .cfa_offset = 8, .ra = 1, .ra_offset = -8 } },
	{ "rbp lost",
	  PROGRAM("\x07\x06"),
	  0x1000,
	  { .kind = PMP_RULE_FRAME,
	    .cfa_offset = 8,
	    .fp = 2,
	    .ra = 1,
	    .ra_offset = -8 } },
	{ "remember and restore",
	  PROGRAM("\x0a\x0e\x20\x41\x0b"),
	  0x1001,
	  { .kind = PMP_RULE_FRAME, .cfa_offset = 8, .ra = 1, .ra_offset = -8 } },
	{ "no return address",
	  PROGRAM("\x07\x10"),
	  0x1000,
	  { .kind = PMP_RULE_ROOT, .cfa_offset = 8, .ra = 2 } },
	{ "return address in another register",
	  PROGRAM("\x90\x05"),
	  0x1000,
	  { .kind = PMP_RULE_FRAME, .cfa_offset = 8, .ra = 1, .ra_offset = -40 } },
	{ "a .plt entry before its push",
	  PROGRAM("\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22"),
	  0x100a,
	  { .kind = PMP_RULE_FRAME, .cfa_offset = 8, .ra = 1, .ra_offset = -8 } },
	{ "and behind it",
	  PROGRAM("\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22"),
	  0x100b,
	  { .kind = PMP_RULE_FRAME, .cfa_offset = 16, .ra = 1, .ra_offset = -8 } },
	{ "a CFA by r10", PROGRAM("\x0d\x0a"), 0x1000, { .kind = PMP_RULE_LIBUNWIND } },
	{ "a CFA by an expression",
	  PROGRAM("\x0f\x03\x77\x08\x06"),
	  0x1000,
	  { .kind = PMP_RULE_LIBUNWIND } },
	{ "half a CFA behind one",
	  PROGRAM("\x0f\x03\x77\x08\x06\x0e\x10"),
	  0x1000,
	  { .kind = PMP_RULE_LIBUNWIND } },
	{ "rbp by an expression",
	  PROGRAM("\x10\x06\x02\x76\x00"),
	  0x1000,
	  { .kind = PMP_RULE_LIBUNWIND } },
	{ "rbp in rbx", PROGRAM("\x09\x06\x03"), 0x1000, { .kind = PMP_RULE_LIBUNWIND } },
	{ "rsp saved", PROGRAM("\x87\x03"), 0x1000, { .kind = PMP_RULE_LIBUNWIND } },
	{ "the return address is rip",
	  PROGRAM("\x08\x10"),
	  0x1000,
	  { .kind = PMP_RULE_LIBUNWIND } },
	{ "an offset of 2^40",
	  PROGRAM("\x0e\x80\x80\x80\x80\x80\x20"),
	  0x1000,
	  { .kind = PMP_RULE_LIBUNWIND } },
	{ "restore without remember",
	  PROGRAM("\x0b"),
	  0x1000,
	  { .kind = PMP_RULE_LIBUNWIND } },
	{ "remembered too often",
	  PROGRAM("\n\n\n\n\n\n\n\n\n"),
	  0x1000,
	  { .kind = PMP_RULE_LIBUNWIND } },
	{ "an unknown instruction",
	  PROGRAM("\x3f"),
	  0x1000,
	  { .kind = PMP_RULE_LIBUNWIND } },
	{ "an operand cut off",
	  PROGRAM("\x0e\x80"),
	  0x1000,
	  { .kind = PMP_RULE_LIBUNWIND } },
	{ "a block behind the end",
	  PROGRAM("\x10\x06\x7f\x76"),
	  0x1000,
	  { .kind = PMP_RULE_LIBUNWIND } },
};

static void test_programs(void)
{
	struct pmp_rule rule;

	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
		make(programs[i].program, programs[i].size, programs[i].pc, &rule);
		ok(same(&rule, &programs[i].rule) && rule.function_start == 0x1000, "%s",
		   programs[i].name);
	}
}

/* An advance in the common part, as in no real file: what follows holds all the same, and
 * the function's own instructions begin at its first byte. */
static void test_advance(void)
{
	static const uint8_t common[] = "\x0c\x07\x08\x90\x01\x64\x86\x03";
	static const uint8_t own[] = "\x44\x0e\x10";
	const struct pmp_cfi_cie cie = {
		.arch = pmp_arch_here,
		.code_align = 1,
		.data_align = -8,
		.program = common,
		.program_size = sizeof(common) - 1,
	};
	const struct pmp_cfi_fde fde = {
		.start = 0x1000,
		.end = 0x1100,
		.program = own,
		.program_size = sizeof(own) - 1,
	};
	struct pmp_rule rule;

	for (uint64_t pc = 0x1003; pc <= 0x1004; pc++) {
		pmp_rule_make(&cie, &fde, pc, &rule);
		ok(rule.kind == PMP_RULE_FRAME && rule.fp == PMP_WHERE_SAVED &&
			   rule.fp_offset == -24 &&
			   rule.cfa_offset == (pc < 0x1004 ? 8 : 16),
		   "an advance in the common part, at byte %u", (unsigned)(pc & 0xf));
	}
}

static void test_noise(void)
{
	uint32_t random = 1;
	size_t wrong = 0, simple = 0;
	struct pmp_rule rule;

	for (size_t i = 0; i < NOISE; i++) {
		/* of exactly this size, so that a sanitizer sees what is beyond */
		size_t size = i % 24;
		char *program = malloc(size + 1);

		for (size_t j = 0; j < size; j++) {
			random = random * 1664525 + 1013904223;
			program[j] = (char)(random >> 24 & (i & 32 ? 0xff : 0x1f));
		}
		make(program, size, 0x1000 + i % 0x100, &rule);
		wrong += rule.kind != PMP_RULE_LIBUNWIND && rule.kind != PMP_RULE_FRAME &&
			 rule.kind != PMP_RULE_ROOT;
		simple += rule.kind == PMP_RULE_FRAME;
		free(program);
	}
	ok(wrong == 0 && simple > 0, "%d programs of noise: %zu are rules", NOISE,
	   simple);
}

/* ---- one step -------------------------------------------------------------------------- */

static void test_apply(void)
{
	static const uint64_t stack[] = { 0x10, 0x11, 0x12, 0x13 };
	const struct pmp_rule both = { .kind = PMP_RULE_FRAME,
				       .cfa_offset = 0x10,
				       .fp = PMP_WHERE_SAVED,
				       .fp_offset = -16,
				       .ra = PMP_WHERE_SAVED,
				       .ra_offset = -8 };
	struct pmp_rule rule = both;
	struct fake fake = { .count = 0 };
	struct pmp_reader reader = fake_reader(&fake);
	struct pmp_regs regs = { 0 };

	fake_add(&fake, 0x8000, stack, sizeof(stack));
	pmp_regs_set(&regs, RSP, 0x8000);
	pmp_regs_set(&regs, 3, 0x33);
	ok(pmp_rule_apply(pmp_arch_here, &rule, &reader, &regs) && fake.reads == 1 &&
		   pmp_regs_get(&regs, RIP) == 0x11 && pmp_regs_get(&regs, RBP) == 0x10 &&
		   pmp_regs_get(&regs, RSP) == 0x8010 && !pmp_regs_has(&regs, 3),
	   "rbp and return address with one read");
	rule.fp = PMP_WHERE_SAME;
	ok(pmp_rule_apply(pmp_arch_here, &rule, &reader, &regs) &&
		   pmp_regs_get(&regs, RBP) == 0x10 && pmp_regs_get(&regs, RIP) == 0x13,
	   "rbp as it is");
	ok(!pmp_rule_apply(pmp_arch_here, &rule, &reader, &regs) &&
		   pmp_regs_get(&regs, RIP) == 0x13 && pmp_regs_get(&regs, RSP) == 0x8020,
	   "an unreadable return address leaves all as it was");
	rule = both;
	rule.cfa_fp = true;
	rule.fp_offset = 0x1000;
	pmp_regs_set(&regs, RBP, 0x8008);
	ok(pmp_rule_apply(pmp_arch_here, &rule, &reader, &regs) &&
		   !pmp_regs_has(&regs, RBP) && pmp_regs_get(&regs, RIP) == 0x12 &&
		   pmp_regs_get(&regs, RSP) == 0x8018,
	   "by rbp; the saved one cannot be read: unknown");
	rule = both;
	rule.fp = PMP_WHERE_LOST;
	pmp_regs_set(&regs, RSP, 0x8000);
	pmp_regs_set(&regs, RBP, 1);
	ok(pmp_rule_apply(pmp_arch_here, &rule, &reader, &regs) &&
		   !pmp_regs_has(&regs, RBP),
	   "rbp lost");
}

int main(int argc, char **argv)
{
	elf_version(EV_CURRENT);
	if (argc > 1) {
		for (int i = 1; i < argc; i++)
			compare_file(argv[i]);
		return done_testing();
	}
	compare_own();
	test_programs();
	test_advance();
	test_noise();
	test_apply();
	return done_testing();
}

#else

TAP_ONLY_SKIPS("not an x86-64 host")

#endif
