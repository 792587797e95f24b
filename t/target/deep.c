/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * deep [FRAMES [spin|block]]: a thread "deep" FRAMES (default 1000) calls of
 * descend() down, where bottom() computes or sleeps.
 *
 * Verdict: each call gave what it had to on the way back.
 */
#include "target.h"

#include <poll.h>
#include <sys/mman.h>

#define BYTES_PER_FRAME 160 /* generous: also right for -O0 and sanitizers */
#define STACK_RESERVE (1 << 20)

static atomic_int in_place, ended, finished;
static uint64_t depth = 1000, result;
static bool spin;

static NOINLINE uint64_t bottom(void)
{
	volatile uint64_t work = 0;

	in_place = 1;
	while (!ended) {
		if (spin)
			work++;
		else
			poll(NULL, 0, 100);
	}
	return 0;
}

static NOINLINE uint64_t descend(uint64_t frames)
{
	volatile uint64_t here = frames;

	return (frames == 0 ? bottom() : descend(frames - 1)) + (here != 0);
}

static void *deep_main(void *arg)
{
	(void)arg;
	prctl(PR_SET_NAME, "deep");
	result = descend(depth);
	finished = 1;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_attr_t attr;
	pthread_t thread;

	target_begin();
	if (argc > 1)
		depth = strtoull(argv[1], NULL, 10);
	spin = argc > 2 && strcmp(argv[2], "spin") == 0;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, depth * BYTES_PER_FRAME + STACK_RESERVE);
	errno = pthread_create(&thread, &attr, deep_main, NULL);
	if (errno)
		target_die("pthread_create");
	while (!in_place)
		target_nap(1);
	target_ready();
	target_wait_end();
	ended = 1;
	pthread_join(thread, NULL);
	if (!finished || result != depth)
		target_verdict("came up with %llu of %llu", (unsigned long long)result,
			       (unsigned long long)depth);
	target_verdict(NULL);
}
