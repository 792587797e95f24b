/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: the unwinder with a small ELF image, of which any byte may be changed:
 *
 *	kind (1)  pc, sp, fp: 2 bytes each, relative to text and stack
 *	changes (1), each: where (2), what (1)
 *	the rest: the stack from its start
 */
#include "fuzz.h"

#ifdef __x86_64__

#include "unwind/walk.h"
#include "../lib/fakeelf.h"

#define FRAMES 256

struct input {
	const uint8_t *at;
	size_t left;
};

static unsigned take(struct input *input, size_t size)
{
	unsigned value = 0;

	if (input->left < size)
		size = input->left;
	memcpy(&value, input->at, size);
	input->at += size;
	input->left -= size;
	return value;
}

static void change(struct fakeelf *elf, struct input *input)
{
	for (unsigned n = take(input, 1); n && input->left; n--) {
		unsigned where = take(input, 2) % ELF_SIZE;

		elf->file[where] = (uint8_t)take(input, 1);
	}
	if (pwrite(elf->fd, elf->file, ELF_SIZE, 0) != ELF_SIZE)
		abort();
	if (input->left > sizeof(elf->stack))
		input->left = sizeof(elf->stack);
	memcpy(elf->stack, input->at, input->left);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct pmp_raw_frame frames[FRAMES];
	struct input input = { data, size };
	unsigned kind = take(&input, 1);
	struct fakeelf_options options = {
		.no_hdr = kind & 1,
		.no_eh_frame = kind & 2,
		.debug_frame = kind & 4,
		.unaligned = kind & 8,
		.table_encoding = kind & 16 ? 0xff : 0,
	};
	struct pmp_unwinder *unwinder =
		pmp_unwinder_new(pmp_arch_here, (enum pmp_unwind)(kind >> 5) % 3);
	struct pmp_walk walk = { .frames = frames, .limit = FRAMES };
	struct pmp_regs regs = { 0 };
	struct fakeelf elf;

	/* Each walk uses both rules and libunwind: any difference aborts. */
	setenv("PMP_FAULT", "compare-unwind", 1);
	fakeelf_make(&elf, &options);
	pmp_regs_set(&regs, pmp_arch_here->pc, elf.text + take(&input, 2));
	pmp_regs_set(&regs, pmp_arch_here->sp, ELF_STACK + take(&input, 2));
	pmp_regs_set(&regs, pmp_arch_here->fp, ELF_STACK + take(&input, 2));
	change(&elf, &input);
	if (!unwinder || pmp_unwinder_set_maps(unwinder, elf.maps, &elf.memory) ||
	    pmp_walk(unwinder, &regs, &elf.memory, &walk))
		abort();
	/* Walk again, now that everything is cached: the result must be the same, unless a
	 * limit was reached the first time. */
	size_t count = walk.count;
	enum pmp_end end = walk.end;
	bool spent = pmp_unwinder_work(unwinder) > PMP_WALK_WORK_MAX;

	if (pmp_walk(unwinder, &regs, &elf.memory, &walk) ||
	    (!spent && (walk.count != count || walk.end != end)) || count < 1 ||
	    count > FRAMES || end >= PMP_END_COUNT)
		abort();
	pmp_unwinder_free(unwinder);
	fakeelf_free(&elf);
	return 0;
}

/* The stack that the functions of the image make, for each kind of image. */
size_t fuzz_seed(unsigned n, uint8_t *data, size_t size)
{
	struct fakeelf_options options = { .unaligned = n & 8 };
	const uint16_t registers[3] = { 0x10, 0x10 * 8, 0x20 * 8 };
	struct fakeelf elf;

	if (n >= 96 || size < 8 + sizeof(elf.stack))
		return 0;
	fakeelf_make(&elf, &options);
	data[0] = (uint8_t)n;
	memcpy(data + 1, registers, sizeof(registers));
	data[7] = 0;
	memcpy(data + 8, elf.stack, sizeof(elf.stack));
	fakeelf_free(&elf);
	return 8 + sizeof(elf.stack);
}

#else

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	(void)data;
	(void)size;
	return 0;
}

#endif
