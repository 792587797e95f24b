/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where call-frame information is found: by .eh_frame_hdr, without it, in
 * .debug_frame, in files of other linkers, and in damaged ones.
 */
#include "tap.h"

#ifdef __x86_64__

#include <stddef.h>
#include <time.h>

#include "unwind/fde.h"
#include "unwind/walk.h"
#include "fakeelf.h"

#define FRAMES 64
#define FLIPS 10000

static struct pmp_raw_frame frames[FRAMES];
static struct pmp_walk walk;
static struct pmp_fde_shared shared = { .budget.kept = 1 << 20 };

static void walk_fakeelf(struct fakeelf *elf)
{
	struct pmp_unwinder *unwinder = pmp_unwinder_new(pmp_arch_here, PMP_UNWIND_CFI);
	struct pmp_regs regs = { 0 };

	pmp_regs_set(&regs, pmp_arch_here->pc, FAKEELF_PC(elf));
	pmp_regs_set(&regs, pmp_arch_here->sp, FAKEELF_SP);
	pmp_regs_set(&regs, pmp_arch_here->fp, FAKEELF_FP);
	walk.frames = frames;
	walk.limit = FRAMES;
	if (!unwinder || pmp_unwinder_set_maps(unwinder, elf->maps, &elf->memory) ||
	    pmp_walk(unwinder, &regs, &elf->memory, &walk))
		abort();
	pmp_unwinder_free(unwinder);
}

static void check(struct fakeelf *elf, const char *what)
{
	int wrong = 0;

	walk_fakeelf(elf);
	is_int(walk.count, 4, "%s: A, B, C, D", what);
	for (size_t i = 0; i < walk.count; i++)
		wrong += frames[i].pc != elf->text + i * ELF_FUNCTION + 0x10 ||
			 frames[i].flags != (i ? 0 : PMP_FRAME_EXACT);
	is_int(wrong, 0, "%s: every frame is right", what);
	is_str(pmp_end_text(walk.end), pmp_end_text(PMP_END_ROOT), "%s: end", what);
}

static void test_kinds(void)
{
	static const struct {
		const char *name;
		struct fakeelf_options options;
	} cases[] = {
		{ ".eh_frame_hdr", { 0 } },
		{ ".eh_frame_hdr, unaligned text", { .unaligned = true } },
		{ ".eh_frame_hdr, another table", { .table_encoding = 0x3c } },
		{ ".eh_frame_hdr without a table", { .table_encoding = 0xff } },
		{ ".eh_frame alone", { .no_hdr = true } },
		{ ".eh_frame alone, unaligned text",
		  { .no_hdr = true, .unaligned = true } },
		{ ".debug_frame alone",
		  { .no_hdr = true, .no_eh_frame = true, .debug_frame = true } },
		{ ".debug_frame, unaligned text",
		  { .no_hdr = true,
		    .no_eh_frame = true,
		    .debug_frame = true,
		    .unaligned = true } },
	};
	struct fakeelf elf;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		fakeelf_make(&elf, &cases[i].options);
		check(&elf, cases[i].name);
		fakeelf_free(&elf);
	}
	fakeelf_make(&elf,
		     &(struct fakeelf_options){ .no_hdr = true, .no_eh_frame = true });
	walk_fakeelf(&elf);
	ok(walk.count == 1 && walk.end == PMP_END_NO_INFO, "no information at all");
	fakeelf_free(&elf);
}

/* Where a field of a section's header is in the file. */
#define SECTION_FIELD(n, field) \
	(0x2000 + (n) * sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, field))

/* What is compressed is left to those who have no rights; nor is more believed than is
 * there. A is found by its registers, and nothing behind it. */
