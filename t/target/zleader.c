/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * zleader: the first thread has ended and is a zombie, the threads "worker"
 * (asleep in linger) and "judge" live on.
 */
#include "target.h"

#include <poll.h>

static NOINLINE int linger(int time)
{
	for (;;)
		poll(NULL, 0, time);
	return 1;
}

static void worker_main(void *arg)
{
	linger(-1);
	(void)arg;
}

static void judge_main(void *arg)
{
	while (target_state(getpid()) != 'Z')
		target_nap(1);
	target_ready();
	target_wait_end();
	target_verdict(NULL);
	(void)arg;
}

int main(void)
{
	target_begin();
	target_wait_asleep(target_thread("worker", worker_main, NULL));
	target_thread("judge", judge_main, NULL);
	pthread_exit(NULL);
}
