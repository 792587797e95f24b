/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * deadlocks PROGRAM KIND TIMES: are deadlocks found, at the first capture of a process?
 *
 * Starts PROGRAM KIND (target/locks.c) that often. Each prints the threads of its
 * deadlock and "ready PID", is captured once, and killed. Prints how often just these
 * threads were marked; the status is 1 if they were not each time.
 */
#include "libpmp.h"
#include "sample.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS_MAX 64
#define SHOWN 3

struct deadlock {
	pid_t tids[THREADS_MAX];
	size_t count;
};

static pid_t start(const char *program, const char *kind, FILE **said)
{
	int ends[2];
	pid_t pid;

	if (pipe(ends) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		execl(program, program, kind, (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	*said = fdopen(ends[0], "r");
	return pid;
}

/* Numbers with commas between them. */
static void read_tids(char *text, struct deadlock *truth)
{
	for (char *at = text; truth->count < THREADS_MAX; at++) {
		truth->tids[truth->count++] = (pid_t)strtol(at, &at, 10);
		if (*at != ',')
			return;
	}
}

/* What the program says until it is ready; false: it has no deadlock. */
static bool read_truth(FILE *said, struct deadlock *truth)
{
	char line[512];

	truth->count = 0;
	while (fgets(line, sizeof(line), said)) {
		char *at = strstr(line, "deadlock=");

		if (strncmp(line, "ready ", 6) == 0)
			return truth->count > 0;
		if (at && strncmp(line, "truth ", 6) == 0)
			read_tids(at + strlen("deadlock="), truth);
	}
	return false;
}

static bool is_in(const struct deadlock *truth, pid_t tid)
{
	for (size_t i = 0; i < truth->count; i++)
		if (truth->tids[i] == tid)
			return true;
	return false;
}

/* Just these threads? */
static bool compare(const struct pmp_sample *sample, const struct deadlock *truth,
		    bool show)
{
	size_t right = 0, wrong = 0;

	for (size_t i = 0; i < sample->thread_count; i++) {
		const struct pmp_thread *thread = &sample->threads[i];
		bool marked = thread->wait.flags & PMP_WAIT_DEADLOCK;

		right += marked && is_in(truth, thread->tid);
		wrong += marked && !is_in(truth, thread->tid);
		if (show)
			printf("# %d %s: wait %u, flags %#x, holder %d (%u), obtained %d\n",
			       (int)thread->tid, thread->name, thread->wait.kind,
			       thread->wait.flags, (int)thread->wait.holder,
			       thread->wait.holder_is, (int)thread->obtained);
	}
	return right == truth->count && !wrong;
}

static bool is_found(pid_t pid, const struct deadlock *truth, bool show)
{
	const struct pmp_target_options options = { .size = sizeof(options) };
	struct pmp_target *target;
	struct pmp_sample *sample;
	struct pmp_error err;
	bool found;

	if (pmp_target_open(pid, &options, &target, &err) < 0) {
		printf("# %s\n", err.message);
		return false;
	}
	found = pmp_target_capture(target, &sample, &err) == 0;
	if (found) {
		found = compare(sample, truth, false);
		if (!found && show)
			compare(sample, truth, true);
		pmp_sample_free(sample);
	} else {
		printf("# %s\n", err.message);
	}
	pmp_target_close(target);
	return found;
}

int main(int argc, char **argv)
{
	long times = argc == 4 ? atol(argv[3]) : 0, found = 0;

	if (times <= 0)
		return 2;
	for (long i = 0; i < times; i++) {
		struct deadlock truth;
		FILE *said = NULL;
		pid_t pid = start(argv[1], argv[2], &said);

		if (pid < 0 || !said)
			return 2;
		if (read_truth(said, &truth))
			found += is_found(pid, &truth, i - found < SHOWN);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		fclose(said);
	}
	printf("%s: found %ld of %ld\n", argv[2], found, times);
	return found != times;
}
