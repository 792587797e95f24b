/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * twocalls [THREADS]: threads that wait in ppoll() called by via_poll and in nanosleep()
 * called by via_sleep, by turns and for 100 us each: where one of them is in the kernel
 * and who has called it must go together.
 *
 * Verdict: no wait ended early.
 */
#include "target.h"

#include <poll.h>

#define PERIOD 100000 /* ns */

static const struct timespec period = { 0, PERIOD };
static atomic_int early;

static NOINLINE void via_poll(void)
{
	if (ppoll(NULL, 0, &period, NULL) != 0)
		early++;
}

static NOINLINE void via_sleep(void)
{
	if (nanosleep(&period, NULL) != 0)
		early++;
}

static void alternate(void *arg)
{
	(void)arg;
	while (!target_should_end()) {
		via_poll();
		via_sleep();
	}
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 4;

	target_begin();
	for (int i = 0; i < threads; i++)
		target_thread("turns", alternate, NULL);
	target_ready();
	target_wait_end();
	if (early)
		target_verdict("%d waits ended early", (int)early);
	target_verdict(NULL);
}
