/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The unwinder by itself: this program is linked with base/ and unwind/ and with
 * sample.c, which has the maps, and with nothing else of the library. The stack is an
 * array, memory comes through a function, and there is no process.
 */
#include "tap.h"

#ifdef __x86_64__

#include "fakeelf.h"
#include "unwind/walk.h"

static struct pmp_raw_frame frames[16];

static struct pmp_walk walk_stack(struct fakeelf *elf, enum pmp_unwind mode)
{
	struct pmp_unwinder *unwinder = pmp_unwinder_new(pmp_arch_here, mode);
	struct pmp_walk walk = { .frames = frames, .limit = 16 };
	struct pmp_regs regs = { 0 };

	pmp_regs_set(&regs, pmp_arch_here->pc, FAKEELF_PC(elf));
	pmp_regs_set(&regs, pmp_arch_here->sp, FAKEELF_SP);
	pmp_regs_set(&regs, pmp_arch_here->fp, FAKEELF_FP);
	if (!unwinder || pmp_unwinder_set_maps(unwinder, elf->maps, &elf->memory) ||
	    pmp_walk(unwinder, &regs, &elf->memory, &walk))
		abort();
	pmp_unwinder_free(unwinder);
	return walk;
}

int main(void)
{
	struct fakeelf elf;
	struct pmp_walk walk;

	fakeelf_make(&elf, &(struct fakeelf_options){ 0 });
	walk = walk_stack(&elf, PMP_UNWIND_AUTO);
	is_int(walk.count, 4, "by call-frame information: all four functions");
	is_str(pmp_end_text(walk.end), "complete", "to the first function");
	for (size_t i = 0; i < 4 && i < walk.count; i++)
		is_int(frames[i].pc, elf.text + i * ELF_FUNCTION + 0x10, "frame %zu", i);
	walk = walk_stack(&elf, PMP_UNWIND_FP);
	ok(walk.count >= 2 && frames[1].flags & PMP_FRAME_FP,
	   "by the frame pointer: %zu frames", walk.count);
	fakeelf_free(&elf);
	return done_testing();
}

#else

TAP_ONLY_SKIPS("not an x86-64 host")

#endif
