/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See program.h. Such programs use libraries, for cryptography or compression, which need
 * new system calls over the years: so the filter lists the forbidden ones.
 */
#include "confine/program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "confine/calls.h"
#include "confine/landlock.h"
#include "confine/rights.h"

#define DESCRIPTORS 256
#define PATH_DEFAULT "/usr/bin:/bin"

#define END_IF(name, mask) \
	{ \
		SYS_##name, CONFINE_END, 1, \
		{ \
			{ \
				CONFINE_LOW(0), mask, mask \
			} \
		} \
	}

#define REFUSE(name) \
	{ \
		.number = SYS_##name, .action = CONFINE_UNKNOWN \
	}

/* The first OF_NETWORK ones only apply to programs without network. */
static const struct confine_call calls[] = {
	END(connect),
	END(bind),
	END(listen),
	REFUSE(socket),
	END(ptrace),
	END(process_vm_readv),
	END(process_vm_writev),
	END(pidfd_getfd),
	END(mount),
	END(umount2),
	END(pivot_root),
	END(chroot),
	END(unshare),
	END(setns),
	END_IF(clone, CLONE_NEWUSER),
	/* Its flags are in memory, where a filter cannot see them; clone() does instead. */
	REFUSE(clone3),
	END(bpf),
	END(perf_event_open),
	END(userfaultfd),
	END(add_key),
	END(request_key),
	END(keyctl),
	END(init_module),
	END(finit_module),
	END(kexec_load),
	END(open_by_handle_at),
	/* It makes calls that a filter does not see. */
	REFUSE(io_uring_setup),
};

#define OF_NETWORK 4 /* of these */

/* Without root the program runs as pmp's user: protect that user's other processes. */
static void refuse_others(void)
{
	const uint32_t self = (uint32_t)getpid();
	const struct confine_call others[] = {
		REFUSE(kill),
		REFUSE(tkill),
		ALLOW_IF(tgkill, CONFINE_LOW(0), ~0U, self), /* abort() */
		REFUSE(tgkill),
		REFUSE(rt_sigqueueinfo),
		REFUSE(rt_tgsigqueueinfo),
		REFUSE(pidfd_send_signal),
		ALLOW_IF(prlimit64, CONFINE_LOW(0), ~0U, 0),
		REFUSE(prlimit64),
	};

	confine_calls(others, sizeof(others) / sizeof(*others), CONFINE_ALLOW);
}

/* ---- finding a program -------------------------------------------------------------- */

static bool is_program(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
	       access(path, X_OK) == 0;
}

void confine_find_program(const char *name, char *path, size_t size)
{
	const char *folders = getenv("PATH");
	size_t length;

	for (folders = folders ? folders : PATH_DEFAULT; *folders;
	     folders += length + (folders[length] == ':')) {
		length = strcspn(folders, ":");
		if ((size_t)snprintf(path, size, "%.*s/%s", (int)length, folders, name) <
			    size &&
		    *path == '/' && is_program(path))
			return;
	}
	*path = '\0';
}

/* A program outside the system directories has its libraries beside it. */
static void read_beside(int rules, const char *program)
{
	static const char *const folders[] = { "", "/../lib", "/../lib64" };
	const int length = (int)(strrchr(program, '/') - program);
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		if ((size_t)snprintf(path, sizeof(path), "%.*s%s", length, program,
				     folders[i]) < sizeof(path))
			confine_rules_read(rules, path);
}

void confine_read_programs(int rules, const char *program)
{
	static const char *const readable[] = {
		"/usr",	  "/bin", "/sbin",	"/lib",	      "/lib32",
		"/lib64", "/opt", "/nix/store", "/gnu/store", "/etc/ld.so.cache",
	};
	char *linked = realpath(program, NULL);
	int null;

	for (size_t i = 0; i < sizeof(readable) / sizeof(*readable); i++)
		confine_rules_read(rules, readable[i]);
	if (*program)
		read_beside(rules, program);
	if (linked)
		read_beside(rules, linked);
	free(linked);
	null = open("/dev/null", O_PATH | O_CLOEXEC);
	confine_rules_write(rules, null);
	close(null);
}

/* ---- starting a program: in the child ------------------------------------------------- */

static void leave_signals(void)
{
	sigset_t none;

	setsid();
	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* 0, or an errno if it would keep root's rights. */
static int confine(const struct confine_program *program)
{
	const size_t first = program->network ? OF_NETWORK : 0;
	const bool becomes = program->user != geteuid();

	if (!confine_rights(program->user) && (becomes || geteuid() == 0))
		return errno ? errno : EPERM;
	confine_limit(RLIMIT_CORE, 0);
	confine_limit(RLIMIT_AS, program->memory);
	confine_limit(RLIMIT_FSIZE, program->file_size);
	confine_limit(RLIMIT_NOFILE, DESCRIPTORS);
	if (program->work_time)
		confine_limit(RLIMIT_CPU, program->work_time);
	if (becomes && program->processes)
		confine_limit(RLIMIT_NPROC, program->processes);
	if (program->rules >= 0)
		confine_rules_enter(program->rules);
	refuse_others();
	confine_calls(calls + first, sizeof(calls) / sizeof(*calls) - first,
		      CONFINE_ALLOW);
	return 0;
}

static void set_descriptor(int fd, int number)
{
	if (fd < 0)
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	dup2(fd, number);
}

/* The parent may have threads: so use nothing that needs their locks. Returns the errno if
 * the program cannot be executed. */
static int become(const struct confine_start *start, pid_t parent)
{
	int number = 0;

	leave_signals();
	set_descriptor(start->input, STDIN_FILENO);
	set_descriptor(start->output, STDOUT_FILENO);
	set_descriptor(start->errors, STDERR_FILENO);
	close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
	if (start->folder >= 0 && fchdir(start->folder) < 0)
		return errno;
	if (start->program)
		number = confine(start->program);
	if (number)
		return number;
	/* After the change of user, which resets it. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		return ESRCH;
	execve(start->path, start->argv, start->environment);
	return errno;
}

/* ---- in pmp ----------------------------------------------------------------------------- */

unsigned confine_program_missing(const struct confine_program *program)
{
	const unsigned open =
		confine_rules_lack() & ~(program->network ? CONFINE_NETWORK : 0U);

	return (confine_has_filters() ? 0U : CONFINE_CALLS | open) |
	       (program->rules < 0 ? CONFINE_FILES : 0U) |
	       (program->user == 0 ? CONFINE_USER : 0U);
}

int confine_start(const struct confine_start *start, pid_t *pid)
{
	const pid_t parent = getpid();
	int fds[2], number = 0;
	ssize_t n;

	/* An errno comes through the pipe, or end of file if the program runs. */
	if (pipe2(fds, O_CLOEXEC) < 0)
		return errno;
	*pid = fork();
	if (*pid == 0) {
		number = become(start, parent);
		_exit(write(fds[1], &number, sizeof(number)) < 0);
	}
	if (*pid < 0)
		number = errno;
	close(fds[1]);
	do
		n = number ? 0 : read(fds[0], &number, sizeof(number));
	while (n < 0 && errno == EINTR);
	close(fds[0]);
	while (n > 0 && waitpid(*pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	return number;
}
