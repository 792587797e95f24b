/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * moment THREADS [busy]: threads that take turns at one mutex. Each sleeps for half a
 * millisecond in stays_away(), without it, and for a tenth of one in holds_it(), with it;
 * busy: there it runs.
 */
#include "target.h"

#define HELD 100000 /* ns */
#define AWAY 500000

static bool busy;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void nap(uint64_t ns)
{
	const struct timespec time = { .tv_nsec = (long)ns };

	nanosleep(&time, NULL);
}

static NOINLINE void stays_away(void)
{
	nap(AWAY);
}

static NOINLINE void holds_it(void)
{
	const uint64_t end = target_now() + HELD;

	if (!busy)
		nap(HELD);
	while (target_now() < end)
		;
}

static void run(void *arg)
{
	(void)arg;
	for (;;) {
		stays_away();
		pthread_mutex_lock(&mutex);
		holds_it();
		pthread_mutex_unlock(&mutex);
	}
}

int main(int argc, char **argv)
{
	const int threads = argc > 1 ? atoi(argv[1]) : 8;

	busy = argc > 2;
	target_begin();
	for (int i = 0; i < threads; i++)
		target_thread("worker", run, NULL);
	target_ready();
	target_wait_end();
	target_verdict(NULL);
}
