/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a thread's own stack to the goroutine that has switched to it, with a table of functions
 * made here: of one function, at CODE, that calls itself. A good one, and one that takes long.
 * And whole walks, with a function that switches and another that calls it.
 */
#include "tap.h"

#ifdef __x86_64__

#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fakeproc.h"
#include "unwind/go-rules.h"
#include "unwind/sections.h"
#include "unwind/walk.h"

#define TABLE UINT64_C(0x500000)
#define TABLE_SIZE (2u << 20) /* more than is read of one function's values */
#define CODE UINT64_C(0x400000)
#define CODE_SIZE 0x1000u
#define CALLER (CODE + 0x80)
#define AFTER_CALL (CODE + 0x105)
#define OWN_STACK UINT64_C(0x7ffe00000000)
#define GOROUTINE UINT64_C(0xc000002000) /* its frame pointer */
#define LOOKED_AT 1024u			 /* bytes before it */
#define FRAME 64u			 /* of whoever has switched */

static uint8_t table[TABLE_SIZE], code[CODE_SIZE];
static uint64_t stack[LOOKED_AT / 8];

static bool copy(const void *from, uint64_t start, size_t size, uint64_t address,
		 void *data, size_t length)
{
	uint64_t at = address - start;

	if (address < start || at > size || length > size - at)
		return false;
	memcpy(data, (const uint8_t *)from + at, length);
	return true;
}

static bool read_any(void *arg, uint64_t address, void *data, size_t length)
{
	(void)arg;
	return copy(table, TABLE, sizeof(table), address, data, length) ||
	       copy(code, CODE, sizeof(code), address, data, length) ||
	       copy(stack, GOROUTINE - LOOKED_AT, sizeof(stack), address, data, length);
}

static const struct pmp_reader memory = { read_any, NULL };

static void put(size_t at, uint64_t value, size_t size)
{
	memcpy(table + at, &value, size);
}

/* As the linker of Go 1.20 lays it out. frames: the values that say how large the frame is. */
static void make_table(const uint8_t *frames, size_t size)
{
	enum {
		NAMES = 0x50,
		VALUES = 0x80,
		FUNCTIONS = 0x60,
		FUNCTION = 12,
		FRAME_AT = 1
	};
	static const uint8_t first[] = { 0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8 };
	const uint64_t header[] = { 1,	   0,	  CODE,		 NAMES,
				    NAMES, NAMES, VALUES + 0x80, FUNCTIONS };

	memset(table, 0, sizeof(table));
	memcpy(table, first, sizeof(first));
	memcpy(table + sizeof(first), header, sizeof(header));
	memcpy(table + NAMES, "switcher", 9);
	put(FUNCTIONS + 4, FUNCTION, 4);
	put(FUNCTIONS + 8, CODE_SIZE, 4);
	put(FUNCTIONS + FUNCTION + 16, FRAME_AT, 4);
	memcpy(table + VALUES + 0x80 + FRAME_AT, frames, size);
}

/* A file without sections, so that the table is searched for. Its code is not
 * read there. */
static int make_file(void)
{
	Elf64_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB,
					   EV_CURRENT },
			      .e_type = ET_EXEC,
			      .e_machine = EM_X86_64,
			      .e_phoff = sizeof(header),
			      .e_phentsize = sizeof(Elf64_Phdr),
			      .e_phnum = 2 };
	Elf64_Phdr segments[2] = { { .p_type = PT_LOAD,
				     .p_flags = PF_R,
				     .p_vaddr = TABLE,
				     .p_filesz = TABLE_SIZE },
				   { .p_type = PT_LOAD,
				     .p_flags = PF_R | PF_X,
				     .p_offset = CODE_SIZE,
				     .p_vaddr = CODE,
				     .p_filesz = CODE_SIZE } };
	int fd = memfd_create("go", MFD_CLOEXEC);

	if (fd < 0 || pwrite(fd, &header, sizeof(header), 0) != sizeof(header) ||
	    pwrite(fd, segments, sizeof(segments), sizeof(header)) != sizeof(segments))
		exit(99);
	return fd;
}

static bool join(struct pmp_regs *regs, size_t *work)
{
	struct pmp_section_budget budget = { .search = TABLE_SIZE };
	int fd = make_file();
	struct pmp_go_rules *rules =
		pmp_go_rules_new(pmp_arch_here, fd, 0, &memory, &budget);
	bool joined;

	ok(rules && !budget.search, "the table is found by a search, which is counted");
	pmp_regs_set(regs, pmp_arch_here->fp, GOROUTINE);
	*work = 0;
	joined = rules && pmp_go_join(rules, &memory, &memory, CODE, regs, work);
	pmp_go_rules_free(rules);
	close(fd);
	return joined;
}

static void test_good(void)
{
	/* FRAME bytes for all of its code. */
	static const uint8_t frames[] = { 0x82, 0x01, 0x80, 0x20, 0 };
	struct pmp_regs regs = { 0 };
	size_t work;

	make_table(frames, sizeof(frames));
	memset(stack, 0, sizeof(stack));
	stack[(LOOKED_AT - FRAME) / 8] = AFTER_CALL;
	ok(join(&regs, &work), "the goroutine that has switched is found");
	ok(pmp_regs_get(&regs, pmp_arch_here->pc) == AFTER_CALL &&
		   pmp_regs_get(&regs, pmp_arch_here->sp) == GOROUTINE - FRAME + 8,
	   "where it was");
	ok(work > 0 && work < 10000, "that takes some work: %zu", work);
}

