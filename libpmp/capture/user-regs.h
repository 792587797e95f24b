/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The registers of a stopped thread, as ptrace returns them, and what they tell about its
 * system call. One file for each architecture: user-regs-x86_64.c, user-regs-aarch64.c.
 */
#ifndef PMP_CAPTURE_USER_REGS_H
#define PMP_CAPTURE_USER_REGS_H

#include "unwind/arch.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What PTRACE_GETREGSET(NT_PRSTATUS) returns, for the short time of a stop. */
union pmp_user_regs {
	uint64_t words[40];
};

/* One GETREGSET (and another one for the thread pointer where needed). 0, or a
 * negative errno; -ENOEXEC: a 32-bit thread (recognized by the length the
 * kernel returns). */
int pmp_user_regs_read(pid_t tid, union pmp_user_regs *user, uint64_t *tls);
uint64_t pmp_user_regs_sp(const union pmp_user_regs *user);
/* Can it have been stopped in this system call, or in none (PMP_SYSCALL_NONE)? Where the
 * registers do not tell: true for a call, false for none. */
bool pmp_user_regs_may_be_in(const union pmp_user_regs *user, int number);
/*
 * Some kernels move a stopped thread back to before the call that it is to restart: undo
 * that, to pc, where /proc showed it asleep.
 */
void pmp_user_regs_after_call(struct pmp_regs *regs, uint64_t pc);
/*
 * If a system call is about to return EINTR only because of our stop (the race between the
 * peek and the stop), write its restart into the registers. before: what /proc said about
 * the thread between SEIZE and INTERRUPT, needed if pmp_user_regs_restart_needs_call.
 * Returns true if it wrote.
 */
extern const bool pmp_user_regs_restart_needs_call;
struct pmp_syscall_file;
bool pmp_user_regs_restart(pid_t tid, const union pmp_user_regs *user,
			   const struct pmp_syscall_file *before);

#endif
