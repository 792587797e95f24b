/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening a process, with the checks that precede everything else. */
#ifndef PMP_PROC_OPEN_H
#define PMP_PROC_OPEN_H

#include "proc/process.h"

/*
 * Check and open a process. Fails, stating the cause (E1 to E7 in tests), for:
 * no such process; a thread id of another process (hint with -t); zombie
 * (parent named); kernel thread; our own process; 32-bit; not permitted: uid,
 * non-dumpable, yama, missing capability; already traced (tracer named). A
 * leader that has exited while other threads live is fine. The caller must
 * close process with pmp_process_close().
 */
int pmp_process_open(pid_t pid, struct pmp_process *process, struct pmp_error *err);
/* Open /proc/PID/mem again after an exec, because the descriptor refers to the
 * old memory, which is gone. 0 or a negative errno. */
int pmp_process_reopen_mem(struct pmp_process *process);
/* Check that it executes a program of the ELF class of this build. 0 or an error. */
int pmp_process_check_class(const struct pmp_process *process, struct pmp_error *err);

#endif
