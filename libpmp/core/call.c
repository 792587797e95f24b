/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread that is blocked has been interrupted by what ended the process, or by the
 * debugger that wrote the core: the kernel has left in its registers that the call is to be
 * begun again, or has failed with EINTR.
 */
#include "core/call.h"

#include <errno.h>
#include <string.h>

/* Of the kernel, not in its user headers: ERESTARTSYS, ERESTARTNOINTR, ERESTARTNOHAND,
 * ERESTART_RESTARTBLOCK. */
static bool is_interrupted(uint64_t result)
{
	const int64_t error = -(int64_t)result;

	return error == EINTR || error == 512 || error == 513 || error == 514 ||
	       error == 516;
}

#ifdef __aarch64__

enum { X8 = 8, PC = 32, INSTRUCTION = 4 };
#define SVC 0xd4000001u

static bool is_svc(const struct pmp_reader *memory, uint64_t pc)
{
	uint32_t code;

	return pmp_read(memory, pc, &code, sizeof(code)) && code == SVC;
}

/* Put back before the call, with its first argument; else after it, and that is lost. */
bool pmp_core_call(const union pmp_user_regs *user, const struct pmp_reader *memory,
		   int *number, uint64_t *args)
{
	const uint64_t pc = user->words[PC];
	const bool before = is_svc(memory, pc);

	if (!before &&
	    (!is_interrupted(user->words[0]) || !is_svc(memory, pc - INSTRUCTION)))
		return false;
	*number = (int)user->words[X8];
	memcpy(args, user->words, 6 * sizeof(*args));
	if (!before)
		args[0] = 0;
	return true;
}

uint64_t pmp_core_tls(const union pmp_user_regs *user)
{
	(void)user;
	return 0;
}

#else

#include <stddef.h>
#include <sys/user.h>

#define WORD(name) (offsetof(struct user_regs_struct, name) / 8)

bool pmp_core_call(const union pmp_user_regs *user, const struct pmp_reader *memory,
		   int *number, uint64_t *args)
{
	static const uint8_t order[] = { WORD(rdi), WORD(rsi), WORD(rdx),
					 WORD(r10), WORD(r8),  WORD(r9) };

	(void)memory;
	if ((int64_t)user->words[WORD(orig_rax)] < 0 ||
	    !is_interrupted(user->words[WORD(rax)]))
		return false;
	*number = (int)user->words[WORD(orig_rax)];
	for (size_t i = 0; i < sizeof(order); i++)
		args[i] = user->words[order[i]];
	return true;
}

uint64_t pmp_core_tls(const union pmp_user_regs *user)
{
	return user->words[WORD(fs_base)];
}

#endif
