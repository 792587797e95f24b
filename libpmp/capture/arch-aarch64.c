/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * aarch64: the registers of a stopped thread, and what single instructions tell
 * about the stack where there is no call-frame information. Only
 * pmp_arch_read() runs while a thread is held.
 */
#ifdef __aarch64__

#include "capture/arch.h"

#include <asm/ptrace.h>
#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

/* Numbers of the DWARF for the Arm 64-bit Architecture, 4.1. */
enum { X8 = 8, X19 = 19, FP = 29, LR = 30, SP = 31, PC = 32, REG_COUNT };

#define MOV_X8_SIGRETURN 0xd2801168u	/* mov x8, #139 */
#define SVC_0 0xd4000001u
#define ADDRESS_BITS 48		/* above them: a pointer's signature */

_Static_assert(sizeof(struct user_pt_regs) <= sizeof(union pmp_user_regs), "room");
_Static_assert(REG_COUNT <= PMP_REGS, "room");

const int pmp_reg_pc = PC, pmp_reg_sp = SP, pmp_reg_fp = FP;
const int pmp_reg_return = LR;
const size_t pmp_reg_count = REG_COUNT;
const int pmp_arch_elf_machine = EM_AARCH64;
/* x19 to x28, fp, sp, pc */
const uint64_t pmp_arch_preserved = (UINT64_C(1) << LR) - (UINT64_C(1) << X19) +
				    (UINT64_C(1) << SP) + (UINT64_C(1) << PC);

int pmp_arch_read(pid_t tid, union pmp_user_regs *user, uint64_t *tls)
{
	struct iovec iov = { .iov_base = user, .iov_len = sizeof(*user) };
	struct iovec tls_iov = { .iov_base = tls, .iov_len = sizeof(*tls) };

	*tls = 0;
	if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &iov))
		return -errno;
	/* A 32-bit thread gives the 72 bytes of its own structure. */
	if (iov.iov_len < sizeof(struct user_pt_regs))
		return -ENOEXEC;
	if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_ARM_TLS, &tls_iov))
		*tls = 0;
	return 0;
}

/* struct user_pt_regs: x0 to x30, sp, pc, as the DWARF numbers go. */
void pmp_arch_convert(const union pmp_user_regs *user, struct pmp_regs *regs)
{
	memset(regs, 0, sizeof(*regs));
	for (int i = 0; i < REG_COUNT; i++)
		pmp_regs_set(regs, i, user->words[i]);
}

uint64_t pmp_arch_sp(const union pmp_user_regs *user)
{
	return user->words[SP];
}

bool pmp_arch_may_be_in(const union pmp_user_regs *user, int number)
{
	(void)user;
	(void)number;
	return true;
}

/* The call's first argument is gone from x0 by then: nothing can be done. */
bool pmp_arch_restart(pid_t tid, const union pmp_user_regs *user)
{
	(void)tid;
	(void)user;
	return false;
}

bool pmp_arch_is_sigreturn(const struct pmp_reader *memory, uint64_t pc)
{
	uint32_t code[2];

	if (pmp_read(memory, pc, code, 8) && code[0] == MOV_X8_SIGRETURN &&
	    code[1] == SVC_0)
		return true;
	return pmp_read(memory, pc - 4, code, 8) && code[0] == MOV_X8_SIGRETURN &&
	       code[1] == SVC_0;
}

bool pmp_arch_signal_caller(const struct pmp_reader *stack, const struct pmp_regs *regs,
			    struct pmp_regs *caller)
{
	/* struct rt_sigframe: siginfo (128), then ucontext, whose sigcontext begins
	 * at 176 with the fault address; behind it x0 to x30, sp, pc. */
	enum { GREGS = 128 + 176 + 8 };
	uint64_t gregs[REG_COUNT];

	if (!pmp_read(stack, pmp_regs_get(regs, SP) + GREGS, gregs, sizeof(gregs)))
		return false;
	memset(caller, 0, sizeof(*caller));
	for (int i = 0; i < REG_COUNT; i++)
		pmp_regs_set(caller, i, gregs[i]);
	return true;
}

