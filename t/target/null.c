/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * null: the thread "null" has called a function through a null pointer and
 * sleeps in the handler: null_handler <signal> 0x0 null_caller.
 */
#include "target.h"

#include <poll.h>

static int (*volatile nothing)(int argument);

static NOINLINE void null_sleep(void)
{
	for (;;)
		poll(NULL, 0, -1);
}

static NOINLINE void null_handler(int signal)
{
	null_sleep();
	(void)signal;
}

static NOINLINE int null_caller(int argument)
{
	return nothing(argument) + 1;
}

static void null_main(void *arg)
{
	null_caller(1);
	(void)arg;
}

int main(void)
{
	target_begin();
	signal(SIGSEGV, null_handler);
	target_wait_asleep(target_thread("null", null_main, NULL));
	target_ready();
	target_wait_end();
	target_verdict(NULL);
}
