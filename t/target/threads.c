/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * threads [BLOCKED [SPINNING]]: threads with names and stacks that are known in
 * advance: block-K sleeps in one of five calls (K modulo 5: read, poll, futex,
 * nanosleep, sem_wait) below level1 level2 blocker, spin-K computes below
 * level1 level2 spinner.
 *
 * Verdict: no call ended before its time, all spinners have moved.
 */
#include "target.h"

#include <linux/futex.h>
#include <poll.h>
#include <semaphore.h>

#define MAX_THREADS 5000
#define FOREVER 100000 /* seconds */

static atomic_int disturbed;
static atomic_ullong turns[MAX_THREADS];
static int pipe_fds[2];
static uint32_t futex_word;
static sem_t semaphore;

static NOINLINE int blocker(long kind)
{
	struct timespec forever = { FOREVER, 0 };
	struct pollfd fds = { .fd = pipe_fds[0], .events = POLLIN };
	char byte;

	switch (kind) {
	case 0: return (int)read(pipe_fds[0], &byte, 1);
	case 1: return poll(&fds, 1, -1);
	case 2:
		return (int)syscall(SYS_futex, &futex_word, FUTEX_WAIT_PRIVATE, 0, NULL,
				    NULL, 0);
	case 3: return nanosleep(&forever, NULL);
	default: return sem_wait(&semaphore);
	}
}

static NOINLINE int spinner(long slot)
{
	for (;;)
		turns[slot]++;
	return 0;
}

static NOINLINE int level2(bool spin, long slot)
{
	return (spin ? spinner(slot) : blocker(slot % 5)) + 1;
}

static NOINLINE int level1(bool spin, long slot)
{
	return level2(spin, slot) + 1;
}

static void blocked_main(void *arg)
{
	for (;;) {
		level1(false, (long)(intptr_t)arg);
		disturbed++;
	}
}

static void spinning_main(void *arg)
{
	level1(true, (long)(intptr_t)arg);
}

static void check_spinners(long spinning)
{
	unsigned long long before;
	int patience;
	long i;

	for (i = 0; i < spinning; i++) {
		before = turns[i];
		for (patience = 5000; turns[i] == before && patience; patience--)
			target_nap(1);
		if (!patience)
			target_verdict("spin-%ld does not move", i);
	}
}

int main(int argc, char **argv)
{
	long blocked = argc > 1 ? atol(argv[1]) : 10;
	long spinning = argc > 2 ? atol(argv[2]) : 0;
	char name[32];
	long i;

	if (blocked < 0 || spinning < 0 || blocked > MAX_THREADS ||
	    spinning > MAX_THREADS)
		return 2;
	target_begin();
	if (pipe(pipe_fds) || sem_init(&semaphore, 0, 0))
		target_die("pipe or sem_init");
	for (i = 0; i < blocked; i++) {
		snprintf(name, sizeof name, "block-%ld", i);
		target_wait_asleep(
			target_thread(name, blocked_main, (void *)(intptr_t)i));
	}
	for (i = 0; i < spinning; i++) {
		snprintf(name, sizeof name, "spin-%ld", i);
		target_thread(name, spinning_main, (void *)(intptr_t)i);
	}
	target_ready();
	target_wait_end();
	check_spinners(spinning);
	if (disturbed)
		target_verdict("%d calls ended before their time", (int)disturbed);
	target_verdict(NULL);
}
