/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process as /proc shows it: is it there, is it still the same one, which of its threads
 * have not ended? Never stops anything. open.h opens it.
 */
#ifndef PMP_PROC_PROCESS_H
#define PMP_PROC_PROCESS_H

#include "proc/status.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pmp_process {
	pid_t pid;
	int pidfd; /* -1 on kernels without */
	int proc;  /* O_PATH|O_DIRECTORY descriptor of /proc/PID */
	int mem;   /* /proc/PID/mem, of a live thread if the leader ended; -1 */
	uint64_t start_time;
	uint64_t start_stack; /* of the program that it executes */
	char name[PMP_NAME_SIZE];
	uid_t uid;    /* effective; it may have changed since */
	pid_t ns_pid; /* as the process sees itself */
};

/* Takes a half-opened one as well, and one whose descriptors are -1. */
void pmp_process_close(struct pmp_process *process);
/* Is this errno of an open() for want of descriptors? */
static inline bool pmp_no_descriptor(int sys_errno)
{
	return sys_errno == EMFILE || sys_errno == ENFILE;
}

/* Is this one of its threads? False only if it certainly is not. */
bool pmp_task_exists(const struct pmp_process *process, pid_t tid);
/*
 * A file of one of its threads, "stat" for instance: open it for reading (NULL: the
 * thread's directory, O_PATH), or read its beginning, up to size - 1 bytes and a NUL.
 * Returns a descriptor or the number of bytes, else a negative errno.
 */
int pmp_task_open(const struct pmp_process *process, pid_t tid, const char *name);
ssize_t pmp_task_read(const struct pmp_process *process, pid_t tid, const char *name,
		      char *text, size_t size);
/* Two of them, parsed. 0 or a negative errno (-EPROTO: not understood). */
int pmp_task_stat(const struct pmp_process *process, pid_t tid, struct pmp_stat *stat);
int pmp_task_status(const struct pmp_process *process, pid_t tid,
		    struct pmp_status_file *status);

/* Still running and still the same (pidfd, else start time)? */
bool pmp_process_alive(const struct pmp_process *process);
/*
 * Who may look at a process (proc: a descriptor of its directory in /proc): the owner of the
 * files in it. The directory itself belongs to the effective user, even if that user may not
 * look (proc(5), PR_SET_DUMPABLE(2const)). *owner: in, the last one known; out, the one now.
 * False, and *owner as it was: the process has ended, or its first thread is ending, so that
 * its files have become root's.
 */
bool pmp_process_owner_at(int proc, uid_t *owner);
/*
 * The descriptor (O_PATH) of /proc/TID of a thread that has not ended, the
 * leader if it lives: a leader that has ended has no maps, exe and root. To be
 * closed by the caller; a negative errno (-ESRCH: all have ended).
 */
int pmp_process_live(const struct pmp_process *process);
#endif
