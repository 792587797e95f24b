/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bare: a thread computes in assembly without call-frame information:
 * bare_leaf bare_caller.
 */
#include "target.h"

int bare_leaf(atomic_int *flag); /* noframe.S */

static atomic_int ended, finished;

static NOINLINE int bare_caller(int gain)
{
	return bare_leaf(&ended) + gain;
}

static void bare_main(void *arg)
{
	finished = bare_caller(1);
	(void)arg;
}

int main(void)
{
	target_begin();
	target_thread("bare", bare_main, NULL);
	target_ready();
	target_wait_end();
	ended = 1;
	while (!finished)
		target_nap(1);
	if (finished != 2)
		target_verdict("the assembly gave %d", (int)finished);
	target_verdict(NULL);
}
