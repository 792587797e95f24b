/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process as /proc shows it: is it there, may it be traced, is it still the
 * same one? Never stops anything.
 */
#ifndef PMP_CAPTURE_PROCESS_H
#define PMP_CAPTURE_PROCESS_H

#include "libpmp.h"
#include "sample.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* /proc/PID/stat or /proc/PID/task/TID/stat. The name may contain anything:
 * it ends at the last ')'. */
struct pmp_stat {
	pid_t pid;
	char name[PMP_NAME_SIZE];
	char state;
	pid_t ppid, session;
	uint64_t flags;		/* PF_ of the kernel: PF_KTHREAD 0x200000 */
	uint64_t start_time;	/* clock ticks since boot */
	uint64_t start_stack;	/* address of the first stack; 0: unknown, or not for us */
	bool is_thread;		/* not the first of its process */
};
/* Of a thread's state: it has no memory and no stack any more. */
static inline bool pmp_state_ended(char state)
{
	return state == 'Z' || state == 'X' || state == 'x';
}

/* Pure parser, for tests and fuzzing. False: not the text of a stat file. */
bool pmp_stat_parse(const char *text, size_t length, struct pmp_stat *stat);

/* Of /proc/PID/status. Missing fields stay at -1 / 0. */
struct pmp_status_file {
	pid_t tgid;
	pid_t tracer;
	int seccomp;		/* 0 none, 1 strict, 2 filter; -1 unknown */
	uid_t uid, euid;
	gid_t gid, egid;
	pid_t ns_pid;		/* innermost pid (NSpid's last) */
	uint64_t voluntary, involuntary;	/* context switches */
	uint64_t cap_permitted, cap_effective, cap_bounding;
	char state;		/* '?' unknown */
};
/* False: not the text of a status file. */
bool pmp_status_parse(const char *text, size_t length, struct pmp_status_file *status);

/* /proc/PID/task/TID/syscall: "running", "-1 SP PC" or "NR a1..a6 SP PC". */
struct pmp_syscall_file {
	int number;		/* PMP_SYSCALL_UNKNOWN: running */
	uint64_t args[6], sp, pc;
};
bool pmp_syscall_parse(const char *text, size_t length, struct pmp_syscall_file *call);

/* "cpu_ns wait_ns runs" */
bool pmp_schedstat_parse(const char *text, size_t length, uint64_t *cpu, uint64_t *runs);

/* Read and parse path relative to the directory dir. 0 or a negative errno
 * (-EPROTO: not understood). */
int pmp_stat_read(int dir, const char *path, struct pmp_stat *stat);
int pmp_status_read(int dir, const char *path, struct pmp_status_file *status);

struct pmp_process {
	pid_t pid;
	int pidfd;		/* -1 on kernels without */
	int proc;		/* O_PATH|O_DIRECTORY descriptor of /proc/PID */
	int mem;		/* /proc/PID/mem, of a live thread if the leader ended; -1 */
	uint64_t start_time;
	uint64_t start_stack;	/* of the program that it executes */
	char name[PMP_NAME_SIZE];
	uid_t uid;		/* effective */
	pid_t ns_pid;		/* as the process sees itself */
};

/*
 * Check and open a process. Refuses, each with its cause (message texts E1-E7):
 * no such process; a thread id of another process (hint with -t); zombie (parent
 * named); kernel thread; our own process; 32-bit; not permitted: uid,
 * non-dumpable, yama, missing capability; already traced (tracer named).
 * A leader that has ended with live threads left is fine.
 * process is filled with descriptors owned by the caller's pmp_process_close().
 */
int pmp_process_open(pid_t pid, struct pmp_process *process, struct pmp_error *err);
/* Takes a half-opened one as well, and one whose descriptors are -1. */
void pmp_process_close(struct pmp_process *process);
/* Still running and still the same (pidfd, else start time)? */
bool pmp_process_alive(const struct pmp_process *process);
/* After an exec /proc/PID/mem refers to the old, dead memory: open it again. 0 or
 * a negative errno. */
int pmp_process_reopen_mem(struct pmp_process *process);
/* Does it execute a program of the class that this one is made for? */
int pmp_process_check_class(const struct pmp_process *process, struct pmp_error *err);
/*
 * The descriptor (O_PATH) of /proc/TID of a thread that has not ended, the
 * leader if it lives: a leader that has ended has no maps, exe and root. To be
 * closed by the caller; a negative errno (-ESRCH: all have ended).
 */
int pmp_process_live(const struct pmp_process *process);
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
	const char *name;	/* raw bytes */
	const char *user;	/* its name, or its number as text */
	uid_t uid, euid;	/* of the process */
	bool hidden;		/* /proc does not believe in its uid: not dumpable */
	bool other_group;	/* ours is the user, not the group */
	bool more_capable;	/* it may do what we may not */
	bool other_userns;	/* it lives in a user namespace that is not below ours */
	uid_t own_uid;
	bool own_ptrace;	/* we have CAP_SYS_PTRACE */
	bool bounded;		/* nobody here can get CAP_SYS_PTRACE */
	bool own_seccomp;	/* we run under a seccomp filter */
	int yama;		/* kernel.yama.ptrace_scope, -1: none */
};
/* The message and the one next step; looks at nothing else. Returns PMP_EPERM. */
int pmp_denial_explain(const struct pmp_denial *denial, struct pmp_error *err);

#endif
