/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why a process cannot be looked at, and what to do about it. */
#ifndef PMP_PROC_EXPLAIN_H
#define PMP_PROC_EXPLAIN_H

#include "proc/process.h"

/*
 * What alone forbids to look at a thread, whoever asks: fills err and returns
 * its code for a kernel thread, a zombie and a thread that is traced already;
 * 0: nothing.
 */
int pmp_process_refuse(const struct pmp_process *process, pid_t tid,
		       struct pmp_error *err);
/* A refusal of ptrace(2) with this errno on this thread, explained: fills err,
 * returns its code. */
int pmp_process_explain(const struct pmp_process *process, pid_t tid, int sys_errno,
			struct pmp_error *err);

/* What was found about a process that may not be traced. */
struct pmp_denial {
	pid_t pid;
	const char *name;  /* raw bytes */
	const char *user;  /* its name, or its number as text */
	uid_t uid, euid;   /* of the process */
	bool hidden;	   /* /proc does not believe in its uid: not dumpable */
	bool other_group;  /* ours is the user, not the group */
	bool more_capable; /* it may do what we may not */
	bool other_userns; /* it lives in a user namespace that is not below ours */
	uid_t own_uid;
	bool own_ptrace;  /* we have CAP_SYS_PTRACE */
	bool own_read;	  /* we may read files of others: CAP_DAC_READ_SEARCH */
	bool bounded;	  /* CAP_SYS_PTRACE cannot be had here */
	bool own_seccomp; /* we run under a seccomp filter */
	int yama;	  /* kernel.yama.ptrace_scope, -1: none */
};
/* The message and the one next step; looks at nothing else. Returns PMP_EPERM. */
int pmp_denial_explain(const struct pmp_denial *denial, struct pmp_error *err);

#endif
