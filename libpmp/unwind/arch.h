/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What differs between processors: numbers of registers, the return address, the marks
 * of a signal frame, what single instructions show. One file each: arch-x86_64.c,
 * arch-aarch64.c. Each is in every build, as a core file may be of another machine.
 */
#ifndef PMP_UNWIND_ARCH_H
#define PMP_UNWIND_ARCH_H

#include "base/reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PMP_REGS 33	      /* by DWARF number; x86-64 uses 17 */
#define PMP_ARCH_WORDS_MAX 34 /* of NT_PRSTATUS; x86-64 has 27 */

struct pmp_regs {
	uint64_t word[PMP_REGS];
	uint64_t valid; /* bit n: word[n] is known */
};

static inline uint64_t pmp_regs_get(const struct pmp_regs *regs, int n)
{
	return regs->word[n];
}

static inline void pmp_regs_set(struct pmp_regs *regs, int n, uint64_t value)
{
	regs->word[n] = value;
	regs->valid |= UINT64_C(1) << n;
}

static inline bool pmp_regs_has(const struct pmp_regs *regs, int n)
{
	return regs->valid >> n & 1;
}

/* How far the stack has grown since the call, where single instructions show it. */
struct pmp_arch_entry {
	unsigned words; /* pushed since the call */
	bool fp_pushed; /* the last of them is the caller's frame pointer, and
				 * before it, on aarch64, the return address */
};

/* The jumps in a piece of code, one after the other. */
struct pmp_arch_jump {
	const uint8_t *code;
	size_t length, at; /* at: 0 at first */
	uint64_t address;  /* of code[0] */
	uint64_t target;   /* out; 0: not known */
};
#define PMP_ARCH_JUMP_MAX 6 /* bytes of the longest */

struct pmp_rule;

struct pmp_arch {
	int elf_machine; /* EM_X86_64 */
	int pc, sp, fp;	 /* DWARF numbers */
	int link; /* that of the return address in call-frame information: of pc, or of a
		   * register where calls leave it in one */
	size_t reg_count;
	/* Registers that survive a call, pc, sp and fp among them: bits as in valid. */
	uint64_t preserved;
	/* Of NT_PRSTATUS, as ptrace and core files have it: how many words there are, and
	 * which ones are the registers, by DWARF number. */
	size_t user_words;
	const uint8_t *user_order;

	/* Is pc the trampoline a signal handler returns to (rt_sigreturn)? */
	bool (*is_sigreturn)(const struct pmp_reader *memory, uint64_t pc);
	/* Does a call instruction end at pc? If it is a direct one, *target (may be
	 * NULL) is where it goes, else 0. */
	bool (*follows_call)(const struct pmp_reader *memory, uint64_t pc,
			     uint64_t *target);
	/*
	 * The caller's registers, out of the signal frame: regs stand at a trampoline
	 * that is_sigreturn() knows. False: the frame cannot be read.
	 */
	bool (*signal_caller)(const struct pmp_reader *stack, const struct pmp_regs *regs,
			      struct pmp_regs *caller);
	/* Is pc a place that shows it: a function's first instructions, its return, a
	 * stub of a procedure linkage table? memory: of the code. */
	bool (*entry)(const struct pmp_reader *memory, uint64_t pc,
		      struct pmp_arch_entry *entry);
	/* The caller's registers if nothing else has been done since the call. All
	 * registers that a call preserves stay as they are. False: unreadable or unknown. */
	bool (*entry_caller)(const struct pmp_reader *stack, const struct pmp_regs *regs,
			     const struct pmp_arch_entry *entry, struct pmp_regs *caller);
	/* May this code move the stack pointer by an amount that is not fixed? What looks
	 * like such an instruction but is part of another counts too. */
	bool (*moves_sp)(const uint8_t *code, size_t length);
	/*
	 * How far below the frame pointer a function has the stack pointer from its first
	 * call on, by its first instructions: what they push and subtract. False: they do
	 * not set up a frame pointer, or are not understood as far as that.
	 */
	bool (*frame_size)(const uint8_t *code, size_t length, uint64_t *size);
	/* False: no more. As the boundaries of instructions are not known, there may be too
	 * many. */
	bool (*next_jump)(struct pmp_arch_jump *jump);
	/* See pmp_arch_code(). NULL: addresses are not signed. */
	uint64_t (*code)(uint64_t value);
	/* The rule for code of Go that has so many bytes of stack in use without the return
	 * address; NULL: there are no rules for Go. */
	void (*go_frame)(uint32_t size, struct pmp_rule *rule);
};

extern const struct pmp_arch pmp_arch_x86_64, pmp_arch_aarch64;
/* That of this build. */
extern const struct pmp_arch *const pmp_arch_here;
/* That of an ELF file, by its e_machine; NULL: none of these. */
const struct pmp_arch *pmp_arch_of(unsigned machine);
/* An address of code as a register or a stack has it, without signature bits. */
static inline uint64_t pmp_arch_code(const struct pmp_arch *arch, uint64_t value)
{
	return arch->code ? arch->code(value) : value;
}

/* The registers out of words in the order of NT_PRSTATUS. */
void pmp_arch_regs(const struct pmp_arch *arch, const uint64_t *words,
		   struct pmp_regs *regs);

#endif
