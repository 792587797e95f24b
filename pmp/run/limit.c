/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --max-wall: one timer asks pmp to end; the other one kills it. */
#include "run/limit.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "run/clock.h"
#include "run/signals.h"
#include "say/message.h"

#define LIMIT_GRACE 5	       /* seconds for an orderly end */
#define LIMIT_SIGNAL SIGVTALRM /* progress.c uses ALRM */

/* A forked process inherits no timers, but the time it counts from. */
static struct {
	uint64_t began;
	pid_t owner; /* 0: not begun */
	timer_t timers[2];
	volatile sig_atomic_t told;
} limit;

/* The first time ask for an orderly end, the second time end at once. */
static void on_limit(int number)
{
	static const char text[] = "pmp: not finished 5 seconds later: killed\n";
	ssize_t n;

	(void)number;
	if (!limit.told) {
		limit.told = 1;
		signals_tell_limit();
		return;
	}
	signals_restore();
	n = write(STDERR_FILENO, text, sizeof(text) - 1);
	(void)n;
	_exit(PMP_EXIT_FAILED);
}

static bool make_timer(int number, timer_t *timer)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = number };

	return timer_create(CLOCK_MONOTONIC, &event, timer) == 0;
}

static bool set_timer(timer_t timer, uint64_t time)
{
	uint64_t end = limit.began + time;
	const struct itimerspec at = {
		.it_value.tv_sec = (time_t)(end / NS_PER_S),
		.it_value.tv_nsec = (long)(end % NS_PER_S),
		.it_interval.tv_sec = LIMIT_GRACE,
	};

	return timer_settime(timer, TIMER_ABSTIME, &at, NULL) == 0;
}

static bool start(uint64_t time)
{
	struct sigaction action = { .sa_handler = on_limit, .sa_flags = SA_RESTART };

	sigfillset(&action.sa_mask);
	sigaction(LIMIT_SIGNAL, &action, NULL);
	if (!limit.owner)
		limit.began = now_ns();
	/* If a system call hangs, perhaps only SIGKILL ends it. */
	if (limit.owner != getpid() && (!make_timer(LIMIT_SIGNAL, &limit.timers[0]) ||
					!make_timer(SIGKILL, &limit.timers[1])))
		return false;
	limit.owner = getpid();
	return set_timer(limit.timers[0], time) &&
	       set_timer(limit.timers[1], time + (LIMIT_GRACE + 1) * NS_PER_S);
}

int limit_start(uint64_t time)
{
	if (!time || start(time))
		return 0;
	message_print(NULL, "cannot limit the time: %s", strerror(errno));
	return PMP_EXIT_FAILED;
}
