/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process as /proc shows it: parsers of its small files, and the checks that
 * come before everything else. All of /proc/PID is read relative to one kept
 * descriptor, which never leads to another process that got the same number.
 * Nothing is stopped here. The refusals are in explain.c; maps.c comes next.
 */
#include "capture/process.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/scan.h"

#define STAT_SIZE 1024			/* about 350 bytes on a 64-bit machine */
#define STATUS_LIMIT (1u << 20)		/* 65,536 supplementary groups fit in */
#define PATH_SIZE 64			/* "task/TID/...", "/proc/TID" */

/* Another pmp holds a thread for microseconds only; a debugger stays. */
#define TRACER_PATIENCE (50 * PMP_MS)
#define EXEC_PATIENCE (20 * PMP_MS)
#define ALIVE_LOOKS 10
#define ALIVE_PAUSE PMP_MS
#define TRACER_PAUSE PMP_MS

/* ---- parsers ------------------------------------------------------------ */

static bool scan_pid(struct pmp_scan *scan, pid_t *pid)
{
	uint64_t value;

	if (!pmp_scan_u64(scan, &value) || value > INT_MAX)
		return false;
	*pid = (pid_t)value;
	return true;
}

/* The next of the blank-separated numbers of a stat file. */
static bool next_number(struct pmp_scan *scan, int64_t *value)
{
	pmp_scan_blanks(scan);
	return pmp_scan_i64(scan, value);
}

/* What follows the name: " S ppid pgrp session tty tpgid flags ... start". */
enum { PPID = 4, SESSION = 6, FLAGS = 9, START = 22 };	/* as proc(5) counts */

/* What may be missing, and counts beyond what is signed. */
static void parse_more_fields(struct pmp_scan *scan, struct pmp_stat *stat)
{
	enum { FIRST = START + 1, STACK = 28, EXIT_SIGNAL = 38 };
	const char *word;
	size_t length;

	for (int field = FIRST; field <= EXIT_SIGNAL; field++) {
		pmp_scan_blanks(scan);
		if (field == STACK && pmp_scan_u64(scan, &stat->start_stack))
			continue;
		if (!pmp_scan_word(scan, &word, &length))
			return;
		/* Only the first thread sends its parent a signal at its end. */
		if (field == EXIT_SIGNAL)
			stat->is_thread = *word == '-';
	}
}

static bool parse_stat_fields(struct pmp_scan *scan, struct pmp_stat *stat)
{
	int64_t value;

	if (!pmp_scan_char(scan, ' ') || pmp_scan_done(scan))
		return false;
	stat->state = *scan->at++;
	for (int field = PPID; field <= START; field++) {
		if (!next_number(scan, &value))
			return false;
		if ((field == PPID || field == SESSION) && (value < 0 || value > INT_MAX))
			return false;
		if (field == PPID)
			stat->ppid = (pid_t)value;
		else if (field == SESSION)
			stat->session = (pid_t)value;
		else if (field == FLAGS)
			stat->flags = (uint64_t)value;
		else if (field == START)
			stat->start_time = (uint64_t)value;
	}
	parse_more_fields(scan, stat);
	return true;
}

bool pmp_stat_parse(const char *text, size_t length, struct pmp_stat *stat)
{
	struct pmp_scan scan = pmp_scan_text(text, length);
	const char *close = length ? memrchr(text, ')', length) : NULL;
	size_t name_length;

	*stat = (struct pmp_stat){ .state = '?' };
	if (!close || !scan_pid(&scan, &stat->pid) || !pmp_scan_char(&scan, ' ') ||
	    !pmp_scan_char(&scan, '(') || close < scan.at)
		return false;
	name_length = (size_t)(close - scan.at);
	if (name_length >= sizeof(stat->name))
		name_length = sizeof(stat->name) - 1;
	memcpy(stat->name, scan.at, name_length);
	scan.at = close + 1;
	return parse_stat_fields(&scan, stat);
}

/* Move over the name of a field ("Tgid:") and the blanks behind it. */
static bool is_field(struct pmp_scan *scan, const char *name)
{
	size_t length = strlen(name);

	if ((size_t)(scan->end - scan->at) < length || memcmp(scan->at, name, length) != 0)
		return false;
	scan->at += length;
	pmp_scan_blanks(scan);
	return true;
}

/* "Uid: real effective saved fs", and so for Gid */
static void parse_ids(struct pmp_scan *scan, unsigned *real, unsigned *effective)
{
	uint64_t first, second;

	if (!pmp_scan_u64(scan, &first))
		return;
	pmp_scan_blanks(scan);
	if (!pmp_scan_u64(scan, &second) || first > UINT32_MAX || second > UINT32_MAX)
		return;
	*real = (unsigned)first;
	*effective = (unsigned)second;
}

/* "NSpid: 4100 17 1": ours first, the innermost last */
static void parse_ns_pids(struct pmp_scan *scan, struct pmp_status_file *status)
{
	while (scan_pid(scan, &status->ns_pid))
		pmp_scan_blanks(scan);
}

