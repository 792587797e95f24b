/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the programs that are profiled by the live tests have in common: they
 * print "ready PID" once all their threads are in place, and at SIGTERM or
 * SIGUSR1 a line "verdict: ok" or "verdict: FAIL what", with which they say
 * whether somebody disturbed them. The exit status is 0 or 1 accordingly.
 *
 * Everything is static: each program is one file plus this header. An alarm
 * ends a program that a test has forgotten.
 */
#ifndef PMP_TARGET_H
#define PMP_TARGET_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TARGET_LIFETIME 900 /* seconds; no test may take that long */
#define TARGET_STACK (256 * 1024)
#define TARGET_PATIENCE 20 /* seconds for a thread to be where it should */

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif
#define MAYBE_UNUSED __attribute__((unused))

static atomic_int target_continued; /* SIGCONT seen */

MAYBE_UNUSED static void target_die(const char *what)
{
	fprintf(stderr, "target: %s: %s\n", what, strerror(errno));
	_exit(2);
}

static void target_on_cont(int signal)
{
	(void)signal;
	target_continued++;
}

static void target_end_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGUSR1);
}

/* First of all, before there is a second thread: the signals that end the
 * program are blocked in all threads, and wait for target_wait_end(). */
MAYBE_UNUSED static void target_begin(void)
{
	struct sigaction action = { .sa_handler = target_on_cont,
				    .sa_flags = SA_RESTART };
	sigset_t set;

	alarm(TARGET_LIFETIME);
#ifdef TARGET_NOT_DUMPABLE
	prctl(PR_SET_DUMPABLE, 0);
#endif
	sigaction(SIGCONT, &action, NULL);
	target_end_signals(&set);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
}

MAYBE_UNUSED static void target_ready(void)
{
	printf("ready %d\n", getpid());
	fflush(stdout);
}

MAYBE_UNUSED static uint64_t target_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

MAYBE_UNUSED static void target_nap(unsigned milliseconds)
{
	struct timespec time = { milliseconds / 1000, milliseconds % 1000 * 1000000L };

	while (nanosleep(&time, &time) == -1 && errno == EINTR)
		;
}

/* The state letter of a thread of this process, 0 if it is gone. The name in
 * stat may contain anything, hence the last parenthesis. */
static char target_state(pid_t tid)
{
	char path[64], text[512], *end;
	ssize_t length;
	int fd;

	snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	length = read(fd, text, sizeof text - 1);
	close(fd);
	if (length <= 0)
		return 0;
	text[length] = '\0';
	end = strrchr(text, ')');
	return end && end[1] == ' ' ? end[2] : 0;
}

/* Wait until a thread has fallen asleep, in a D state for a vfork parent. */
MAYBE_UNUSED static void target_wait_asleep(pid_t tid)
{
	uint64_t end = target_now() + TARGET_PATIENCE * UINT64_C(1000000000);
	char state;

	do {
		state = target_state(tid);
		if (state == 'S' || state == 'D')
			return;
		target_nap(1);
	} while (target_now() < end);
	errno = ETIMEDOUT;
	target_die("a thread does not fall asleep");
}

struct target_start {
	void (*function)(void *arg);
	void *arg;
	const char *name;
	atomic_int tid;
};

MAYBE_UNUSED static void *target_thread_main(void *arg)
{
	struct target_start *start = arg;
	void (*function)(void *arg) = start->function;
	void *function_arg = start->arg;
	sigset_t set;

	/* Its handler is the first thread's, so that no call is interrupted by it. */
	sigemptyset(&set);
	sigaddset(&set, SIGCONT);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (start->name)
		prctl(PR_SET_NAME, start->name);
	start->tid = gettid(); /* start is gone after this */
	function(function_arg);
	return NULL;
}

/* Start a named thread with a small stack; returns its tid once it runs. */
MAYBE_UNUSED static pid_t target_thread(const char *name, void (*function)(void *arg),
					void *arg)
{
	struct target_start start = { .function = function, .arg = arg, .name = name };
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, TARGET_STACK);
	errno = pthread_create(&thread, &attr, target_thread_main, &start);
	if (errno)
		target_die("pthread_create");
	pthread_attr_destroy(&attr);
	pthread_detach(thread);
	while (!start.tid)
		sched_yield();
	return start.tid;
}

/* Sleep until the program is asked for its verdict, in a read(), which no stop
 * makes fail. */
MAYBE_UNUSED static void target_wait_end(void)
{
	struct signalfd_siginfo info;
	sigset_t set;
	int fd;

	target_end_signals(&set);
	fd = signalfd(-1, &set, SFD_CLOEXEC);
	if (fd < 0)
		target_die("signalfd");
	if (read(fd, &info, sizeof info) != sizeof info)
		target_die("read of signalfd");
	close(fd);
}

/* Has the program been asked for its verdict? For loops. */
MAYBE_UNUSED static bool target_should_end(void)
{
	sigset_t pending;

	sigpending(&pending);
	return sigismember(&pending, SIGTERM) || sigismember(&pending, SIGUSR1);
}

MAYBE_UNUSED static void target_verdict(const char *format, ...)
	__attribute__((noreturn, format(printf, 1, 2)));

/* Print the verdict and leave. format NULL: all is well. */
MAYBE_UNUSED static void target_verdict(const char *format, ...)
{
	va_list args;

	if (!format) {
		printf("verdict: ok\n");
	} else {
		printf("verdict: FAIL ");
		va_start(args, format);
		vprintf(format, args);
		va_end(args);
		printf("\n");
	}
	if (target_continued)
		printf("continued %d\n", (int)target_continued);
	fflush(stdout);
	_exit(format ? 1 : 0);
}

#endif
