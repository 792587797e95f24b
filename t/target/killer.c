/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * killer first|second all|hold K COMMAND ARG...: run a command of two processes and
 * SIGKILL one of them, the first or the one that it forks, as it enters its K-th
 * system call; with "hold" only those count that pmp makes when it holds a
 * thread. Ends when all processes of the command have, with a last line of output
 * "killed", or "calls N" when there were no more than N.
 *
 * Status: the command's own, 137 when it was killed, 2 for a wrong command line.
 */
#include "target.h"

#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#define TRACE_OPTIONS \
	(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL | \
	 PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE)

struct process {
	pid_t pid;
	bool known;  /* its first stop has been seen */
	bool inside; /* of a system call */
	bool killed;
	unsigned long calls;
};

static struct process processes[2]; /* in the order of their starts */

static bool counts(pid_t pid, bool hold_only)
{
	struct __ptrace_syscall_info info;

	if (!hold_only)
		return true;
	if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof info, &info) <= 0)
		return false;
	switch (info.entry.nr) {
	case SYS_ptrace:
	case SYS_wait4:
	case SYS_waitid:
	case SYS_pread64:
	case SYS_process_vm_readv:
	case SYS_rt_sigtimedwait: return true;
	}
	return false;
}

static struct process *find(pid_t pid)
{
	size_t i;

	for (i = 0; i < 2; i++) {
		if (processes[i].pid == pid || processes[i].pid == 0) {
			processes[i].pid = pid;
			return &processes[i];
		}
	}
	return NULL;
}

/* The signal to go on with. */
static int handle_stop(struct process *process, int status, bool hold_only)
{
	int signal = WSTOPSIG(status);

	if (signal == (SIGTRAP | 0x80)) {
		process->inside = !process->inside;
		if (process->inside && counts(process->pid, hold_only))
			process->calls++;
		return 0;
	}
	if (status >> 16)
		return 0;
	if (!process->known && signal == SIGSTOP) {
		process->known = true;
		return 0;
	}
	return signal;
}

static int follow(size_t victim, bool hold_only, unsigned long kill_at)
{
	int status, result = 0;
	struct process *process;
	pid_t pid;
	int signal;

	while ((pid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR) {
		process = find(pid);
		if (!WIFSTOPPED(status)) {
			if (process == &processes[0])
				result = WIFEXITED(status) ? WEXITSTATUS(status)
							   : 128 + WTERMSIG(status);
			continue;
		}
		signal = process ? handle_stop(process, status, hold_only) : 0;
		if (process == &processes[victim] && kill_at && process->calls == kill_at)
			processes[victim].killed = kill(pid, SIGKILL) == 0;
		ptrace(PTRACE_SYSCALL, pid, NULL, (void *)(intptr_t)signal);
	}
	return result;
}

int main(int argc, char **argv)
{
	unsigned long kill_at;
	size_t victim;
	int status;
	pid_t pid;

	if (argc < 5)
		return 2;
	alarm(TARGET_LIFETIME);
	victim = strcmp(argv[1], "second") == 0;
	kill_at = strtoul(argv[3], NULL, 10);
	pid = fork();
	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		execv(argv[4], argv + 4);
		target_die(argv[4]);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)TRACE_OPTIONS))
		target_die("cannot trace the command");
	processes[0] = (struct process){ .pid = pid, .known = true };
	ptrace(PTRACE_SYSCALL, pid, NULL, NULL);
	status = follow(victim, strcmp(argv[2], "hold") == 0, kill_at);
	if (processes[victim].killed)
		printf("killed\n");
	else
		printf("calls %lu\n", processes[victim].calls);
	return status;
}
