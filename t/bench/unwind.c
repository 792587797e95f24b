/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind [rules|libunwind|both [REPEATS]]: what a frame costs without a process: a
 * stack of FUNCTIONS functions, all different, every other one with a frame pointer,
 * in arrays. cold: everything is seen for the first time; warm: best of REPEATS walks.
 */
#ifdef __x86_64__

#include <elf.h>
#include <time.h>

#include "unwind/walk.h"
#include "fakeproc.h"

#define FUNCTIONS 1000u
#define FUNCTION 0x40u /* bytes of code of each */
#define BASE UINT64_C(0x7f1000000000)
#define HDR 0x200u
#define EH_FRAME 0x4000u
#define TEXT 0x20000u
#define STACK UINT64_C(0x7ffe00000000)
#define FRAME 48u /* bytes of stack of each */
#define COLD 20

static uint8_t file[TEXT + FUNCTIONS * FUNCTION];
static uint64_t words[FUNCTIONS * FRAME / 8 + 16];
static struct pmp_raw_frame frames[FUNCTIONS + 1];

static void append(size_t *at, const void *data, size_t size)
{
	memcpy(file + *at, data, size);
	*at += size;
}

static void append_word(size_t *at, uint32_t value)
{
	append(at, &value, 4);
}

/* A CIE (link 0) or an FDE; filled up to size with nops. */
static void append_entry(size_t *at, size_t size, uint32_t link, const char *body,
			 size_t length)
{
	size_t begin = *at;

	append_word(at, (uint32_t)size - 4);
	append_word(at, link);
	append(at, body, length);
	*at = begin + size;
}

static void make_functions(void)
{
	static const struct {
		const char *program; /* behind an empty augmentation */
		size_t size;
	} kinds[] = {
		{ "\0\x44\x0e\x30", 4 },		     /* CFA rsp+48 */
		{ "\0\x41\x0e\x10\x86\x02\x43\x0d\x06", 9 }, /* CFA rbp+16 */
		{ "\0\x07\x10", 3 },			     /* no caller */
	};
	size_t frame = EH_FRAME, hdr = HDR;

	append_word(&hdr, 0x3b031b01);
	append_word(&hdr, EH_FRAME - (HDR + 4));
	append_word(&hdr, FUNCTIONS);
	append_entry(&frame, 24, 0, "\x01zR\0\x01\x78\x10\x01\x1b\x0c\x07\x08\x90\x01",
		     14);
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		uint32_t place = (uint32_t)frame, start = TEXT + i * FUNCTION;
		uint32_t range[2] = { start - (place + 8), FUNCTION };
		unsigned kind = i == FUNCTIONS - 1 ? 2 : i % 2;
		char body[24];

		append_word(&hdr, start - HDR);
		append_word(&hdr, place - HDR);
		memcpy(body, range, 8);
		memcpy(body + 8, kinds[kind].program, kinds[kind].size);
		append_entry(&frame, 32, place + 4 - EH_FRAME, body,
			     8 + kinds[kind].size);
	}
	memset(file + TEXT, 0x90, FUNCTIONS * FUNCTION);
}

static void make_file(void)
{
	Elf64_Ehdr header = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(header),
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 2,
	};
	Elf64_Phdr segments[2] = {
		{ .p_type = PT_LOAD,
		  .p_flags = PF_R | PF_X,
		  .p_offset = TEXT,
		  .p_vaddr = TEXT,
		  .p_filesz = FUNCTIONS * FUNCTION,
		  .p_memsz = FUNCTIONS * FUNCTION },
		{ .p_type = PT_GNU_EH_FRAME,
		  .p_offset = HDR,
		  .p_vaddr = HDR,
		  .p_filesz = 12 + 8 * FUNCTIONS,
		  .p_memsz = 12 + 8 * FUNCTIONS },
	};

	memcpy(file, &header, sizeof(header));
	memcpy(file + sizeof(header), segments, sizeof(segments));
	make_functions();
}

/* Each calls the one before it; the frame pointers are chained from odd to odd. */
static void make_stack(struct pmp_regs *regs)
{
	for (unsigned i = 0; i < FUNCTIONS - 1; i++) {
		uint64_t *cfa = &words[(i + 1) * FRAME / 8];

		cfa[-1] = BASE + TEXT + (i + 1) * FUNCTION + 0x10;
		cfa[-2] = STACK + (i + 3) * FRAME - 16;
	}
	memset(regs, 0, sizeof(*regs));
	pmp_regs_set(regs, pmp_arch_here->pc, BASE + TEXT + 0x10);
	pmp_regs_set(regs, pmp_arch_here->sp, STACK);
	pmp_regs_set(regs, pmp_arch_here->fp, STACK + 2 * FRAME - 16);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* One walk; its nanoseconds. */
static double walk_once(struct pmp_unwinder *unwinder, const struct pmp_regs *regs,
			const struct pmp_reader *memory)
{
	struct pmp_walk walk = { .frames = frames, .limit = FUNCTIONS + 1 };
	double start = now();

	if (pmp_walk(unwinder, regs, memory, &walk) || walk.count != FUNCTIONS ||
	    walk.end != PMP_END_ROOT) {
		fprintf(stderr, "%zu frames, %s\n", walk.count, pmp_end_text(walk.end));
		exit(1);
	}
	return now() - start;
}

static void measure(const char *name, bool rules, unsigned repeats, struct pmp_maps *maps,
		    const struct pmp_reader *memory, const struct pmp_regs *regs)
{
	double cold = 1e18, warm = 1e18, took;

	for (unsigned i = 0; i < COLD; i++) {
		struct pmp_unwinder *unwinder =
			pmp_unwinder_new(pmp_arch_here, PMP_UNWIND_AUTO);

		if (!unwinder || pmp_unwinder_set_maps(unwinder, maps, memory))
			exit(1);
		pmp_unwinder_set_rules(unwinder, rules);
		took = walk_once(unwinder, regs, memory);
		cold = took < cold ? took : cold;
		for (unsigned j = 0; j < repeats / COLD; j++) {
			took = walk_once(unwinder, regs, memory);
			warm = took < warm ? took : warm;
		}
		pmp_unwinder_free(unwinder);
	}
	printf("%-10s cold %7.1f  warm %7.1f ns a frame\n", name, cold / FUNCTIONS,
	       warm / FUNCTIONS);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "both";
	unsigned repeats = argc > 2 ? (unsigned)atoi(argv[2]) : 2000;
	struct pmp_maps *maps = pmp_maps_new();
	struct fake fake = { .count = 0 };
	struct pmp_reader memory = fake_reader(&fake);
	struct pmp_regs regs;

	make_file();
	make_stack(&regs);
	fake_add(&fake, STACK, words, sizeof(words));
	fake_add(&fake, BASE, file, sizeof(file));
	fake_region(maps, BASE, TEXT, PMP_PROT_READ, PMP_MODULE_FILE);
	fake_region(maps, BASE + TEXT, FUNCTIONS * FUNCTION,
		    PMP_PROT_READ | PMP_PROT_EXEC, -1);
	fake_region(maps, STACK, sizeof(words), PMP_PROT_READ | PMP_PROT_WRITE,
		    PMP_MODULE_SPECIAL);
	if (strcmp(what, "libunwind"))
		measure("rules", true, repeats, maps, &memory, &regs);
	if (strcmp(what, "rules"))
		measure("libunwind", false, repeats, maps, &memory, &regs);
	pmp_maps_unref(maps);
	return 0;
}

#else

int main(void)
{
	return 0;
}

#endif
