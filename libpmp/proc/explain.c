/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why a process cannot be traced. "Operation not permitted" has seven causes; this file
 * finds the one that applies (/proc/PID/status, capabilities, yama, user namespaces) and
 * suggests the next step. Called after a refusal, while no thread is held.
 */
#include "proc/explain.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/scan.h"
#include "libpmp-program.h"

#define YAMA_FILE "/proc/sys/kernel/yama/ptrace_scope"
#define PASSWD_FILE "/etc/passwd"
#define PASSWD_LIMIT (4u << 20)
#define USER_SIZE 64
#define PATH_SIZE 64
#define LINK_SIZE 64
#define CAP_PTRACE (UINT64_C(1) << 19) /* CAP_SYS_PTRACE */
#define CAP_READ \
	(UINT64_C(1) << 1 | UINT64_C(1) << 2)	 /* CAP_DAC_OVERRIDE, _READ_SEARCH */
#define FIRST_USER_NAMESPACE "user:[4026531837]" /* fixed by the kernel */

#define NAME_SIZE (4 * PMP_NAME_SIZE) /* escaped: \xNN for each byte */

/* ---- refused whoever asks ----------------------------------------------- */

/* "bash (pid 17)", or "pid 17" if the name cannot be read. */
static void describe(pid_t pid, char *text, size_t size)
{
	struct pmp_stat stat;
	char path[PATH_SIZE], name[NAME_SIZE];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (pmp_stat_read(AT_FDCWD, path, &stat))
		snprintf(text, size, "pid %d", (int)pid);
	else
		snprintf(text, size, "%s (pid %d)",
			 pmp_escape(stat.name, name, sizeof(name)), (int)pid);
}

static int refuse_tracer(const struct pmp_process *process, const char *name,
			 pid_t tracer, struct pmp_error *err)
{
	pid_t owner = pmp_thread_process(tracer);
	char text[NAME_SIZE + PATH_SIZE];

	describe(owner ? owner : tracer, text, sizeof(text));
	return pmp_error_set(err, PMP_EPERM, "cannot trace %d (%s): already traced by %s",
			     (int)process->pid, name, text);
}

static int refuse_zombie(const struct pmp_process *process, const char *name, pid_t ppid,
			 struct pmp_error *err)
{
	struct pmp_stat parent;
	char path[PATH_SIZE], text[NAME_SIZE];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)ppid);
	if (ppid == 0 || pmp_stat_read(AT_FDCWD, path, &parent))
		return pmp_error_set(err, PMP_ESRCH,
				     "%d (%s) is a zombie: it has ended and "
				     "waits for its parent",
				     (int)process->pid, name);
	return pmp_error_set(err, PMP_ESRCH,
			     "%d (%s) is a zombie: it has ended and waits "
			     "for its parent %d (%s)",
			     (int)process->pid, name, (int)ppid,
			     pmp_escape(parent.name, text, sizeof(text)));
}

/* Have all threads exited, or only this one? */
static bool is_zombie(const struct pmp_process *process)
{
	int live = pmp_process_live(process);

	if (live >= 0)
		close(live);
	return live == -ESRCH;
}

int pmp_process_refuse(const struct pmp_process *process, pid_t tid,
		       struct pmp_error *err)
{
	struct pmp_status_file status;
	struct pmp_stat stat;
	char name[NAME_SIZE];

	pmp_escape(process->name, name, sizeof(name));
	if (pmp_task_stat(process, tid, &stat))
		return pmp_error_set(err, PMP_ESRCH, "%d (%s) has ended", (int)tid, name);
	if (stat.flags & PMP_KERNEL_THREAD)
		return pmp_error_set(err, PMP_ESRCH,
				     "%d (%s) is a kernel thread: "
				     "it has no user stack",
				     (int)tid, name);
	if (pmp_state_ended(stat.state) && is_zombie(process))
		return refuse_zombie(process, name, stat.ppid, err);
	if (pmp_task_status(process, tid, &status) == 0 && status.tracer &&
	    status.tracer != getpid())
		return refuse_tracer(process, name, status.tracer, err);
	return 0;
}

/* ---- refused to us ------------------------------------------------------ */

static void hint_stranger(const struct pmp_denial *denial, struct pmp_error *err)
{
	/* Suggest its owner only if no other rule would stop that user. */
	bool owner_may = denial->uid == denial->euid && denial->uid != 0 &&
			 !denial->hidden && denial->yama <= 0;

	if (owner_may)
		pmp_error_hint(err, "run as root or as %s", denial->user);
	else
		pmp_error_hint(err, "run as root");
}

static void hint_yama(const struct pmp_denial *denial, const char *name,
		      struct pmp_error *err)
{
	if (denial->yama >= 3)
		pmp_error_hint(err, "ptrace_scope=3 forbids tracing until reboot");
	else if (denial->yama == 2)
		pmp_error_hint(err, "kernel.yama.ptrace_scope=2 lets only administrators "
				    "trace: run as root");
	else
		pmp_error_hint(err,
			       "kernel.yama.ptrace_scope=1 lets only parents trace: "
			       "run as root, or start it with `pmp -- %s`",
			       name);
}

