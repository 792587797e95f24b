/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The threads of a process, and what /proc says of each without touching it. */
#ifndef PMP_PROC_THREADS_H
#define PMP_PROC_THREADS_H

#include "proc/process.h"

/*
 * All thread ids, ascending. Listed again until they are as many as the kernel counts
 * or a pass brings nothing new, at most 4 times (threads may be made faster than they
 * are listed).
 * *tids is reused and grown: start with NULL and 0. 0, PMP_ESRCH, PMP_ENOMEM,
 * PMP_ELIMIT (no descriptor left).
 */
int pmp_threads_list(const struct pmp_process *process, pid_t **tids, size_t *capacity,
		     size_t *count);

/* How many threads there are, as the kernel counts them; 0: not known. */
size_t pmp_threads_count(const struct pmp_process *process);

/* A file of /proc/PID/task/TID could not be read: PMP_ELIMIT (no descriptor left),
 * PMP_ENOMEM, or PMP_ESRCH: it has ended. */
int pmp_proc_reason(int sys_errno);

/*
 * Inspect a thread: fills tid, name, state, syscall, args, wchan, sp of *thread (sp
 * from the syscall file; 0 if unknown), and pc and sp of *peek.
 */
struct pmp_inspection {
	uint64_t pc, sp; /* of a blocked thread, else 0 */
	bool worker;	 /* of the kernel's own, in the process: it has no stack */
	int seccomp;	 /* as in struct pmp_status_file */
	pid_t tgid, tracer;
	uint64_t switches; /* times taken off a processor so far */
};
/* The files are opened one by one: that they are of the same thread is proven by its run
 * count, read before and after. no_wchan: only of a thread in D, of which it is the reason
 * not to stop it. 0; PMP_ESRCH: it has ended; PMP_ELIMIT: no descriptor left. */
int pmp_thread_inspect(const struct pmp_process *process, pid_t tid, bool no_wchan,
		       struct pmp_thread *thread, struct pmp_inspection *peek);
/* The rest of *peek, which only matters before a stop. */
int pmp_thread_inspect_more(const struct pmp_process *process, pid_t tid,
			    struct pmp_inspection *peek);

#endif
