/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PMP_BASE_SYSCALLS_H
#define PMP_BASE_SYSCALLS_H

#include <stdbool.h>
#include <stddef.h>

/* The same on all machines, and newer than some headers. */
#define PMP_SYSCALL_FUTEX_WAITV 449
#define PMP_SYSCALL_FUTEX_WAIT 455

/* The name of a system call of this architecture, or NULL. */
const char *pmp_syscall_name(int number);
/* The same, or its number put into text; "" of a negative number: none, or not known. */
const char *pmp_syscall_text(int number, char *text, size_t size);
/*
 * The call, as this machine numbers it, that newer processors (aarch64, riscv64) number so.
 * -1: this machine has none of that name.
 */
int pmp_syscall_from_generic(int number);
/* A call that waits for the data of files, whatever it is that it sleeps in. Not so are
 * io_getevents and io_uring_enter, where threads wait for work. */
bool pmp_syscall_is_of_disk(const char *name);

#endif
