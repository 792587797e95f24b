/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vdso [THREADS]: threads that ask for the time without a pause, so that they
 * are mostly in the vDSO: ... ask asking start.
 *
 * Verdict: time does not go back.
 */
#include "target.h"

static atomic_int backwards;

static NOINLINE uint64_t ask(uint64_t last)
{
	uint64_t now = target_now();

	if (now < last)
		backwards++;
	return now;
}

static NOINLINE uint64_t asking(void)
{
	uint64_t last = 0;

	for (;;)
		last = ask(last);
	return last;
}

static void asker_main(void *arg)
{
	asking();
	(void)arg;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 1;

	target_begin();
	while (threads-- > 0)
		target_thread("asker", asker_main, NULL);
	target_ready();
	target_wait_end();
	if (backwards)
		target_verdict("time went back %d times", (int)backwards);
	target_verdict(NULL);
}
