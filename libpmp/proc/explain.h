/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Explains why a process cannot be traced, and what to do about it. */
#ifndef PMP_PROC_EXPLAIN_H
#define PMP_PROC_EXPLAIN_H

#include "proc/process.h"

/*
 * Checks what prevents tracing a thread whoever asks: fills err and returns its
 * code for a kernel thread, a zombie and a thread that is already traced; 0:
 * nothing does.
 */
int pmp_process_refuse(const struct pmp_process *process, pid_t tid,
		       struct pmp_error *err);
/* Explains why ptrace(2) failed with this errno on this thread: fills err,
 * returns its code. */
int pmp_process_explain(const struct pmp_process *process, pid_t tid, int sys_errno,
			struct pmp_error *err);

/* What is known about a process that may not be traced. */
struct pmp_denial {
	pid_t pid;
	const char *name;  /* raw bytes */
	const char *user;  /* user name, or the uid as text */
	uid_t uid, euid;   /* of the process */
	bool hidden;	   /* its files in /proc are not its uid's: not dumpable */
	bool other_group;  /* same user as ours, but another group */
	bool more_capable; /* it has capabilities that we lack */
	bool other_userns; /* its user namespace is not below ours */
	uid_t own_uid;
	bool own_ptrace;  /* we have CAP_SYS_PTRACE */
	bool own_read;	  /* we may read others' files: CAP_DAC_READ_SEARCH */
	bool bounded;	  /* CAP_SYS_PTRACE cannot be obtained here */
	bool own_seccomp; /* we run under a seccomp filter */
	int yama;	  /* kernel.yama.ptrace_scope, -1: none */
};
/* Fill err with the message and the next step; uses only denial. Returns PMP_EPERM. */
int pmp_denial_explain(const struct pmp_denial *denial, struct pmp_error *err);

#endif
