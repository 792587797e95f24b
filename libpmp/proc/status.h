/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The small files of /proc about a process or one of its threads: stat, status,
 * syscall, schedstat.
 */
#ifndef PMP_PROC_STATUS_H
#define PMP_PROC_STATUS_H

#include "libpmp.h"
#include "sample.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Flags of pmp_stat. */
#define PMP_EXITING 0x4u	    /* PF_EXITING */
#define PMP_KERNEL_THREAD 0x200000u /* PF_KTHREAD */

/* /proc/PID/stat or /proc/PID/task/TID/stat. The name may contain anything: it
 * ends at the last ')'. */
struct pmp_stat {
	pid_t pid;
	char name[PMP_NAME_SIZE];
	char state;
	pid_t ppid, session;
	uint64_t threads;     /* of its process, including zombies; 0: it is being
			       * released */
	uint64_t flags;	      /* the kernel's PF_ flags: PF_KTHREAD 0x200000 */
	uint64_t start_time;  /* clock ticks since boot */
	uint64_t start_stack; /* start of the main stack; 0: unknown, or not permitted */
	bool is_thread;	      /* not the leader of its process */
	int processor;	      /* the one it last ran on; -1: unknown */
};
/* Does this state of a thread mean that it has no memory and no stack any more? */
static inline bool pmp_state_ended(char state)
{
	return state == 'Z' || state == 'X' || state == 'x';
}

/* Pure parser, for tests and fuzzing. False: not the text of a stat file. */
bool pmp_stat_parse(const char *text, size_t length, struct pmp_stat *stat);

/* Fields of /proc/PID/status. Missing ones are -1 or 0. */
struct pmp_status_file {
	pid_t tgid;
	pid_t tracer;
	int seccomp; /* 0 none, 1 strict, 2 filter; -1 unknown */
	uid_t uid, euid;
	gid_t gid, egid;
	pid_t ns_pid;			 /* innermost pid (NSpid's last) */
	uint64_t voluntary, involuntary; /* context switches */
	uint64_t cap_permitted, cap_effective, cap_bounding;
	char state;   /* '?' unknown */
	bool dumping; /* a core file is being written */
};
/* False: not the text of a status file. */
bool pmp_status_parse(const char *text, size_t length, struct pmp_status_file *status);

/* /proc/PID/task/TID/syscall: "running", "-1 SP PC" or "NR a1..a6 SP PC". */
struct pmp_syscall_file {
	int number; /* PMP_SYSCALL_UNKNOWN: running */
	uint64_t args[6], sp, pc;
};
bool pmp_syscall_parse(const char *text, size_t length, struct pmp_syscall_file *call);

/* "cpu_ns wait_ns runs" */
bool pmp_schedstat_parse(const char *text, size_t length, uint64_t *cpu, uint64_t *runs);

/* From the beginning of /proc/PID/task/TID/sched: se.exec_start, in ns of a per-processor
 * clock. */
#define PMP_SCHED_SIZE 512
bool pmp_sched_parse(const char *text, size_t length, uint64_t *exec_start);

/* Is a processor in a CPU list of the kernel, "0-3,8"? */
bool pmp_cpu_list_has(const char *text, size_t length, unsigned cpu);

/* Read and parse path relative to the directory dir. 0 or a negative errno
 * (-EPROTO: malformed; -ESRCH: it has exited). */
int pmp_stat_read(int dir, const char *path, struct pmp_stat *stat);
int pmp_status_read(int dir, const char *path, struct pmp_status_file *status);

#endif
