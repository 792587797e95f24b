/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What differs between processors: numbers of registers, the return address, the marks
 * of a signal frame, what single instructions show. One file each: arch-x86_64.c,
 * arch-aarch64.c.
 */
#ifndef PMP_UNWIND_ARCH_H
#define PMP_UNWIND_ARCH_H

#include "base/reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PMP_REGS 33 /* by DWARF number; x86-64 uses 17 */

struct pmp_regs {
	uint64_t word[PMP_REGS];
	uint64_t valid; /* bit n: word[n] is known */
};

/* DWARF numbers of this processor. */
extern const int pmp_reg_pc, pmp_reg_sp, pmp_reg_fp;
extern const int pmp_reg_return; /* the return address in call-frame information */
extern const size_t pmp_reg_count;

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

/* Is pc the trampoline a signal handler returns to (rt_sigreturn)? */
bool pmp_arch_is_sigreturn(const struct pmp_reader *memory, uint64_t pc);
/* Does a call instruction end at pc? If it is a direct one, *target (may be
 * NULL) is where it goes, else 0. */
bool pmp_arch_follows_call(const struct pmp_reader *memory, uint64_t pc,
			   uint64_t *target);
/*
 * The caller's registers, out of the signal frame: regs stand at a trampoline
 * that pmp_arch_is_sigreturn() knows. False: the frame cannot be read.
 */
bool pmp_arch_signal_caller(const struct pmp_reader *stack, const struct pmp_regs *regs,
			    struct pmp_regs *caller);

/* How far the stack has grown since the call, where single instructions show it. */
struct pmp_arch_entry {
	unsigned words; /* pushed since the call */
	bool fp_pushed; /* the last of them is the caller's frame pointer, and
				 * before it, on aarch64, the return address */
};
/* Is pc a place that shows it: a function's first instructions, its return, a
 * stub of a procedure linkage table? memory: of the code. */
bool pmp_arch_entry(const struct pmp_reader *memory, uint64_t pc,
		    struct pmp_arch_entry *entry);
/* The caller's registers if nothing else has been done since the call. All
 * registers that a call preserves stay as they are. False: unreadable or unknown. */
bool pmp_arch_entry_caller(const struct pmp_reader *stack, const struct pmp_regs *regs,
			   const struct pmp_arch_entry *entry, struct pmp_regs *caller);

/* May this code move the stack pointer by an amount that is not fixed? What looks like
 * such an instruction but is part of another counts too. */
bool pmp_arch_moves_sp(const uint8_t *code, size_t length);

/*
 * How far below the frame pointer a function has the stack pointer from its first call
 * on, by its first instructions: what they push and subtract. False: they do not set
 * up a frame pointer, or are not understood as far as that.
 */
bool pmp_arch_frame_size(const uint8_t *code, size_t length, uint64_t *size);

/* The jumps in a piece of code, one after the other. */
struct pmp_arch_jump {
	const uint8_t *code;
	size_t length, at; /* at: 0 at first */
	uint64_t address;  /* of code[0] */
	uint64_t target;   /* out; 0: not known */
};
#define PMP_ARCH_JUMP_MAX 6 /* bytes of the longest */
/* False: no more. As the boundaries of instructions are not known, there may be too
 * many. */
bool pmp_arch_next_jump(struct pmp_arch_jump *jump);

/* Registers that survive a call, pc, sp and fp among them: bits as in valid. */
extern const uint64_t pmp_arch_preserved;
/* An address of code as a register or a stack has it, without signature bits. */
uint64_t pmp_arch_code(uint64_t value);

struct pmp_rule;

/* Are there rules for code of Go? Then this one, where it has so many bytes of stack in use
 * without the return address. */
extern const bool pmp_arch_has_go_rules;
void pmp_arch_go_frame(uint32_t size, struct pmp_rule *rule);

/* The machine of an ELF file (EM_X86_64) that this build unwinds. */
extern const int pmp_arch_elf_machine;

#endif