static void parse_status_line(struct pmp_scan *line, struct pmp_status_file *status)
{
	int64_t value;

	if (is_field(line, "State:") && !pmp_scan_done(line))
		status->state = *line->at;
	else if (is_field(line, "Tgid:"))
		scan_pid(line, &status->tgid);
	else if (is_field(line, "TracerPid:"))
		scan_pid(line, &status->tracer);
	else if (is_field(line, "Uid:"))
		parse_ids(line, &status->uid, &status->euid);
	else if (is_field(line, "Gid:"))
		parse_ids(line, &status->gid, &status->egid);
	else if (is_field(line, "NSpid:"))
		parse_ns_pids(line, status);
	else if (is_field(line, "CapPrm:"))
		pmp_scan_hex(line, &status->cap_permitted);
	else if (is_field(line, "CapEff:"))
		pmp_scan_hex(line, &status->cap_effective);
	else if (is_field(line, "CapBnd:"))
		pmp_scan_hex(line, &status->cap_bounding);
	else if (is_field(line, "Seccomp:"))
		status->seccomp = pmp_scan_i64(line, &value) && value >= 0 && value <= 2 ?
				  (int)value : -1;
	else if (is_field(line, "voluntary_ctxt_switches:"))
		pmp_scan_u64(line, &status->voluntary);
	else if (is_field(line, "nonvoluntary_ctxt_switches:"))
		pmp_scan_u64(line, &status->involuntary);
}

bool pmp_status_parse(const char *text, size_t length, struct pmp_status_file *status)
{
	struct pmp_scan scan = pmp_scan_text(text, length);
	const char *line;
	size_t line_length;

	*status = (struct pmp_status_file){
		.seccomp = -1, .uid = (uid_t)-1, .euid = (uid_t)-1,
		.gid = (gid_t)-1, .egid = (gid_t)-1, .state = '?',
	};
	while (pmp_scan_line(&scan, &line, &line_length)) {
		struct pmp_scan one = pmp_scan_text(line, line_length);

		parse_status_line(&one, status);
	}
	return status->tgid > 0;
}

bool pmp_syscall_parse(const char *text, size_t length, struct pmp_syscall_file *call)
{
	struct pmp_scan scan = pmp_scan_text(text, length);
	struct pmp_syscall_file found = { 0 };
	int64_t number;

	*call = (struct pmp_syscall_file){ .number = PMP_SYSCALL_UNKNOWN };
	if (is_field(&scan, "running"))
		return true;
	if (!pmp_scan_i64(&scan, &number) || number < -1 || number > INT_MAX)
		return false;
	found.number = number < 0 ? PMP_SYSCALL_NONE : (int)number;
	for (size_t i = 0; number >= 0 && i < 6; i++) {
		pmp_scan_blanks(&scan);
		if (!pmp_scan_hex(&scan, &found.args[i]))
			return false;
	}
	pmp_scan_blanks(&scan);
	if (!pmp_scan_hex(&scan, &found.sp))
		return false;
	pmp_scan_blanks(&scan);
	if (!pmp_scan_hex(&scan, &found.pc))
		return false;
	*call = found;
	return true;
}

bool pmp_schedstat_parse(const char *text, size_t length, uint64_t *cpu, uint64_t *runs)
{
	struct pmp_scan scan = pmp_scan_text(text, length);
	uint64_t values[3];

	for (size_t i = 0; i < 3; i++) {
		pmp_scan_blanks(&scan);
		if (!pmp_scan_u64(&scan, &values[i]))
			return false;
	}
	*cpu = values[0];
	*runs = values[2];
	return true;
}

/* ---- reading ------------------------------------------------------------ */

int pmp_stat_read(int dir, const char *path, struct pmp_stat *stat)
{
	char text[STAT_SIZE];
	ssize_t length = pmp_file_read(dir, path, text, sizeof(text));

	if (length < 0)
		return (int)length;
	return pmp_stat_parse(text, (size_t)length, stat) ? 0 : -EPROTO;
}

int pmp_status_read(int dir, const char *path, struct pmp_status_file *status)
{
	struct pmp_buf text = { 0 };
	int result = pmp_file_slurp(dir, path, STATUS_LIMIT, &text);

	if (result == 0 && !pmp_status_parse(text.data, text.length, status))
		result = -EPROTO;
	pmp_buf_free(&text);
	return result;
}

/* /proc/TID, if tid is still a thread of this process that has not ended. */
static int open_live_thread(const struct pmp_process *process, const char *name)
{
	struct pmp_status_file status;
	char path[PATH_SIZE];
	uint64_t tid;
	int dir;

	if (!pmp_scan_whole(name, 1, INT_MAX, &tid))
		return -ESRCH;
	snprintf(path, sizeof(path), "/proc/%d", (int)tid);
	dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	/* Not task/TID: that has no map_files. Hence the look at its process. */
	if (pmp_status_read(dir, "status", &status) == 0 &&
	    status.tgid == process->pid && !pmp_state_ended(status.state))
		return dir;
	close(dir);
	return -ESRCH;
}

