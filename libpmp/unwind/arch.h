/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What differs between architectures: register numbers, the return address, how to
 * recognize a signal frame, what single instructions show. One file each: arch-x86_64.c,
 * arch-aarch64.c. Every build has both, because a core file may be from another machine.
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

/* How far the stack has grown since the call, if single instructions show it. */
struct pmp_arch_entry {
	unsigned words; /* pushed since the call */
	bool fp_pushed; /* the last one is the caller's frame pointer, preceded
			 * on aarch64 by the return address */
};

/* Iterates over the jumps in a piece of code. */
struct pmp_arch_jump {
	const uint8_t *code;
	size_t length, at; /* at: 0 at first */
	uint64_t address;  /* of code[0] */
	uint64_t target;   /* out; 0: unknown */
};
#define PMP_ARCH_JUMP_MAX 6 /* bytes of the longest jump */

struct pmp_rule;

struct pmp_arch {
	int elf_machine; /* EM_X86_64 */
	int pc, sp, fp;	 /* DWARF numbers */
	int link; /* number of the return address in call-frame information: pc, or the
		   * register in which calls leave it */
	size_t reg_count;
	/* Registers preserved across calls, including pc, sp and fp: bits as in valid. */
	uint64_t preserved;
	/* NT_PRSTATUS, as in ptrace and core files: the number of words, and the index of
	 * each register, by DWARF number. */
	size_t user_words;
	const uint8_t *user_order;

	/* Is pc the trampoline a signal handler returns to (rt_sigreturn)? */
	bool (*is_sigreturn)(const struct pmp_reader *memory, uint64_t pc);
	/* Does a call instruction end at pc? If it is a direct one, *target (may be NULL)
	 * is set to its destination, else to 0. */
	bool (*follows_call)(const struct pmp_reader *memory, uint64_t pc,
			     uint64_t *target);
	/*
	 * The caller's registers from the signal frame; regs are at a trampoline
	 * recognized by is_sigreturn(). False: the frame cannot be read.
	 */
	bool (*signal_caller)(const struct pmp_reader *stack, const struct pmp_regs *regs,
			      struct pmp_regs *caller);
	/* Is pc where this is known: at a function's first instructions, at its return, in
	 * a stub of a procedure linkage table? memory: of the code. */
	bool (*entry)(const struct pmp_reader *memory, uint64_t pc,
		      struct pmp_arch_entry *entry);
	/* The caller's registers if nothing else was done since the call. All registers
	 * that calls preserve are unchanged. False: unreadable or unknown. */
	bool (*entry_caller)(const struct pmp_reader *stack, const struct pmp_regs *regs,
			     const struct pmp_arch_entry *entry, struct pmp_regs *caller);
	/* May this code move the stack pointer by a variable amount? Bytes within other
	 * instructions that look like one that does count, too. */
	bool (*moves_sp)(const uint8_t *code, size_t length);
	/*
	 * How far the stack pointer is below the frame pointer from a function's first
	 * call on, derived from what its first instructions push and subtract. False: they
	 * do not set up a frame pointer, or are not all understood.
	 */
	bool (*frame_size)(const uint8_t *code, size_t length, uint64_t *size);
	/* False: no more. Instruction boundaries are unknown, so it may find too many. */
	bool (*next_jump)(struct pmp_arch_jump *jump);
	/* See pmp_arch_code(). NULL: addresses are not signed. */
	uint64_t (*code)(uint64_t value);
	/* The rule for Go code that uses size bytes of stack besides the return address;
	 * NULL: no rules for Go. */
	void (*go_frame)(uint32_t size, struct pmp_rule *rule);
};

extern const struct pmp_arch pmp_arch_x86_64, pmp_arch_aarch64;
/* The architecture of this build. */
extern const struct pmp_arch *const pmp_arch_here;
/* The architecture of an ELF file, by its e_machine; NULL: not supported. */
const struct pmp_arch *pmp_arch_of(unsigned machine);
/* A code address from a register or a stack, without signature bits. */
static inline uint64_t pmp_arch_code(const struct pmp_arch *arch, uint64_t value)
{
	return arch->code ? arch->code(value) : value;
}

/* The registers from words in the order of NT_PRSTATUS. */
void pmp_arch_regs(const struct pmp_arch *arch, const uint64_t *words,
		   struct pmp_regs *regs);

#endif
