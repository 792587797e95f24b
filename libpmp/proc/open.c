/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opening a process, with the checks that precede everything else. explain.c explains
 * refusals.
 */
#include "proc/open.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/scan.h"
#include "libpmp-program.h"
#include "proc/explain.h"
#include "proc/mounts.h"

#define PATH_SIZE 64 /* "/proc/PID" */

/* Another pmp holds a thread only for microseconds; a debugger stays. */
#define TRACER_PATIENCE (50 * PMP_MS)
#define TRACER_PAUSE PMP_MS
#define EXEC_PATIENCE (20 * PMP_MS)
#define EXEC_TRIES 20 /* to open it, 1 ms apart */

static int no_such_process(pid_t pid, struct pmp_error *err)
{
	return pmp_error_set(err, PMP_ESRCH, "no such process: %d", (int)pid);
}

/* A /proc of another pid namespace would show unrelated processes. */
static int check_proc(struct pmp_error *err)
{
	char self[PATH_SIZE] = "";
	uint64_t pid;

	if (readlink("/proc/self", self, sizeof(self) - 1) < 0)
		return pmp_error_sys(err, PMP_EUNSUPPORTED, errno, "cannot read /proc");
	if (!pmp_scan_whole(self, 1, INT_MAX, &pid) || (pid_t)pid != getpid())
		return pmp_error_set(err, PMP_EUNSUPPORTED,
				     "/proc belongs to another pid namespace");
	return 0;
}

static int open_proc(pid_t pid, struct pmp_process *process, struct pmp_error *err)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	process->proc = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (process->proc >= 0)
		return 0;
	if (pmp_no_descriptor(errno))
		return pmp_error_sys(err, PMP_ELIMIT, errno, "cannot open %s", path);
	/* With hidepid, /proc hides what kill() still finds. */
	if (kill(pid, 0) < 0 && errno == ESRCH)
		return no_such_process(pid, err);
	pmp_error_set(err, PMP_EPERM, "cannot trace %d: /proc hides it from this user",
		      (int)pid);
	pmp_error_hint(err, "run as root (/proc is mounted with hidepid)");
	return PMP_EPERM;
}

/* Read name and owner, and check that it is not a thread of another process. */
static int identify(struct pmp_process *process, struct pmp_error *err)
{
	struct pmp_status_file status;
	struct pmp_stat stat;
	int result;

	result = pmp_status_read(process->proc, "status", &status);
	if (result == 0 && status.tgid == getpid())
		return pmp_error_set(err, PMP_EINVAL,
				     "cannot trace %d: "
				     "a process cannot profile itself",
				     (int)process->pid);
	if (result == 0 && status.tgid != process->pid) {
		no_such_process(process->pid, err);
		pmp_error_hint(err, "%d is a thread of %d; use -t %d", (int)process->pid,
			       (int)status.tgid, (int)process->pid);
		return PMP_ESRCH;
	}
	process->pidfd = (int)syscall(SYS_pidfd_open, process->pid, 0);
	if (process->pidfd < 0 && pmp_no_descriptor(errno))
		return pmp_error_sys(err, PMP_ELIMIT, errno, "cannot open %d",
				     (int)process->pid);
	/* Read after pidfd_open(): if the directory can still be read, both
	 * belong to the same process. */
	if (result == 0)
		result = pmp_stat_read(process->proc, "stat", &stat);
	if (result == -ENOENT || result == -ESRCH)
		return no_such_process(process->pid, err);
	if (result)
		return pmp_error_sys(err, PMP_EIO, -result, "cannot read /proc/%d/status",
				     (int)process->pid);
	memcpy(process->name, stat.name, sizeof(process->name));
	process->start_time = stat.start_time;
	process->start_stack = stat.start_stack;
	process->uid = status.euid;
	process->ns_pid = status.ns_pid ? status.ns_pid : process->pid;
	return 0;
}

static bool is_traced(const struct pmp_process *process)
{
	struct pmp_status_file status;

	return pmp_status_read(process->proc, "status", &status) == 0 && status.tracer &&
	       status.tracer != getpid();
}

/* Wait for a tracer that holds the leader only for a moment. */
static void await_tracer(const struct pmp_process *process)
{
	const struct timespec pause = { .tv_nsec = TRACER_PAUSE };
	uint64_t end = pmp_clock() + TRACER_PATIENCE;

	while (is_traced(process) && pmp_clock() < end)
		nanosleep(&pause, NULL);
}

