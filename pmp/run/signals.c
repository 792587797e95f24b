/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signals of the front. These handlers never run in the sampler, which blocks the signals.
 * In a command that pmp starts, exec() restores the default actions.
 */
#include "run/signals.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "run/clock.h"
#include "say/message.h"

/* timeout(1) and a closing terminal send the same signal twice in quick succession. */
#define SAME_MS 50

/* Global, as signal handlers take no argument. */
static struct {
	volatile sig_atomic_t end, suspend, write, pass_on, limit, bears, again,
		continued;
	volatile int64_t end_ms;
	int wake;
} caught = { .wake = -1 };

static void (*restore)(void); /* before a handler ends pmp; or NULL */

static int64_t now_ms(void)
{
	return (int64_t)(now_ns() / NS_PER_MS);
}

/* A signal from the terminal reaches the command as well as pmp. A signal from a process
 * reaches only pmp, which forwards it to the command; but INT only ends the sampling. */
static void end_by(int number, bool from_process)
{
	int64_t now = now_ms();

	if (!caught.end) {
		caught.end_ms = now;
		caught.end = number;
		if (from_process && number != SIGINT)
			caught.pass_on = number;
	} else if (number != SIGHUP && now - caught.end_ms > SAME_MS) {
		if (caught.bears) {
			caught.bears = 0;
			caught.again = 1;
			caught.end_ms = now;
			return;
		}
		signals_restore();
		_exit(PMP_EXIT_SIGNAL + number);
	}
}

static void wake(void)
{
	const uint64_t one = 1;
	int saved = errno;
	ssize_t n = write(caught.wake, &one, sizeof(one));

	(void)n;
	errno = saved;
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	switch (number) {
	case SIGINT:
	case SIGTERM:
	case SIGHUP:
	case SIGQUIT: end_by(number, info->si_code <= 0); break;
	case SIGTSTP: caught.suspend = 1; break;
	case SIGUSR1: caught.write = 1; break;
	case SIGCONT: caught.continued = 1; break;
	default: /* CHLD wakes; PIPE and XFSZ become errors of write() */ break;
	}
	wake();
	(void)context;
}

static void install(int number)
{
	struct sigaction action = {
		.sa_sigaction = on_signal,
		.sa_flags = SA_RESTART | SA_SIGINFO,
	};

	sigfillset(&action.sa_mask);
	sigaction(number, &action, NULL);
}

bool signals_ignore(int number)
{
	struct sigaction action;

	return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

int signals_open(void)
{
	/* A script's background jobs start with INT and QUIT ignored; a signal sent to pmp
	 * on purpose must still end it cleanly. */
	static const int always[] = {
		SIGINT, SIGTERM, SIGQUIT, SIGUSR1, SIGCHLD, SIGCONT
	};
	static const int unless_ignored[] = { SIGHUP, SIGTSTP, SIGPIPE, SIGXFSZ };

	caught.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (caught.wake < 0)
		return -errno;
	for (size_t i = 0; i < sizeof(always) / sizeof(*always); i++)
		install(always[i]);
	for (size_t i = 0; i < sizeof(unless_ignored) / sizeof(*unless_ignored); i++) {
		if (!signals_ignore(unless_ignored[i]))
			install(unless_ignored[i]);
	}
	return caught.wake;
}

void signals_tell_limit(void)
{
	caught.limit = 1;
	wake();
}

void signals_restore(void)
{
	if (restore)
		restore();
}

void signals_before_exit(void (*function)(void))
{
	restore = function;
}

void signals_bear(bool bear)
{
	caught.bears = bear;
}

void signals_take(struct caught *taken)
{
	uint64_t count;
	ssize_t n = read(caught.wake, &count, sizeof(count));

	(void)n;
	/* The thread that fetches files reads it, too. */
	__atomic_store_n(&taken->end, caught.end, __ATOMIC_RELAXED);
	taken->suspend |= caught.suspend;
	caught.suspend = 0;
	if (caught.pass_on)
		taken->pass_on = caught.pass_on;
	caught.pass_on = 0;
	taken->again = caught.again;
	taken->limit = caught.limit;
	taken->write |= caught.write;
	caught.write = 0;
}

bool signals_suspend(int number)
{
	caught.continued = 0;
	signal(number, SIG_DFL);
	raise(number);
	if (number == SIGTSTP)
		install(SIGTSTP);
	return caught.continued;
}

void signals_block(void)
{
	static const int faults[] = {
		SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP, SIGXCPU,
	};
	sigset_t set;

	sigfillset(&set);
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		sigdelset(&set, faults[i]);
	sigprocmask(SIG_SETMASK, &set, NULL);
}
