/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Starts the command to profile. A socket pair leads to the child: one byte lets it run;
 * an errno comes back if exec() fails, and end of file (close on exec) if it succeeds.
 */
#include "source/command.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fault.h"
#include "libpmp-program.h"
#include "run/own-processes.h"
#include "say/message.h"

#define RECORDER_FD 900

/* The first of two descriptors that few programs use; if the limit
 * is lower, of the last two. */
static int choose_descriptor(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur > RECORDER_FD + 2)
		return RECORDER_FD;
	return (int)limit.rlim_cur - 2;
}

/* In the child: both descriptors stay open across exec(), and the environment has their
 * numbers. False: not possible; errno. */
static bool prepare_recorder(struct pmp_recorder *recorder)
{
	const char *others = getenv("LD_PRELOAD");
	const int fd = choose_descriptor();
	char number[16], *preload;
	int memory, file;

	pmp_recorder_descriptors(recorder, &memory, &file);
	pmp_recorder_expect(recorder, getpid());
	snprintf(number, sizeof(number), "%d", fd);
	if (dup2(memory, fd) < 0 || dup2(file, fd + 1) < 0 ||
	    asprintf(&preload, "/proc/self/fd/%d%s%s", fd + 1,
		     others && *others ? ":" : "", others ? others : "") < 0)
		return false;
	return setenv("LD_PRELOAD", preload, 1) == 0 &&
	       setenv("PMP_HEAP", number, 1) == 0;
}

__attribute__((noreturn)) static void run_child(const struct command *command,
						char **argv, int fd,
						struct pmp_recorder *recorder)
{
	ssize_t n;
	char go;
	int number;

	/* Yama permits only ancestors to trace; this also permits children of
	 * pmp, such as the sampler. */
	prctl(PR_SET_PTRACER, (unsigned long)getppid(), 0, 0, 0);
	do {
		n = read(fd, &go, 1);
	} while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(PMP_EXIT_SELF);
	if ((!recorder || prepare_recorder(recorder)) &&
	    (command->terminal.output < 0 || terminal_leave(&command->terminal)))
		execvp(argv[0], argv);
	number = errno;
	n = write(fd, &number, sizeof(number));
	(void)n;
	_exit(PMP_EXIT_NOTFOUND);
}

int command_fork(struct command *command, char **argv, struct pmp_recorder *recorder,
		 struct pmp_error *err)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		return message_fill(err, PMP_ELIMIT, errno, "cannot start %s", argv[0]);
	command->pid = fork();
	if (command->pid == 0) {
		close(fds[0]);
		run_child(command, argv, fds[1], recorder);
	}
	close(fds[1]);
	if (command->pid < 0) {
		command->pid = 0;
		close(fds[0]);
		return message_fill(err, PMP_ELIMIT, errno, "cannot start %s", argv[0]);
	}
	command->fd = fds[0];
	return 0;
}

void command_go(struct command *command)
{
	send(command->fd, "", 1, MSG_NOSIGNAL);
	command->went = true;
}

void command_started(struct command *command)
{
	int number = 0;
	ssize_t n = recv(command->fd, &number, sizeof(number), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n == (ssize_t)sizeof(number))
		command->exec_errno = number;
	else
		command->started = true;
	close(command->fd);
	command->fd = -1;
}

bool command_poll(struct command *command)
{
	if (command->pid > 0 && !command->ended)
		command->ended =
			waitpid(command->pid, &command->status, WNOHANG) == command->pid;
	return command->ended || command->pid == 0;
}

void command_adopt(struct command *command)
{
	command->adopts = prctl(PR_SET_CHILD_SUBREAPER, 1UL, 0, 0, 0) == 0;
}

void command_reap(struct command *command, struct own_processes *own)
{
	const int flags = WEXITED | WNOHANG;
	siginfo_t child;

	while (command->adopts && !PMP_FAULT("no-adopted-reap")) {
		pid_t pid;

		child.si_pid = 0;
		if (waitid(P_ALL, 0, &child, flags | WNOWAIT) < 0)
			return;
		pid = child.si_pid;
		/* Its starter is about to reap it; after that
		 * waitid() shows the next one. */
		if (!pid || own_processes_awaits(own, pid))
			return;
		if (pid == command->pid)
			command_poll(command);
		else if (waitid(P_PID, (id_t)pid, &child, flags) == 0)
			own_processes_remove(own, pid);
	}
}

bool command_signal(const struct command *command, int number)
{
	/* Its pid cannot be reused before it has been reaped. */
	if (command->started && !command->ended)
		kill(command->pid, number);
	return command->started;
}

int command_wait_status(const struct command *command)
{
	if (command->exec_errno == ENOENT)
		return PMP_EXIT_NOTFOUND;
	if (command->exec_errno)
		return PMP_EXIT_NOEXEC;
	if (PMP_FAULT("lose-status"))
		return 0;
	if (WIFSIGNALED(command->status))
		return PMP_EXIT_SIGNAL + WTERMSIG(command->status);
	return WEXITSTATUS(command->status);
}

void command_close(struct command *command)
{
	if (command->fd >= 0)
		close(command->fd);
	command->fd = -1;
	if (command->pid > 0 && !command->went && !command->ended)
		waitpid(command->pid, &command->status, 0);
	command->pid = 0;
}
