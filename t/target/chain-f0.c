/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * f0 of the chain: computes, or sleeps in poll(), until the end is asked for.
 * When it computes it is a leaf: a handler ends it.
 */
#include "target.h"
#include "chain.h"

#include <poll.h>

static volatile sig_atomic_t ended;
volatile unsigned long chain_work;

static void on_end(int signal)
{
	(void)signal;
	ended = 1;
}

__attribute__((constructor)) static void prepare(void)
{
	struct sigaction action = { .sa_handler = on_end };

	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGUSR1, &action, NULL);
}

static NOINLINE void unblock(void)
{
	sigset_t set;

	target_end_signals(&set);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

NOINLINE int f0(int spin)
{
	target_ready();
	unblock();
	while (!ended) {
		if (spin)
			chain_work += 3;
		else
			poll(NULL, 0, 1000); /* the signal may have come before it */
	}
	return 1;
}
