/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * racer: threads that compute for a moment and go to sleep in epoll_wait() for a
 * moment, so that some are seen computing and are asleep when they are stopped.
 *
 * Verdict: epoll_wait() was never interrupted.
 */
#include "target.h"

#include <sys/epoll.h>

#define THREADS 4
#define TURNS 100000
#define MOMENT 1 /* ms */

static atomic_ullong interrupted, waits;

static void racer_main(void *arg)
{
	int fd = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event event;
	volatile unsigned work;

	for (;;) {
		for (work = 0; work < TURNS; work++)
			;
		if (epoll_wait(fd, &event, 1, MOMENT) < 0 && errno == EINTR)
			interrupted++;
		waits++;
	}
	(void)arg;
}

int main(void)
{
	int i;

	target_begin();
	for (i = 0; i < THREADS; i++)
		target_thread("racer", racer_main, NULL);
	target_ready();
	target_wait_end();
	printf("waits %llu\n", (unsigned long long)waits);
	if (interrupted)
		target_verdict("%llu of %llu waits interrupted",
			       (unsigned long long)interrupted,
			       (unsigned long long)waits);
	target_verdict(NULL);
}