static void test_sections(void)
{
	static const struct {
		const char *what;
		size_t at;
		uint64_t value;
		size_t size;
	} cases[] = {
		{ "a compressed section", SECTION_FIELD(3, sh_flags), SHF_COMPRESSED, 8 },
		{ "a section beyond the end", SECTION_FIELD(3, sh_offset), ELF_SIZE, 8 },
		{ "an offset of 2^63", SECTION_FIELD(3, sh_offset), UINT64_C(1) << 63,
		  8 },
		{ "a section of 2^63 bytes", SECTION_FIELD(3, sh_size), UINT64_C(1) << 63,
		  8 },
		{ "a section of no bytes", SECTION_FIELD(3, sh_size), 0, 8 },
		{ "a section that is not in the file", SECTION_FIELD(3, sh_type),
		  SHT_NOBITS, 4 },
		{ "a name beyond the names", SECTION_FIELD(3, sh_name), 0x7fffffff, 4 },
		{ "names that do not end", SECTION_FIELD(4, sh_size), 38, 8 },
		{ "2^62 bytes of names", SECTION_FIELD(4, sh_size), UINT64_C(1) << 62,
		  8 },
		{ "compressed names", SECTION_FIELD(4, sh_flags), SHF_COMPRESSED, 8 },
		{ "headers beyond the end", offsetof(Elf64_Ehdr, e_shoff),
		  UINT64_C(1) << 62, 8 },
		{ "headers of another size", offsetof(Elf64_Ehdr, e_shentsize), 40, 2 },
		{ "names in section 65535", offsetof(Elf64_Ehdr, e_shstrndx), 0xffff, 2 },
		{ "no sections", offsetof(Elf64_Ehdr, e_shnum), 0, 2 },
		{ "of another machine", offsetof(Elf64_Ehdr, e_machine), EM_386, 2 },
		{ "of 32 bits", EI_CLASS, ELFCLASS32, 1 },
	};
	struct fakeelf elf;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		fakeelf_make(&elf, &(struct fakeelf_options){ .no_hdr = true,
							      .no_eh_frame = true,
							      .debug_frame = true });
		/* Its headers in memory stay as they were. */
		if (pwrite(elf.fd, &cases[i].value, cases[i].size, (off_t)cases[i].at) !=
		    (ssize_t)cases[i].size)
			abort();
		walk_fakeelf(&elf);
		ok(walk.count == 1 && walk.end == PMP_END_NO_INFO, "%s: nothing is taken",
		   cases[i].what);
		fakeelf_free(&elf);
	}
}

/* Without the file: all that is needed is in memory. Without the headers in
 * memory: they are in the file. */
static void test_sources(void)
{
	struct fakeelf elf;

	fakeelf_make(&elf, &(struct fakeelf_options){ 0 });
	close(elf.fd);
	elf.maps->modules[0]->fd = -1;
	check(&elf, "no file");
	elf.maps->modules[0]->kind = PMP_MODULE_VDSO;
	elf.maps->modules[0]->image = malloc(ELF_SIZE);
	elf.maps->modules[0]->image_size = ELF_SIZE;
	memcpy(elf.maps->modules[0]->image, elf.file, ELF_SIZE);
	elf.fake.parts[0].size = 0;
	check(&elf, "the image that was copied");
	fakeelf_free(&elf);

	fakeelf_make(&elf, &(struct fakeelf_options){ .no_hdr = true });
	elf.fake.parts[0].size = 0;
	check(&elf, "no first page");
	fakeelf_free(&elf);
}

/* An image that is kept must not be asked what it does not know. */
static void test_find(void)
{
	struct fakeelf elf;
	struct pmp_fde_finder *image;
	struct pmp_fde fde;

	fakeelf_make(&elf, &(struct fakeelf_options){ .debug_frame = true });
	image = pmp_fde_finder_new(pmp_arch_here, elf.maps, &elf.maps->regions[1],
				   &shared);
	ok(elf.fake.reads == 0, "nothing is read before it is needed");
	ok(pmp_fde_find(image, &elf.memory, elf.text, &fde) && fde.start == elf.text &&
		   fde.end == elf.text + ELF_FUNCTION && fde.understood,
	   "first byte");
	ok(pmp_fde_find(image, &elf.memory, elf.text + 0x3f, &fde) &&
		   fde.start == elf.text,
	   "last byte");
	ok(pmp_fde_find(image, &elf.memory, elf.text + 0x80, &fde) && fde.understood,
	   "one with an expression");
	ok(!pmp_fde_find(image, &elf.memory, elf.text - 1, &fde), "before the first");
	ok(!pmp_fde_find(image, &elf.memory, elf.text + 4 * ELF_FUNCTION, &fde),
	   "behind the last");
	ok(!pmp_fde_find(image, &elf.memory, 0, &fde), "address 0");
	ok(!pmp_fde_find(image, &elf.memory, UINT64_MAX, &fde), "the last address");
	pmp_fde_finder_free(image);
	fakeelf_free(&elf);
}

/* Is one found for the code behind all functions that lies there in the file, behind zeros? */
static bool found_behind_zeros(const struct fakeelf_options *options, size_t at)
{
	struct pmp_fde_finder *image;
	struct fakeelf_out out;
	struct fakeelf elf;
	struct pmp_fde fde;
	uint64_t start;
	bool found;

	fakeelf_make(&elf, options);
	start = elf.text - ELF_BASE + 4 * ELF_FUNCTION;
	out = (struct fakeelf_out){ elf.file, at };
	fakeelf_put(&out, 0, 4);
	fakeelf_put(&out, at + 4 - 0x300, 4);
	fakeelf_put(&out, start - (at + 8), 4);
	fakeelf_put(&out, ELF_FUNCTION, 4);
	fakeelf_put(&out, 0, 1);
	fakeelf_end(&out, at);
	image = pmp_fde_finder_new(pmp_arch_here, elf.maps, &elf.maps->regions[1],
				   &shared);
	ok(pmp_fde_find(image, &elf.memory, elf.text, &fde),
	   "functions before the zeros are found");
	found = pmp_fde_find(image, &elf.memory, ELF_BASE + start, &fde);
	pmp_fde_finder_free(image);
	fakeelf_free(&elf);
	return found;
}

