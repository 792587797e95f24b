/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * x86-64: the registers of a stopped thread. Only pmp_user_regs_read() and
 * pmp_user_regs_restart() run while it is held.
 */
#ifdef __x86_64__

#include "capture/user-regs.h"

#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>

#include "base/fault.h"

#define ERESTARTNOHAND 514 /* from the kernel, not in its user headers */

_Static_assert(sizeof(struct user_regs_struct) <= sizeof(union pmp_user_regs), "room");

int pmp_user_regs_read(pid_t tid, union pmp_user_regs *user, uint64_t *tls)
{
	struct iovec iov = { .iov_base = user, .iov_len = sizeof(*user) };

	if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &iov))
		return -errno;
	/* A 32-bit thread returns the 68 bytes of its own structure. */
	if (iov.iov_len < sizeof(struct user_regs_struct))
		return -ENOEXEC;
	*tls = user->words[offsetof(struct user_regs_struct, fs_base) / 8];
	return 0;
}

uint64_t pmp_user_regs_sp(const union pmp_user_regs *user)
{
	return user->words[offsetof(struct user_regs_struct, rsp) / 8];
}

bool pmp_user_regs_may_be_in(const union pmp_user_regs *user, int number)
{
	return (int64_t)user->words[offsetof(struct user_regs_struct, orig_rax) / 8] ==
	       number;
}

void pmp_user_regs_after_call(struct pmp_regs *regs, uint64_t pc)
{
	(void)regs;
	(void)pc;
}

const bool pmp_user_regs_restart_needs_call = false;

/*
 * With this result in rax the kernel restarts the call when the thread resumes,
 * unless a handler runs first: then the call returns EINTR, as it would have
 * without the stop.
 */
bool pmp_user_regs_restart(pid_t tid, const union pmp_user_regs *user,
			   const struct pmp_syscall_file *before)
{
	int64_t call =
		(int64_t)user->words[offsetof(struct user_regs_struct, orig_rax) / 8];
	int64_t result = (int64_t)user->words[offsetof(struct user_regs_struct, rax) / 8];

	(void)before;
	if (call < 0 || result != -EINTR)
		return false;
	/* The descriptor is already closed, and may have been reused. */
	if (call == SYS_close && !PMP_FAULT("restart-close"))
		return false;
	return !ptrace(PTRACE_POKEUSER, tid, (void *)offsetof(struct user, regs.rax),
		       (void *)(intptr_t)-ERESTARTNOHAND);
}

#endif
