/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A blocked thread was interrupted by what ended the process, or by the debugger that
 * wrote the core: its registers show that the kernel was about to restart the call, or
 * that it failed with EINTR.
 */
#include "core/call.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/syscalls.h"
#include "sample.h"

/* From the kernel, not in its user headers: ERESTARTSYS, ERESTARTNOINTR, ERESTARTNOHAND,
 * ERESTART_RESTARTBLOCK. */
static bool is_interrupted(uint64_t result)
{
	const uint64_t error = -result;

	return error == EINTR || error == 512 || error == 513 || error == 514 ||
	       error == 516;
}

/* ---- aarch64 --------------------------------------------------------------------- */

enum { X8 = 8, PC = 32, INSTRUCTION = 4 };
#define SVC 0xd4000001u

enum call_code { OTHER, CALL, UNREADABLE };

static enum call_code code_at(const struct pmp_reader *memory, uint64_t pc)
{
	uint32_t code;

	if (!pmp_read(memory, pc, &code, sizeof(code)))
		return UNREADABLE;
	return code == SVC ? CALL : OTHER;
}

/* pc is back before the call, with the first argument restored; or after it, and the
 * argument is lost. */
static bool call_aarch64(const uint64_t *words, const struct pmp_reader *memory,
			 int *number, uint64_t *args)
{
	enum call_code next = code_at(memory, words[PC]), last = OTHER;

	if (next != CALL && is_interrupted(words[0]))
		last = code_at(memory, words[PC] - INSTRUCTION);
	if (next != CALL && last != CALL) {
		*number = next == UNREADABLE || last == UNREADABLE ? PMP_SYSCALL_UNKNOWN
								   : PMP_SYSCALL_NONE;
		return false;
	}
	*number = pmp_syscall_from_generic((int)words[X8]);
	memcpy(args, words, 6 * sizeof(*args));
	if (next != CALL)
		args[0] = 0;
	if (*number < 0)
		*number = PMP_SYSCALL_UNKNOWN;
	return *number >= 0;
}

/* ---- x86-64 ---------------------------------------------------------------------- */

/* Indices in struct user_regs_struct. */
enum { R10 = 7, R9 = 8, R8 = 9, RAX = 10, RDX = 12, RSI, RDI, ORIG_RAX, FS_BASE = 21 };

static bool call_x86_64(const uint64_t *words, int *number, uint64_t *args)
{
	static const uint8_t order[] = { RDI, RSI, RDX, R10, R8, R9 };

	*number = PMP_SYSCALL_NONE;
	if (words[ORIG_RAX] > INT_MAX || !is_interrupted(words[RAX]))
		return false;
	/* Headers of other architectures do not have its numbers. */
	*number = PMP_SYSCALL_UNKNOWN;
	if (pmp_arch_here != &pmp_arch_x86_64)
		return false;
	*number = (int)words[ORIG_RAX];
	for (size_t i = 0; i < sizeof(order); i++)
		args[i] = words[order[i]];
	return true;
}

bool pmp_core_call(const struct pmp_arch *arch, const uint64_t *words,
		   const struct pmp_reader *memory, int *number, uint64_t *args)
{
	return arch == &pmp_arch_aarch64 ? call_aarch64(words, memory, number, args)
					 : call_x86_64(words, number, args);
}

uint64_t pmp_core_tls(const struct pmp_arch *arch, const uint64_t *words)
{
	return arch == &pmp_arch_x86_64 ? words[FS_BASE] : 0;
}
