/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * aarch64: the registers of a stopped thread. Only pmp_user_regs_read() and
 * pmp_user_regs_restart() run while it is held.
 */
#ifdef __aarch64__

#include "capture/user-regs.h"

#include <asm/ptrace.h>
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "proc/status.h"

/* Numbers of the DWARF for the Arm 64-bit Architecture, 4.1. */
enum { X8 = 8, SP = 31, PC = 32 };

#define INSTRUCTION 4 /* bytes */

_Static_assert(sizeof(struct user_pt_regs) <= sizeof(union pmp_user_regs), "room");

int pmp_user_regs_read(pid_t tid, union pmp_user_regs *user, uint64_t *tls)
{
	struct iovec iov = { .iov_base = user, .iov_len = sizeof(*user) };
	struct iovec tls_iov = { .iov_base = tls, .iov_len = sizeof(*tls) };

	*tls = 0;
	if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &iov))
		return -errno;
	/* A 32-bit thread returns the 72 bytes of its own structure. */
	if (iov.iov_len < sizeof(struct user_pt_regs))
		return -ENOEXEC;
	if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_ARM_TLS, &tls_iov))
		*tls = 0;
	return 0;
}

uint64_t pmp_user_regs_sp(const union pmp_user_regs *user)
{
	return user->words[SP];
}

/* A number in x8 is no proof: the call may have returned. */
bool pmp_user_regs_may_be_in(const union pmp_user_regs *user, int number)
{
	return (int)user->words[X8] == number;
}

/* If the kernel itself restarts a call, pc is at the svc at the time of the stop. */
void pmp_user_regs_after_call(struct pmp_regs *regs, uint64_t pc)
{
	if (pmp_regs_get(regs, PC) + INSTRUCTION == pc)
		pmp_regs_set(regs, PC, pc);
}

/* Is a signal pending for the thread? Blocked ones count, too. */
static bool is_signal_pending(pid_t tid)
{
	struct __ptrace_peeksiginfo_args own = { .nr = 1 }, shared = own;
	siginfo_t info;

	shared.flags = PTRACE_PEEKSIGINFO_SHARED;
	return ptrace(PTRACE_PEEKSIGINFO, tid, &own, &info) != 0 ||
	       ptrace(PTRACE_PEEKSIGINFO, tid, &shared, &info) != 0;
}

const bool pmp_user_regs_restart_needs_call = true;

/*
 * The kernel has already set the result to EINTR, and does not expose the first argument.
 * If the thread was asleep in this very call right before the stop, /proc showed that
 * argument; moving pc back restarts the call. If a signal is pending, the EINTR may be due
 * to it, and must stay.
 */
bool pmp_user_regs_restart(pid_t tid, const union pmp_user_regs *user,
			   const struct pmp_syscall_file *before)
{
	struct user_pt_regs regs;
	struct iovec iov = { .iov_base = &regs, .iov_len = sizeof(regs) };

	memcpy(&regs, user->words, sizeof(regs));
	if ((int64_t)regs.regs[0] != -EINTR || before->number < 0 ||
	    regs.regs[X8] != (uint64_t)before->number || regs.pc != before->pc ||
	    regs.sp != before->sp || is_signal_pending(tid))
		return false;
	/* The descriptor is already closed, and may have been reused. */
	if (before->number == SYS_close)
		return false;
	regs.regs[0] = before->args[0];
	regs.pc -= INSTRUCTION;
	return ptrace(PTRACE_SETREGSET, tid, (void *)NT_PRSTATUS, &iov) == 0;
}

#endif