/* Each of 128 return addresses would be looked up in a megabyte. */
static void test_endless(void)
{
	static uint8_t frames[(1u << 20) + 4096];
	struct pmp_regs regs = { 0 };
	size_t work;

	for (size_t i = 0; i < sizeof(frames); i += 2)
		frames[i] = 2;
	make_table(frames, sizeof(frames));
	for (size_t i = 0; i < LOOKED_AT / 8; i++)
		stack[i] = AFTER_CALL;
	ok(!join(&regs, &work), "none is found by values that never end");
	ok(work > 1u << 20 && work < 3u << 20, "and little is read: %zu bytes", work);
}

static void test_budget(void)
{
	struct pmp_section_budget budget = { .search = 64 };
	int fd = make_file();
	struct pmp_go_rules *rules;

	memmove(table + 4096, table, TABLE_SIZE - 4096);
	memset(table, 0, 4096);
	rules = pmp_go_rules_new(pmp_arch_here, fd, 0, &memory, &budget);
	ok(!rules && !budget.search, "no more is searched than may be");
	pmp_go_rules_free(rules);
	close(fd);
}

/* Two functions: one that switches stacks, and one that calls it and has no caller. */
static void make_switch(void)
{
	enum {
		FIRST = 0x60 + 20,
		SECOND = FIRST + 44,
		VALUES = 0x100,
		FLAGS = 41,
		TOP = 1,
		SWITCHES = 2
	};
	static const uint8_t frames[] = { 0x82, 0x01, 0x80, 0x20, 0 };

	make_table(frames, sizeof(frames));
	put(8, 2, 8);
	put(0x60, 0, 4);
	put(0x60 + 4, FIRST - 0x60, 4);
	put(0x60 + 8, CALLER - CODE, 4);
	put(0x60 + 12, SECOND - 0x60, 4);
	put(0x60 + 16, CODE_SIZE, 4);
	memset(table + FIRST, 0, VALUES - FIRST);
	put(FIRST + 16, 1, 4);
	put(FIRST + FLAGS, SWITCHES, 1);
	put(SECOND, CALLER - CODE, 4);
	put(SECOND + 16, 1, 4);
	put(SECOND + FLAGS, TOP, 1);
}

/* From a frame of the function that switches: where it has called another, or at pc itself. */
static struct pmp_walk walk_from(uint64_t fp, bool has_called)
{
	static struct pmp_raw_frame frames[16];
	struct pmp_walk walk = { .frames = frames,
				 .limit = 16,
				 .from_caller = has_called };
	struct pmp_unwinder *unwinder = pmp_unwinder_new(pmp_arch_here, PMP_UNWIND_AUTO);
	struct pmp_maps *maps = pmp_maps_new();
	struct pmp_regs regs = { 0 };

	fake_region(maps, CODE, CODE_SIZE, PMP_PROT_READ | PMP_PROT_EXEC, PMP_MODULE_FILE)
		->fd = make_file();
	fake_region(maps, GOROUTINE - LOOKED_AT, LOOKED_AT, PMP_PROT_READ,
		    PMP_MODULE_SPECIAL);
	/* Nor is the file's header there. */
	maps->regions[0].offset = CODE_SIZE;
	pmp_regs_set(&regs, pmp_arch_here->pc, CODE + 0x45);
	pmp_regs_set(&regs, pmp_arch_here->sp, OWN_STACK);
	pmp_regs_set(&regs, pmp_arch_here->fp, fp);
	if (!unwinder || pmp_unwinder_set_maps(unwinder, maps, &memory) ||
	    pmp_walk(unwinder, &regs, &memory, &walk))
		abort();
	pmp_unwinder_free(unwinder);
	pmp_maps_unref(maps);
	return walk;
}

static void is_lost(const struct pmp_walk *walk, const char *what)
{
	ok(walk->count == 1 && walk->end == PMP_END_GOROUTINE,
	   "%s: the walk ends there: %zu frames, %s", what, walk->count,
	   pmp_end_text(walk->end));
}

static void test_walk(void)
{
	struct pmp_walk walk;

	make_switch();
	memset(stack, 0, sizeof(stack));
	stack[(LOOKED_AT - FRAME) / 8] = AFTER_CALL;
	walk = walk_from(GOROUTINE, true);
	ok(walk.count == 2 && walk.frames[1].pc == AFTER_CALL && walk.end == PMP_END_ROOT,
	   "a walk goes on on the goroutine's stack: %zu frames, %s", walk.count,
	   pmp_end_text(walk.end));
	walk = walk_from(GOROUTINE, false);
	is_lost(&walk, "a function that may not have switched yet");
	walk = walk_from(GOROUTINE + (UINT64_C(1) << 32), true);
	is_lost(&walk, "a stack that cannot be read");
	stack[(LOOKED_AT - FRAME) / 8] = AFTER_CALL + 1;
	walk = walk_from(GOROUTINE, true);
	is_lost(&walk, "a stack without the call");
	is_str(pmp_end_text(walk.end), "goroutine's stack not found", "which is said");
}

int main(void)
{
	const int32_t distance = -(int32_t)(AFTER_CALL - CODE);

	code[AFTER_CALL - 5 - CODE] = 0xe8;
	memcpy(code + (AFTER_CALL - 4 - CODE), &distance, 4);
	test_good();
	test_endless();
	test_budget();
	test_walk();
	return done_testing();
}

#else

TAP_ONLY_SKIPS("not an x86-64 host")

#endif
