/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PMP_BASE_SYSCALLS_H
#define PMP_BASE_SYSCALLS_H

/* The name of a system call of this architecture, or NULL. */
const char *pmp_syscall_name(int number);

#endif