static bool no_descriptor(int sys_errno)
{
	return sys_errno == EMFILE || sys_errno == ENFILE;
}

static int find_live_thread(const struct pmp_process *process)
{
	int task = openat(process->proc, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = task < 0 ? NULL : fdopendir(task);
	int dir = -ESRCH;

	if (!list) {
		dir = no_descriptor(errno) ? -errno : -ESRCH;
		if (task >= 0)
			close(task);
		return dir;
	}
	for (struct dirent *entry; dir < 0 && (entry = readdir(list)); )
		dir = open_live_thread(process, entry->d_name);
	closedir(list);
	return dir;
}

int pmp_process_live(const struct pmp_process *process)
{
	struct pmp_stat stat;
	int dir = pmp_stat_read(process->proc, "stat", &stat);

	if (dir)
		return no_descriptor(-dir) ? dir : -ESRCH;
	if (pmp_state_ended(stat.state))
		return find_live_thread(process);
	dir = fcntl(process->proc, F_DUPFD_CLOEXEC, 0);
	return dir < 0 ? -errno : dir;
}

/* ---- opening ------------------------------------------------------------ */

static int no_such_process(pid_t pid, struct pmp_error *err)
{
	return pmp_error_set(err, PMP_ESRCH, "no such process: %d", (int)pid);
}

/* A /proc of another pid namespace would show us strangers. */
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
	if (no_descriptor(errno))
		return pmp_error_sys(err, PMP_ELIMIT, errno, "cannot open %s", path);
	/* Mounted with hidepid, /proc denies what kill() still sees. */
	if (kill(pid, 0) < 0 && errno == ESRCH)
		return no_such_process(pid, err);
	pmp_error_set(err, PMP_EPERM, "cannot trace %d: /proc hides it from this user",
		      (int)pid);
	pmp_error_hint(err, "run as root (/proc is mounted with hidepid)");
	return PMP_EPERM;
}

/* Who is it: name, owner, and no thread of another process? */
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
	if (process->pidfd < 0 && no_descriptor(errno))
		return pmp_error_sys(err, PMP_ELIMIT, errno, "cannot open %d", (int)process->pid);
	/* Read after pidfd_open(): if the directory still speaks, both are of
	 * the same process. */
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

/* Give a tracer that holds the leader for a moment only the time to go. */
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

/* In the middle of an exec nobody may look, for a moment. */
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

/* ELFCLASS32 or 64 of the executable, 0 when it cannot be told. */
static int elf_class(const struct pmp_process *process)
{
	unsigned char ident[EI_NIDENT];
	int class = 0;
	int live = pmp_process_live(process);
	int exe = live < 0 ? -1 : openat(live, "exe", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (exe >= 0 && pmp_file_pread(exe, ident, sizeof(ident), 0) == sizeof(ident) &&
	    memcmp(ident, ELFMAG, SELFMAG) == 0)
		class = ident[EI_CLASS];
	if (exe >= 0)
		close(exe);
	if (live >= 0)
		close(live);
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
	return pmp_error_set(err, PMP_EUNSUPPORTED, "%d (%s) is a 32-bit program; "
			     "this pmp handles 64-bit %s only", (int)process->pid,
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

int pmp_process_open(pid_t pid, struct pmp_process *process, struct pmp_error *err)
{
	int result;

	*process = (struct pmp_process){ .pid = pid, .pidfd = -1, .proc = -1, .mem = -1 };
	result = open_checked(pid, process, err);
	if (result)
		pmp_process_close(process);
	return result;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void pmp_process_close(struct pmp_process *process)
{
	close_fd(&process->mem);
	close_fd(&process->proc);
	close_fd(&process->pidfd);
}

static bool looks_alive(const struct pmp_process *process)
{
	struct pmp_stat stat;
	int live;

	live = process->proc < 0 ? -EBADF : pmp_stat_read(process->proc, "stat", &stat);
	if (live == 0 && stat.start_time != process->start_time)
		return false;
	if (live == 0)
		live = pmp_process_live(process);
	if (live >= 0)
		close(live);
	/* Without a descriptor left nothing can be said against it. */
	return live >= 0 || no_descriptor(-live);
}

bool pmp_process_alive(const struct pmp_process *process)
{
	const struct timespec pause = { .tv_nsec = ALIVE_PAUSE };
	struct pollfd end = { .fd = process->pidfd, .events = POLLIN };

	/* Readable once all threads have ended; and for a moment when a thread other
	 * than the first executes a program and takes its place (t/0750). */
	if (process->pidfd >= 0 && poll(&end, 1, 0) == 0)
		return true;
	for (int looks = 1; !looks_alive(process); looks++) {
		if (looks == ALIVE_LOOKS)
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

int pmp_process_reopen_mem(struct pmp_process *process)
{
	int mem = open_mem(process);

	if (mem < 0)
		return mem;
	close_fd(&process->mem);
	process->mem = mem;
	return 0;
}
