/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sleeper [THREADS [MILLISECONDS]]: that many threads, worker-1 and so on, asleep in
 * nap() besides the main one, which ends after the time or when asked.
 */
#include "target.h"

static void NOINLINE nap(void *arg)
{
	(void)arg;
	for (;;)
		target_nap(1000);
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 0;
	unsigned time = argc > 2 ? (unsigned)atoi(argv[2]) : 0;

	target_begin();
	for (int i = 1; i <= threads; i++) {
		char name[16];

		snprintf(name, sizeof(name), "worker-%d", i % 1000);
		target_wait_asleep(target_thread(name, nap, NULL));
	}
	target_ready();
	if (time)
		target_nap(time);
	else
		target_wait_end();
	target_verdict(NULL);
}
