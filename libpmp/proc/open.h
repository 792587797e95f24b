/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening a process: the checks that come before everything else. */
#ifndef PMP_PROC_OPEN_H
#define PMP_PROC_OPEN_H

#include "proc/process.h"

/*
 * Check and open a process. Refuses, each with its cause (message texts E1-E7):
 * no such process; a thread id of another process (hint with -t); zombie (parent
 * named); kernel thread; our own process; 32-bit; not permitted: uid,
 * non-dumpable, yama, missing capability; already traced (tracer named).
 * A leader that has ended with live threads left is fine.
 * process is filled with descriptors owned by the caller's pmp_process_close().
 */
int pmp_process_open(pid_t pid, struct pmp_process *process, struct pmp_error *err);
/* After an exec /proc/PID/mem refers to the old, dead memory: open it again. 0 or
 * a negative errno. */
int pmp_process_reopen_mem(struct pmp_process *process);
/* Does it execute a program of the class that this one is made for? */
int pmp_process_check_class(const struct pmp_process *process, struct pmp_error *err);

#endif