/* In a section an entry of no length is filler. Where only the segment is known, zeros are all
 * that tells where the entries end, and what lies behind them is something else. */
static void test_terminator(void)
{
	ok(found_behind_zeros(&(struct fakeelf_options){ .no_hdr = true }, 0x580),
	   "zeros within a section do not end it");
	ok(!found_behind_zeros(&(struct fakeelf_options){ .table_encoding = 0xff },
			       0x800),
	   "zeros end entries whose section is not known");
}

/* Is an FDE found with so much memory for it? *left is how much is left then. */
static bool found_with(const struct fakeelf *elf, uint64_t kept, uint64_t *left)
{
	struct pmp_fde_shared mine = { .budget.kept = kept };
	struct pmp_fde_finder *image = pmp_fde_finder_new(pmp_arch_here, elf->maps,
							  &elf->maps->regions[1], &mine);
	struct pmp_fde fde;
	bool found = pmp_fde_find(image, &elf->memory, elf->text, &fde), given_back;

	*left = mine.budget.kept;
	ok(mine.budget.work > 0, "looking for its section is counted as work");
	pmp_fde_finder_free(image);
	given_back = mine.budget.kept == kept;
	pmp_fde_shared_free(&mine);
	ok(!found || given_back, "memory that was kept is given back");
	return found;
}

/* There may be tens of thousands of them, and an entry may have 64 KiB. */
static void test_shared_room(void)
{
	struct pmp_fde_finder *images[2];
	const uint8_t *programs[2];
	struct fakeelf elf;
	struct pmp_fde fde;

	fakeelf_make(&elf, &(struct fakeelf_options){ 0 });
	for (int i = 0; i < 2; i++) {
		images[i] = pmp_fde_finder_new(pmp_arch_here, elf.maps,
					       &elf.maps->regions[1], &shared);
		ok(pmp_fde_find(images[i], &elf.memory, elf.text, &fde),
		   "finder %d finds", i);
		programs[i] = fde.entry.program;
	}
	ok(programs[0] == programs[1],
	   "the finders of a process read into the same room");
	pmp_fde_finder_free(images[0]);
	pmp_fde_finder_free(images[1]);
	fakeelf_free(&elf);
}

/* A process may map a file with much of it again and again. */
static void test_budget(void)
{
	const uint64_t much = 1 << 20;
	struct fakeelf elf;
	uint64_t left, needs;
	bool found;

	fakeelf_make(&elf, &(struct fakeelf_options){ .no_hdr = true,
						      .no_eh_frame = true,
						      .debug_frame = true });
	found = found_with(&elf, much, &left);
	needs = much - left;
	ok(found && needs > 0, ".debug_frame is kept, and takes %d bytes", (int)needs);
	found = found_with(&elf, 16, &left);
	ok(!found && left == 16, "a section for which there is no room is not read");
	found = found_with(&elf, needs - 1, &left);
	ok(!found && left < needs - 1,
	   "one whose index has none is not kept, but paid for");
	fakeelf_free(&elf);
}

