/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parent PROGRAM ARG...: what a service manager is to the program: it waits for
 * notices of its child. The child itself says that it is ready.
 *
 * Verdict: the child was never reported as stopped or continued; "reap MS" is how
 * long after the child's death that was told.
 */
#include "target.h"

#include <sys/wait.h>

static atomic_int stopped, resumed, trapped, died;

static void on_child(int signal, siginfo_t *info, void *context)
{
	switch (info->si_code) {
	case CLD_STOPPED: stopped++; break;
	case CLD_CONTINUED: resumed++; break;
	case CLD_TRAPPED: trapped++; break;
	default: died = 1;
	}
	(void)signal;
	(void)context;
}

static pid_t start(char **argv)
{
	pid_t parent = getpid(), child = fork();
	sigset_t set;

	if (child != 0)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	target_end_signals(&set);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	execv(argv[0], argv);
	target_die(argv[0]);
	return -1;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_sigaction = on_child,
				    .sa_flags = SA_SIGINFO | SA_RESTART };
	uint64_t killed;
	pid_t child;
	int status;

	if (argc < 2)
		return 2;
	target_begin();
	sigaction(SIGCHLD, &action, NULL);
	child = start(argv + 1);
	if (child < 0)
		target_die("fork");
	target_wait_end();
	if (waitpid(child, &status, WUNTRACED | WCONTINUED | WNOHANG) != 0)
		target_verdict("the child has a status to tell: %#x", status);
	killed = target_now();
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	printf("reap %llu\n", (unsigned long long)(target_now() - killed) / 1000000);
	if (stopped || resumed || trapped)
		target_verdict("the child was stopped %d, continued %d, trapped %d times",
			       (int)stopped, (int)resumed, (int)trapped);
	target_verdict(NULL);
}
