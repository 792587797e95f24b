/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process as /proc shows it: does it exist, is it still the same one, which of its
 * threads have not exited? Never stops anything. See open.h for opening it.
 */
#ifndef PMP_PROC_PROCESS_H
#define PMP_PROC_PROCESS_H

#include "proc/status.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pmp_mounts;

struct pmp_process {
	pid_t pid;
	int pidfd; /* -1 on kernels without */
	int proc;  /* O_PATH|O_DIRECTORY descriptor of /proc/PID */
	int mem;   /* /proc/PID/mem, of a live thread if the leader has exited; -1 */
	uint64_t start_time;
	uint64_t start_stack; /* of the program that it executes */
	char name[PMP_NAME_SIZE];
	uid_t uid;		   /* effective uid; may have changed since */
	pid_t ns_pid;		   /* its pid in its own namespace */
	struct pmp_mounts *mounts; /* while several of its files are opened; or NULL */
};

/* Also takes a partly opened one, and one whose descriptors are -1. */
void pmp_process_close(struct pmp_process *process);
/* Does this errno of an open() mean that descriptors ran out? */
static inline bool pmp_no_descriptor(int sys_errno)
{
	return sys_errno == EMFILE || sys_errno == ENFILE;
}

/* Is tid one of its threads? False only if it certainly is not. */
bool pmp_task_exists(const struct pmp_process *process, pid_t tid);
/*
 * A file of one of its threads, for example "stat": open it for reading (NULL: the
 * thread's directory, O_PATH), or read its beginning, up to size - 1 bytes and a NUL.
 * Returns a descriptor or the number of bytes, else a negative errno.
 */
int pmp_task_open(const struct pmp_process *process, pid_t tid, const char *name);
ssize_t pmp_task_read(const struct pmp_process *process, pid_t tid, const char *name,
		      char *text, size_t size);
/* Read and parse two of these files. 0 or a negative errno (-EPROTO: malformed). */
int pmp_task_stat(const struct pmp_process *process, pid_t tid, struct pmp_stat *stat);
int pmp_task_status(const struct pmp_process *process, pid_t tid,
		    struct pmp_status_file *status);

/* Still running and still the same (pidfd, else start time)? */
bool pmp_process_alive(const struct pmp_process *process);
/*
 * Who may look at a process (proc: a descriptor of its directory in /proc): the owner of
 * the files in that directory. The directory itself belongs to the effective user, even if
 * that user may not look (proc(5), PR_SET_DUMPABLE(2const)). *owner: in, the last one
 * known; out, the current one. False, with *owner unchanged: the process has exited, or
 * its leader is exiting, so that its files have become root's.
 */
bool pmp_process_owner_at(int proc, uid_t *owner);
/*
 * A descriptor (O_PATH) of /proc/TID of a thread that has not exited, the
 * leader if possible: a leader that has exited has no maps, exe and root. To be
 * closed by the caller; or a negative errno (-ESRCH: all have exited).
 */
int pmp_process_live(const struct pmp_process *process);
#endif