/* Programs that libunwind would run into a wall with. */
static void test_refused(void)
{
	static const struct {
		const char *name;
		size_t size;
		const char *program;
		bool good;
	} cases[] = {
		{ "as it was", 3, "\x44\x0e\x10", true },
		{ "a register we do not keep", 6, "\x05\x30\x02\x44\x0e\x10", true },
		{ "argument sizes", 5, "\x2e\x10\x44\x0e\x10", true },
		{ "a register's value in register 200", 6, "\x09\x03\xc8\x01\x0e\x10",
		  false },
		{ "a CFA of register 99", 3, "\x0c\x63\x08", false },
		{ "restore without remember", 3, "\x0b\x0e\x10", false },
		{ "an unknown instruction", 3, "\x3f\x0e\x10", false },
		{ "cut within an operand", 12,
		  "\x0e\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80", false },
		{ "an expression behind the end", 3, "\x0f\x70\x77", false },
		{ "an expression that pops nothing", 3, "\x0f\x01\x22", false },
		{ "an expression that loops", 5, "\x0f\x03\x2f\xfd\xff", false },
		{ "an expression that divides", 6, "\x0f\x04\x30\x31\x30\x1b", false },
		{ "an empty expression", 2, "\x0f\x00", false },
	};
	struct fakeelf elf;
	struct pmp_fde_finder *image;
	struct pmp_fde fde;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		/* A's program: in the second entry, behind 17 bytes of header */
		uint8_t *program;

		fakeelf_make(&elf, &(struct fakeelf_options){ 0 });
		program = elf.file + 0x300 + 4 + *(uint32_t *)(void *)(elf.file + 0x300) +
			  17;
		/* Room for a longer one: the last function's, moved to the end. */
		memset(program, 0, 7);
		if (cases[i].size > 7) {
			*(uint32_t *)(void *)(program - 17) += 16;
			memset(program + 7, 0, 16);
		}
		memcpy(program, cases[i].program, cases[i].size);
		image = pmp_fde_finder_new(pmp_arch_here, elf.maps, &elf.maps->regions[1],
					   &shared);
		ok(pmp_fde_find(image, &elf.memory, elf.text, &fde), "%s: found",
		   cases[i].name);
		is_int(fde.understood, cases[i].good, "%s: good", cases[i].name);
		pmp_fde_finder_free(image);
		if (!cases[i].good) {
			walk_fakeelf(&elf);
			ok(walk.count == 1 && walk.end == PMP_END_BAD_INFO, "%s: said so",
			   cases[i].name);
		}
		fakeelf_free(&elf);
	}
}

/* Of a processor: how long others have it is not our affair. */
static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The file and its memory with one byte changed; both as they were afterwards. */
static void walk_flipped(struct fakeelf *elf, size_t at, uint8_t bits)
{
	elf->file[at] ^= bits;
	if (pwrite(elf->fd, elf->file + at, 1, (off_t)at) != 1)
		abort();
	walk_fakeelf(elf);
	elf->file[at] ^= bits;
	if (pwrite(elf->fd, elf->file + at, 1, (off_t)at) != 1)
		abort();
}

static void test_damaged(void)
{
	static const struct fakeelf_options kinds[] = {
		{ 0 },
		{ .no_hdr = true },
		{ .no_hdr = true, .no_eh_frame = true, .debug_frame = true },
	};
	/* Where there is something to damage */
	static const struct {
		size_t begin, end;
	} parts[] = {
		{ 0, 0x100 }, { 0x200, 0x240 }, { 0x300, 0x700 }, { 0x2000, 0x2240 }
	};
	double start = seconds();
	struct fakeelf elf;
	size_t complete = 0, wrong = 0;
	uint32_t random = 1;

	for (size_t i = 0; i < FLIPS; i++) {
		size_t part, at;

		if (i % (FLIPS / 10) == 0) {
			if (i)
				fakeelf_free(&elf);
			fakeelf_make(&elf, &kinds[i / (FLIPS / 10) % 3]);
		}
		random = random * 1664525 + 1013904223;
		part = random >> 30;
		at = parts[part].begin +
		     (random >> 8) % (parts[part].end - parts[part].begin);
		walk_flipped(&elf, at, (uint8_t)(1u << (random >> 5 & 7)));
		complete += walk.end == PMP_END_ROOT;
		wrong += walk.count < 1 || walk.count > FRAMES ||
			 walk.end >= PMP_END_COUNT || frames[0].pc != FAKEELF_PC(&elf);
	}
	is_int(wrong, 0, "%d damaged files: something sensible from each", FLIPS);
	ok(complete > FLIPS / 10 && complete < FLIPS, "%zu of them complete all the same",
	   complete);
	ok(seconds() - start < 120, "in bounded time: %.2f s", seconds() - start);
	fakeelf_free(&elf);
}

/* The file is cut short while it is in use. */
static void test_cut(void)
{
	struct fakeelf elf;

	fakeelf_make(&elf,
		     &(struct fakeelf_options){ .no_hdr = true, .debug_frame = true });
	elf.fake.parts[0].size = 0;
	for (off_t size = ELF_SIZE; size > 0; size -= 0x123) {
		if (ftruncate(elf.fd, size))
			abort();
		walk_fakeelf(&elf);
	}
	is_int(walk.count, 1, "a file cut to nothing");
	fakeelf_free(&elf);
}

int main(void)
{
	test_kinds();
	test_sections();
	test_sources();
	test_find();
	test_terminator();
	test_shared_room();
	test_budget();
	test_refused();
	test_damaged();
	test_cut();
	pmp_fde_shared_free(&shared);
	return done_testing();
}

#else

TAP_ONLY_SKIPS("not an x86-64 host")

#endif