/* Without CAP_SYS_PTRACE: the rules for ordinary users, in the kernel's order. */
static void hint_user(const struct pmp_denial *denial, const char *name,
		      struct pmp_error *err)
{
	int pid = (int)denial->pid;

	if (denial->own_uid != denial->uid)
		hint_stranger(denial, err);
	else if (denial->hidden || denial->uid != denial->euid)
		pmp_error_hint(err, "%d is not dumpable (setuid or prctl): run as root",
			       pid);
	else if (denial->other_group)
		pmp_error_hint(err, "%d runs in another group: run as root", pid);
	else if (denial->other_userns)
		pmp_error_hint(err, "%d is in another user namespace: run as root", pid);
	else if (denial->more_capable)
		pmp_error_hint(err,
			       "%d has capabilities that this user lacks: run as root",
			       pid);
	else if (denial->yama > 0)
		hint_yama(denial, name, err);
	else
		pmp_error_hint(err, "run as root");
}

/* We have CAP_SYS_PTRACE but were refused anyway. */
static void hint_privileged(const struct pmp_denial *denial, struct pmp_error *err)
{
	if (denial->other_userns)
		pmp_error_hint(
			err, "%d is outside of this user namespace: run pmp on the host",
			(int)denial->pid);
	else if (denial->own_seccomp)
		pmp_error_hint(err,
			       "pmp runs under a seccomp filter that may forbid ptrace: "
			       "run it outside of this container");
	else
		pmp_error_hint(err,
			       "a security module (SELinux, AppArmor) may forbid it: "
			       "see the kernel's log");
}

/* /proc/PID/mem has mode 0600: CAP_SYS_PTRACE does not help to open it if it belongs to
 * another user, or to root because the process is not dumpable. */
static bool is_unreadable(const struct pmp_denial *denial)
{
	uid_t owner = denial->hidden ? 0 : denial->euid;

	return denial->own_ptrace && !denial->own_read && denial->own_uid != owner;
}

int pmp_denial_explain(const struct pmp_denial *denial, struct pmp_error *err)
{
	char name[NAME_SIZE], user[4 * USER_SIZE];

	pmp_escape(denial->name, name, sizeof(name));
	pmp_escape(denial->user, user, sizeof(user));
	if (denial->own_uid == 0 && !denial->own_ptrace && denial->yama < 3) {
		pmp_error_set(
			err, PMP_EPERM, "cannot trace %d: this %s lacks CAP_SYS_PTRACE",
			(int)denial->pid, denial->bounded ? "container" : "process");
		if (denial->bounded)
			pmp_error_hint(err,
				       "docker run --cap-add=SYS_PTRACE ...; Kubernetes: "
				       "securityContext.capabilities.add: [SYS_PTRACE]");
		else
			pmp_error_hint(err, "run pmp with all capabilities of root");
		return PMP_EPERM;
	}
	if (is_unreadable(denial) && denial->yama < 3) {
		pmp_error_set(err, PMP_EPERM,
			      "cannot trace %d: this process lacks CAP_DAC_READ_SEARCH",
			      (int)denial->pid);
		pmp_error_hint(err,
			       "CAP_SYS_PTRACE alone does not open the memory of other "
			       "users: give pmp both, or run it as root");
		return PMP_EPERM;
	}
	pmp_error_set(err, PMP_EPERM, "cannot trace %d (%s, user %s): permission denied",
		      (int)denial->pid, name, user);
	if (denial->yama >= 3)
		hint_yama(denial, name, err);
	else if (denial->own_ptrace)
		hint_privileged(denial, err);
	else
		hint_user(denial, name, err);
	return PMP_EPERM;
}

/* ---- inspecting --------------------------------------------------------- */

static int read_yama(void)
{
	char text[16];
	uint64_t scope;
	ssize_t length = pmp_file_read(AT_FDCWD, YAMA_FILE, text, sizeof(text));

	if (length > 0 && text[length - 1] == '\n')
		text[length - 1] = '\0';
	return length > 0 && pmp_scan_whole(text, 0, 3, &scope) ? (int)scope : -1;
}

/* Is this line "name:password:uid:..." that of uid? *length: of the name. */
static bool passwd_line(const char *line, size_t line_length, uid_t uid, size_t *length)
{
	struct pmp_scan scan = pmp_scan_text(line, line_length);
	const char *colon = memchr(line, ':', line_length);
	uint64_t number;

	if (!colon)
		return false;
	*length = (size_t)(colon - line);
	colon = memchr(colon + 1, ':', line_length - *length - 1);
	if (!colon)
		return false;
	scan.at = colon + 1;
	return pmp_scan_u64(&scan, &number) && pmp_scan_char(&scan, ':') && number == uid;
}

