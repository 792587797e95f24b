/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See unpacker.h. */
#include "source/unpacker.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fault.h"
#include "confine/landlock.h"
#include "confine/program.h"

#define NOBODY 65534
#define MEMORY ((uint64_t)8 << 30) /* xz has a block of each of its threads in it */

extern char **environ;

struct unpacker {
	const char *program;
	char path[PATH_MAX];
	int input, output;
	bool with_rights;
	struct confine_program limits;
};

/* In a process that had threads: only what needs none of their locks. Returns the errno of
 * why there is no program. */
static int become(const struct unpacker *unpacker, pid_t front)
{
	char *argv[] = { (char *)unpacker->program, (char *)"-dc", NULL };
	const int null = open("/dev/null", O_WRONLY);
	int number;

	confine_leave_signals();
	dup2(unpacker->input, STDIN_FILENO);
	dup2(unpacker->output, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
	number = unpacker->with_rights ? 0 : confine_program(&unpacker->limits);
	if (number)
		return number;
	/* A change of rights forgets it. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != front)
		return ESRCH;
	execve(unpacker->path, argv, environ);
	return errno;
}

/* 0 or an errno. */
static int start(const struct unpacker *unpacker, pid_t *pid)
{
	const pid_t front = getpid();
	int fds[2], number = 0;
	ssize_t n;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return errno;
	*pid = fork();
	if (*pid == 0) {
		number = become(unpacker, front);
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

int unpacker_start(const char *program, int input, bool with_rights, int *output,
		   pid_t *pid)
{
	struct unpacker unpacker = {
		.program = program,
		.input = input,
		.with_rights = with_rights || PMP_FAULT("unpacker-rights"),
		.limits = { .user = NOBODY, .memory = MEMORY },
	};
	int fds[2], number;

	confine_find_program(program, unpacker.path, sizeof(unpacker.path));
	if (!*unpacker.path)
		return ENOENT;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return errno;
	unpacker.output = fds[1];
	unpacker.limits.rules = confine_rules_new(false);
	confine_read_programs(unpacker.limits.rules, unpacker.path);
	number = start(&unpacker, pid);
	if (unpacker.limits.rules >= 0)
		close(unpacker.limits.rules);
	close(fds[1]);
	*output = fds[0];
	if (number)
		close(fds[0]);
	return number;
}
