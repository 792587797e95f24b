/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The registers of a stopped thread, as ptrace gives them, and what they say of the
 * system call it is in. One file for each processor: user-regs-x86_64.c,
 * user-regs-aarch64.c.
 */
#ifndef PMP_CAPTURE_USER_REGS_H
#define PMP_CAPTURE_USER_REGS_H

#include "unwind/arch.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What PTRACE_GETREGSET(NT_PRSTATUS) gives, for the short time of a stop. */
union pmp_user_regs {
	uint64_t words[40];
};

/* One GETREGSET (and what gives the thread pointer). 0, or a negative errno;
 * -ENOEXEC: a 32-bit thread (known by the length the kernel returns). */
int pmp_user_regs_read(pid_t tid, union pmp_user_regs *user, uint64_t *tls);
uint64_t pmp_user_regs_sp(const union pmp_user_regs *user);
/* Can it have been stopped in this system call, or in none (PMP_SYSCALL_NONE)? True of a
 * call, false of none, where the registers do not show it. */
bool pmp_user_regs_may_be_in(const union pmp_user_regs *user, int number);
/*
 * Some kernels put a stopped thread back before the call that it is to begin again: then
 * after it once more, at pc, where /proc has shown it asleep.
 */
void pmp_user_regs_after_call(struct pmp_regs *regs, uint64_t pc);
/*
 * If the stop is about to make a system call return EINTR that had not been
 * interrupted but for us: write the restart into the registers (the race between the
 * peek and the stop). before: what /proc said of the thread between SEIZE and
 * INTERRUPT, where pmp_user_regs_restart_needs_call. Returns true if it wrote.
 */
extern const bool pmp_user_regs_restart_needs_call;
struct pmp_syscall_file;
bool pmp_user_regs_restart(pid_t tid, const union pmp_user_regs *user,
			   const struct pmp_syscall_file *before);

#endif