static int try_open_mem(const struct pmp_process *process)
{
	int live = pmp_process_live(process);
	int mem;

	if (live < 0)
		return live;
	mem = openat(live, "mem", O_RDONLY | O_CLOEXEC);
	if (mem < 0)
		mem = -errno;
	close(live);
	return mem;
}

/* During an exec, for a moment no process may open it. */
static int open_mem(const struct pmp_process *process)
{
	const struct timespec pause = { .tv_nsec = TRACER_PAUSE };
	uint64_t end = pmp_clock() + EXEC_PATIENCE;
	int mem = try_open_mem(process);

	while ((mem == -EACCES || mem == -EPERM) && pmp_clock() < end) {
		nanosleep(&pause, NULL);
		mem = try_open_mem(process);
	}
	return mem;
}

/* ELFCLASS32 or 64 of the executable, 0 if unknown. Where a file server does not answer, we
 * hang here, before any thread is held: then the others can be sampled without it. */
static int elf_class(const struct pmp_process *process)
{
	unsigned char ident[EI_NIDENT];
	int class = 0;
	struct pmp_process live = *process;
	struct stat file;
	int exe = -1;

	live.proc = pmp_process_live(process);
	if (live.proc >= 0)
		exe = openat(live.proc, "exe", O_PATH | O_CLOEXEC);
	if (exe >= 0 && pmp_mounts_check(&live, exe, &file) < 0) {
		close(exe);
		exe = -1;
	}
	if (exe >= 0)
		exe = pmp_file_reopen(exe, O_RDONLY);

	if (exe >= 0 && pmp_file_pread(exe, ident, sizeof(ident), 0) == sizeof(ident) &&
	    memcmp(ident, ELFMAG, SELFMAG) == 0)
		class = ident[EI_CLASS];
	if (exe >= 0)
		close(exe);
	if (live.proc >= 0)
		close(live.proc);
	return class;
}

int pmp_process_check_class(const struct pmp_process *process, struct pmp_error *err)
{
#ifdef __x86_64__
	const char *machine = "x86-64";
#else
	const char *machine = "aarch64";
#endif
	char name[4 * PMP_NAME_SIZE];

	if (elf_class(process) != ELFCLASS32)
		return 0;
	return pmp_error_set(err, PMP_EUNSUPPORTED,
			     "%d (%s) is a 32-bit program; "
			     "this pmp handles 64-bit %s only",
			     (int)process->pid,
			     pmp_escape(process->name, name, sizeof(name)), machine);
}

static int open_checked(pid_t pid, struct pmp_process *process, struct pmp_error *err)
{
	int result;

	if (pid <= 0)
		return pmp_error_set(err, PMP_EINVAL, "not a process id: %d", (int)pid);
	result = check_proc(err);
	if (result == 0)
		result = open_proc(pid, process, err);
	if (result == 0)
		result = identify(process, err);
	if (result)
		return result;
	await_tracer(process);
	result = pmp_process_refuse(process, pid, err);
	if (result)
		return result;
	process->mem = open_mem(process);
	if (process->mem < 0) {
		int sys_errno = -process->mem;

		process->mem = -1;
		return pmp_process_explain(process, pid, sys_errno, err);
	}
	return pmp_process_check_class(process, err);
}

static int try_open(pid_t pid, struct pmp_process *process, struct pmp_error *err)
{
	*process = (struct pmp_process){ .pid = pid, .pidfd = -1, .proc = -1, .mem = -1 };
	return open_checked(pid, process, err);
}

int pmp_process_open(pid_t pid, struct pmp_process *process, struct pmp_error *err)
{
	const struct timespec pause = { .tv_nsec = TRACER_PAUSE };
	int result = try_open(pid, process, err);

	/* While a thread other than the leader calls exec, and takes the leader's id, the
	 * process can look as if it had exited (t/0750). */
	for (int tries = 1; result == PMP_ESRCH && tries < EXEC_TRIES; tries++) {
		if (process->pidfd < 0 || !pmp_process_alive(process))
			break;
		pmp_process_close(process);
		nanosleep(&pause, NULL);
		result = try_open(pid, process, err);
	}
	if (result)
		pmp_process_close(process);
	return result;
}

int pmp_process_reopen_mem(struct pmp_process *process)
{
	int mem = open_mem(process);

	if (mem < 0)
		return mem;
	if (process->mem >= 0)
		close(process->mem);
	process->mem = mem;
	return 0;
}
