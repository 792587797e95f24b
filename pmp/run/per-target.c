/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * If the output name has %p or %n, several targets may need several files. Each file is
 * then a run in a process of its own, with its own sampler and its own options from the
 * configuration: one that fails or hangs does not hold up the others.
 */
#include "run/per-target.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "confine/rights.h"
#include "say/message.h"
#include "options/filename.h"

#define NAME_SIZE 64

static const int passed_on[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1 };

/* The name that the process was found by, or its current one; empty if it is gone. */
static void read_name(const struct found_processes *processes, pid_t pid,
		      char name[NAME_SIZE])
{
	const struct found_process *found = found_process(processes, pid);
	char path[64];
	ssize_t n = -1;
	int fd;

	if (found) {
		snprintf(name, NAME_SIZE, "%s", found->name);
		return;
	}
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, name, NAME_SIZE - 1);
		close(fd);
	}
	if (n > 0 && name[n - 1] == '\n')
		n--;
	name[n > 0 ? n : 0] = '\0';
}

size_t per_target_group(const struct options *options,
			const struct found_processes *found, struct id_list *pids,
			size_t *groups)
{
	const char *pattern = options->output ? options->output : "";
	const bool by_id = filename_has(pattern, 'p');
	char first[NAME_SIZE], other[NAME_SIZE];
	size_t count = 0, next = 0;

	memset(groups, 0, pids->count * sizeof(*groups));
	if (!by_id && !filename_has(pattern, 'n'))
		return 1;
	while (next < pids->count) {
		read_name(found, pids->ids[next], first);
		groups[next++] = count;
		for (size_t i = next; i < pids->count && !by_id; i++) {
			pid_t id = pids->ids[i];

			read_name(found, id, other);
			if (strcmp(first, other) != 0)
				continue;
			pids->ids[i] = pids->ids[next];
			pids->ids[next] = id;
			groups[next++] = count;
		}
		count++;
	}
	return count;
}

static void block(sigset_t *old)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	for (size_t i = 0; i < sizeof(passed_on) / sizeof(*passed_on); i++)
		sigaddset(&set, passed_on[i]);
	/* If it were ignored, the exit statuses of children would be lost. */
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, &set, old);
}

/* Sets children that have ended to 0; returns how many are left. */
static size_t reap(pid_t *children, size_t count, int *status)
{
	size_t left = 0;

	for (size_t i = 0; i < count; i++) {
		int ended = 0, value;

		if (children[i] && waitpid(children[i], &ended, WNOHANG) == 0) {
			left++;
			continue;
		}
		value = WIFSIGNALED(ended) ? PMP_EXIT_SIGNAL + WTERMSIG(ended)
					   : WEXITSTATUS(ended);
		if (children[i] && value > *status)
			*status = value;
		children[i] = 0;
	}
	return left;
}

static void pass_on(const pid_t *children, size_t count, int number)
{
	for (size_t i = 0; i < count; i++) {
		if (children[i])
			kill(children[i], number);
	}
}

static void wait_for_all(pid_t *children, size_t count, int *status)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	for (size_t i = 0; i < sizeof(passed_on) / sizeof(*passed_on); i++)
		sigaddset(&set, passed_on[i]);
	while (reap(children, count, status) > 0) {
		siginfo_t info;
		int number = sigwaitinfo(&set, &info);

		/* A signal from the terminal has reached the children as well. */
		if (number > 0 && number != SIGCHLD && info.si_code != SI_KERNEL)
			pass_on(children, count, number);
	}
}

int per_target_run(size_t count, int *status)
{
	pid_t *children = calloc(count, sizeof(*children)), self = getpid();
	sigset_t old;

	*status = 0;
	if (!children) {
		message_print(NULL, "not enough memory for several files");
		*status = PMP_EXIT_FAILED;
		return -1;
	}
	block(&old);
	for (size_t i = 0; i < count; i++) {
		children[i] = fork();
		if (children[i] == 0) {
			free(children);
			prctl(PR_SET_PDEATHSIG, SIGTERM);
			sigprocmask(SIG_SETMASK, &old, NULL);
			if (getppid() != self)
				_exit(PMP_EXIT_FAILED);
			return (int)i;
		}
		if (children[i] < 0) {
			children[i] = 0;
			message_print(NULL, "cannot start another process: %s",
				      strerror(errno));
			*status = PMP_EXIT_FAILED;
		}
	}
	/* From now on it only waits, and signals processes of its own user. */
	confine_keep(0, 0);
	wait_for_all(children, count, status);
	sigprocmask(SIG_SETMASK, &old, NULL);
	free(children);
	return -1;
}
