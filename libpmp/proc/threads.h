/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The threads of a process, and what /proc tells about each without disturbing it. */
#ifndef PMP_PROC_THREADS_H
#define PMP_PROC_THREADS_H

#include "proc/process.h"

/*
 * All thread ids, ascending. Lists them again until there are as many as the kernel
 * counts, or a pass finds no new ones, at most 4 times (threads may be created faster than
 * they are listed). *tids is reused and enlarged: start with NULL and 0. 0, PMP_ESRCH,
 * PMP_ENOMEM, PMP_ELIMIT (no descriptor left).
 */
int pmp_threads_list(const struct pmp_process *process, pid_t **tids, size_t *capacity,
		     size_t *count);

/* The kernel's count of the threads; 0: unknown. */
size_t pmp_threads_count(const struct pmp_process *process);

/* Why a file in /proc/PID/task/TID could not be read: PMP_ELIMIT (no descriptor left),
 * PMP_ENOMEM, or PMP_ESRCH: the thread has exited. */
int pmp_proc_reason(int sys_errno);

/*
 * Inspect a thread: fills tid, name, state, syscall, args, wchan, sp of *thread (sp
 * from the syscall file; 0 if unknown), and pc and sp of *peek.
 */
struct pmp_inspection {
	uint64_t pc, sp; /* of a blocked thread, else 0 */
	bool worker;	 /* a kernel worker within the process: it has no stack */
	int seccomp;	 /* as in struct pmp_status_file */
	bool dumping;	 /* likewise */
	pid_t tgid, tracer;
	uint64_t switches; /* times taken off a processor so far */
};
/* The files are opened one by one: equal run counts, read before and after, prove that
 * they belong to the same thread. no_wchan: read wchan only for threads in D, where it is
 * the reason not to stop them. 0; PMP_ESRCH: it has exited; PMP_ELIMIT: no descriptor
 * left. */
int pmp_thread_inspect(const struct pmp_process *process, pid_t tid, bool no_wchan,
		       struct pmp_thread *thread, struct pmp_inspection *peek);
/* Fill the rest of *peek, which only matters before a stop. */
int pmp_thread_inspect_more(const struct pmp_process *process, pid_t tid,
			    struct pmp_inspection *peek);

#endif
