/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What processes of a command leave is reaped; what pmp has started for itself is not. */
#include "lib/tap.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/own-processes.h"
#include "say/message.h"
#include "source/command.h"

/* Nothing is executed here. */
bool terminal_leave(const struct command_terminal *terminal)
{
	(void)terminal;
	return false;
}

int message_fill(struct pmp_error *err, int code, int number, const char *format, ...)
{
	(void)err;
	(void)number;
	(void)format;
	return code;
}

/* A child that has ended and has not been waited for. */
static pid_t ended_child(void)
{
	const pid_t pid = fork();
	siginfo_t info;

	if (pid == 0)
		_exit(0);
	waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
	return pid;
}

static pid_t own_child(struct own_processes *own)
{
	pid_t pid;

	own_processes_begin(own);
	pid = ended_child();
	own_processes_add(own, pid);
	return pid;
}

static bool is_reaped(pid_t pid)
{
	siginfo_t info;

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT | WNOHANG) < 0 &&
	       errno == ECHILD;
}

int main(void)
{
	struct own_processes *own = own_processes_new();
	struct command command = { .adopts = true, .started = true };
	const pid_t left = ended_child(), ours = own_child(own);
	pid_t later;

	command.pid = ended_child();
	command_reap(&command, own);
	ok(is_reaped(left), "what was left behind is reaped");
	ok(!is_reaped(ours), "what pmp has started is not");
	is_int(waitpid(ours, NULL, 0), ours, "it is left to whoever has started it");
	own_processes_remove(own, ours);
	command_reap(&command, own);
	ok(is_reaped(command.pid) && command.ended, "then the command is");
	later = own_child(own);
	own_processes_abandon(own, later);
	ok(own_processes_has(own, later), "one that nobody waits for is still pmp's own");
	command_reap(&command, own);
	ok(is_reaped(later) && !own_processes_has(own, later), "until it is reaped here");
	own_processes_free(own);
	return done_testing();
}