/*
 *	94...... bl target	d63f0..0 blr xN		d[67]3f08.. blraa and the like
 */
bool pmp_arch_follows_call(const struct pmp_reader *memory, uint64_t pc, uint64_t *target)
{
	uint32_t code;

	if (target)
		*target = 0;
	if (pc < 4 || pc % 4 || !pmp_read(memory, pc - 4, &code, 4))
		return false;
	if ((code & 0xfc000000) == 0x94000000) {
		if (target)
			*target = pc - 4 +
				  (uint64_t)((int64_t)((uint64_t)code << 38) >> 36);
		return true;
	}
	return (code & 0xfffffc1f) == 0xd63f0000 || (code & 0xfefff800) == 0xd63f0800;
}

/*
 *	d503245f bti c		a9b.7bfd stp x29, x30, [sp, #-N]!
 *	d503233f paciasp	d65f03c0 ret		d65f0bff retaa
 */
bool pmp_arch_entry(const struct pmp_reader *memory, uint64_t pc,
		    struct pmp_arch_entry *entry)
{
	uint32_t code;

	memset(entry, 0, sizeof(*entry));
	if (pc % 4 || !pmp_read(memory, pc, &code, 4))
		return false;
	return code == 0xd503245f || code == 0xd503233f || code == 0xd65f03c0 ||
	       code == 0xd65f0bff || (code & 0xffe07fff) == 0xa9a07bfd;
}

bool pmp_arch_entry_caller(const struct pmp_reader *stack, const struct pmp_regs *regs,
			   const struct pmp_arch_entry *entry, struct pmp_regs *caller)
{
	(void)stack;
	(void)entry;
	if (!pmp_regs_has(regs, LR))
		return false;
	*caller = *regs;
	caller->valid &= pmp_arch_preserved;
	pmp_regs_set(caller, PC, pmp_arch_code(pmp_regs_get(regs, LR)));
	return true;
}

/* sub or add sp,sp,register; and sp,x,#mask. */
bool pmp_arch_moves_sp(const uint8_t *code, size_t length)
{
	for (size_t i = 0; i + 4 <= length; i += 4) {
		uint32_t word;

		memcpy(&word, code + i, 4);
		if ((word & 0xbfe003ff) == 0x8b2003ff || (word & 0xff80001f) == 0x9200001f)
			return true;
	}
	return false;
}

/* Frames have their record at the stack pointer or somewhere above: no telling. */
bool pmp_arch_frame_size(const uint8_t *code, size_t length, uint64_t *size)
{
	(void)code;
	(void)length;
	*size = 0;
	return false;
}

/* b, b.cond, cbz, tbz with their distances; br: to wherever. */
bool pmp_arch_next_jump(struct pmp_arch_jump *jump)
{
	while (jump->at + 4 <= jump->length) {
		uint64_t pc = jump->address + jump->at;
		uint32_t word;

		memcpy(&word, jump->code + jump->at, 4);
		jump->at += 4;
		if ((word & 0xfffffc1f) == 0xd61f0000)
			jump->target = 0;
		else if (word >> 26 == 5)
			jump->target = pc + (uint64_t)((int64_t)(int32_t)(word << 6) >> 4);
		else if ((word & 0xff000010) == 0x54000000 || (word & 0x7e000000) == 0x34000000)
			jump->target = pc + (uint64_t)(((int64_t)(int32_t)(word << 8) >> 13) * 4);
		else if ((word & 0x7e000000) == 0x36000000)
			jump->target = pc + (uint64_t)(((int64_t)(int32_t)(word << 13) >> 18) * 4);
		else
			continue;
		return true;
	}
	return false;
}

uint64_t pmp_arch_code(uint64_t value)
{
	return value & ((UINT64_C(1) << ADDRESS_BITS) - 1);
}

#endif