/* Parsed here, because getpwuid() would load modules into a static program. */
static void user_name(uid_t uid, char *user, size_t size)
{
	struct pmp_buf passwd = { 0 };
	struct pmp_scan scan;
	const char *line;
	size_t line_length, length;

	snprintf(user, size, "%u", (unsigned)uid);
	if (pmp_file_slurp(AT_FDCWD, PASSWD_FILE, PASSWD_LIMIT, &passwd))
		goto out;
	scan = pmp_scan_text(passwd.data, passwd.length);
	while (pmp_scan_line(&scan, &line, &line_length)) {
		if (passwd_line(line, line_length, uid, &length)) {
			snprintf(user, size, "%.*s", (int)length, line);
			break;
		}
	}
out:
	pmp_buf_free(&passwd);
}

/* The user namespace: "user:[4026531837]", or "" if it is hidden. */
static void user_namespace(int dir, const char *path, char link[LINK_SIZE])
{
	ssize_t length = readlinkat(dir, path, link, LINK_SIZE - 1);

	link[length < 0 ? 0 : length] = '\0';
}

static bool in_other_userns(const struct pmp_process *process)
{
	char ours[LINK_SIZE], theirs[LINK_SIZE];

	user_namespace(AT_FDCWD, "/proc/self/ns/user", ours);
	user_namespace(process->proc, "ns/user", theirs);
	if (theirs[0])
		return strcmp(ours, theirs) != 0;
	/* Not even its name is shown. In the initial namespace that has other reasons. */
	return strcmp(ours, FIRST_USER_NAMESPACE) != 0;
}

/* Is there a filter from outside? A filter that the parent lacks was installed by this
 * process itself, and lets it trace. */
static bool is_filtered(const struct pmp_status_file *own)
{
	struct pmp_status_file parent;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)getppid());
	return own->seccomp == 2 && pmp_status_read(AT_FDCWD, path, &parent) == 0 &&
	       parent.seccomp == 2;
}

static int explain_denial(const struct pmp_process *process, struct pmp_error *err)
{
	struct pmp_status_file own, other;
	struct stat owner;
	char user[USER_SIZE];
	struct pmp_denial denial = {
		.pid = process->pid,
		.name = process->name,
		.user = user,
		.own_uid = geteuid(),
		.yama = read_yama(),
	};

	/* /proc/PID/stat belongs to root if the process is not dumpable. */
	if (pmp_status_read(AT_FDCWD, "/proc/self/status", &own) ||
	    pmp_status_read(process->proc, "status", &other) ||
	    fstatat(process->proc, "stat", &owner, 0))
		return pmp_error_set(err, PMP_ESRCH, "%d has ended", (int)process->pid);
	user_name(other.euid, user, sizeof(user));
	denial.uid = other.uid;
	denial.euid = other.euid;
	denial.hidden = owner.st_uid != other.euid;
	denial.other_group = other.gid != getegid() || other.egid != getegid();
	denial.more_capable = (other.cap_permitted & ~own.cap_permitted) != 0;
	denial.own_ptrace = (own.cap_effective & CAP_PTRACE) != 0;
	denial.own_read = (own.cap_effective & CAP_READ) != 0;
	denial.bounded = !(own.cap_bounding & CAP_PTRACE);
	denial.own_seccomp = is_filtered(&own);
	denial.other_userns = in_other_userns(process);
	return pmp_denial_explain(&denial, err);
}

static bool thread_ended(const struct pmp_process *process, pid_t tid)
{
	struct pmp_stat stat;

	return pmp_task_stat(process, tid, &stat) || pmp_state_ended(stat.state);
}

int pmp_process_explain(const struct pmp_process *process, pid_t tid, int sys_errno,
			struct pmp_error *err)
{
	char name[NAME_SIZE];
	int result = pmp_process_refuse(process, tid, err);
	int code = pmp_no_descriptor(sys_errno) ? PMP_ELIMIT
		   : sys_errno == ENOSYS	? PMP_EUNSUPPORTED
						: PMP_EIO;

	pmp_escape(process->name, name, sizeof(name));
	if (result == 0 && (sys_errno == ESRCH || sys_errno == ENOENT))
		result = pmp_error_set(err, PMP_ESRCH, "%d (%s) has ended",
				       (int)process->pid, name);
	else if (result == 0 && sys_errno == EPERM && thread_ended(process, tid))
		result = pmp_error_set(err, PMP_ESRCH, "thread %d of %d (%s) has ended",
				       (int)tid, (int)process->pid, name);
	else if (result == 0 && (sys_errno == EPERM || sys_errno == EACCES))
		result = explain_denial(process, err);
	else if (result == 0 && sys_errno == ENOMEM)
		result = pmp_error_nomem(err, "tracing");
	else if (result == 0)
		result = pmp_error_sys(err, code, sys_errno, "cannot trace %d (%s)",
				       (int)process->pid, name);
	if (err)
		err->sys_errno = sys_errno;
	return result;
}
