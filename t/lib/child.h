/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Children for tests in C: a process that prepares itself and then waits to be
 * inspected. It dies with the test in any case.
 */
#ifndef PMP_T_CHILD_H
#define PMP_T_CHILD_H

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHILD_UNUSED __attribute__((unused))

struct child {
	pid_t pid;
	int orders; /* a byte written here lets it continue: child_order() */
	int answers;
};

/* In the child: wait for the next order; exit if the test has ended. */
static inline void child_wait(const struct child *self)
{
	char order;

	if (read(self->orders, &order, 1) != 1)
		_exit(0);
}

/* In the child: report that what was ordered is done, or has failed. */
static inline void child_answer(const struct child *self, bool good)
{
	if (write(self->answers, good ? "y" : "n", 1) != 1)
		_exit(1);
}

/* In the test: wait for the next answer. A successful exec() counts as a good one. */
static inline bool child_answered(const struct child *child)
{
	char answer = 'n';
	ssize_t got = read(child->answers, &answer, 1);

	return got == 0 || answer == 'y';
}

/* In the child: execute path, a copy of this test, and pass it the descriptor of orders. */
CHILD_UNUSED static bool child_execute(const struct child *self, void *path)
{
	char orders[16];
	char *argv[] = { path, orders, NULL };

	snprintf(orders, sizeof(orders), "%d", self->orders);
	fcntl(self->orders, F_SETFD, 0);
	execv(path, argv);
	return false;
}

/* Copy the program of this test to a new path. */
CHILD_UNUSED static bool child_copy_self(const char *path)
{
	static char data[65536];
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	bool good = from >= 0 && to >= 0;
	ssize_t got;

	while (good && (got = read(from, data, sizeof(data))) > 0)
		good = write(to, data, (size_t)got) == got;
	close(from);
	close(to);
	return good;
}

CHILD_UNUSED static bool child_order(const struct child *child)
{
	return write(child->orders, "g", 1) == 1 && child_answered(child);
}

/*
 * Fork a child that runs prepare(self, arg) and then waits to be killed. Returns when
 * prepare() has returned; false: that has failed.
 */
CHILD_UNUSED static bool
child_start(struct child *child, bool (*prepare)(const struct child *, void *), void *arg)
{
	int orders[2], answers[2];

	if (pipe2(orders, O_CLOEXEC) || pipe2(answers, O_CLOEXEC))
		return false;
	child->pid = fork();
	if (child->pid == 0) {
		const struct child self = { .orders = orders[0], .answers = answers[1] };

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(orders[1]);
		close(answers[0]);
		child_answer(&self, prepare(&self, arg));
		for (;;)
			child_wait(&self);
	}
	close(orders[0]);
	close(answers[1]);
	child->orders = orders[1];
	child->answers = answers[0];
	return child->pid > 0 && child_answered(child);
}

CHILD_UNUSED static void child_end(struct child *child)
{
	close(child->orders);
	close(child->answers);
	if (child->pid > 0) {
		kill(child->pid, SIGKILL);
		/* A thread that was asked to stop but had no time to is still traced by
		 * this process: the child does not end until we have waited for it. */
		while (waitpid(child->pid, NULL, __WALL | WNOHANG) == 0) {
			waitpid(-1, NULL, __WALL | WNOHANG);
			nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
		}
	}
	child->pid = 0;
}

/* For threads of a child. */
CHILD_UNUSED static void *spin(void *arg)
{
	volatile unsigned long n = 0;

	for (;;)
		n++;
	return arg;
}

CHILD_UNUSED static void *sleep_on(void *arg)
{
	for (;;)
		pause();
	return arg;
}

/* Poll until is_so(arg) is true, for at most 10 s. */
CHILD_UNUSED static bool wait_until(bool (*is_so)(void *), void *arg)
{
	const struct timespec pause = { .tv_nsec = 2000000 };

	for (int i = 0; i < 5000; i++) {
		if (is_so(arg))
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

#endif
