/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PMP_BASE_SYSCALLS_H
#define PMP_BASE_SYSCALLS_H

#include <stdbool.h>
#include <stddef.h>

/* The same on all architectures, missing in old headers. */
#define PMP_SYSCALL_FUTEX_WAITV 449
#define PMP_SYSCALL_FUTEX_WAIT 455

/* The name of a system call of this architecture, or NULL. */
const char *pmp_syscall_name(int number);
/* The same, or its number printed into text; "" for a negative number: none, or
 * unknown. */
const char *pmp_syscall_text(int number, char *text, size_t size);
/*
 * This machine's number of the call with this generic number (as on aarch64, riscv64). -1:
 * this machine has no call of that name.
 */
int pmp_syscall_from_generic(int number);
/* Does the call always wait for file data when it sleeps? Not io_getevents and
 * io_uring_enter, where threads wait for work. */
bool pmp_syscall_is_of_disk(const char *name);

#endif
