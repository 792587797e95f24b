/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a call of the allocator takes, in ns, the best of many short runs:
 *
 *	pairs	malloc(32) and free(), in a loop
 *	churn	20,000 blocks of mixed sizes, each in turn replaced by another
 *	sample	a pair with 10 KiB of stack above it, in bursts that a ring has room for
 *
 *	allocate [PAIRS [RUNS]], or with RUNS 0: the last one alone
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define KEPT 20000
#define STACK 10240
#define BURST 400

static void *kept[KEPT];

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void pair(void)
{
	void *block = malloc(32);

	__asm__ volatile("" : : "r"(block) : "memory");
	free(block);
}

static double pairs(long count)
{
	const double start = now();

	for (long i = 0; i < count; i++)
		pair();
	return (now() - start) / (double)count;
}

static double churn(long count)
{
	static unsigned state = 1;
	const double start = now();

	for (long i = 0; i < count; i++) {
		const unsigned draw = state = state * 1103515245 + 12345;
		const unsigned place = (draw >> 8) % KEPT;

		free(kept[place]);
		kept[place] = malloc(16 + (draw >> 20) % 2000);
	}
	return (now() - start) / (double)count;
}

static __attribute__((noinline)) double deep(long count)
{
	volatile char stack[STACK];

	stack[0] = 1;
	return pairs(count) + 0 * stack[0];
}

static double best_of(double (*run)(long count), long count, long runs, unsigned rest)
{
	double best = 1e18;

	for (long i = 0; i < runs; i++) {
		const double each = run(count);

		best = each < best ? each : best;
		if (rest)
			usleep(rest);
	}
	return best;
}

int main(int argc, char **argv)
{
	const long count = argc > 1 ? atol(argv[1]) : 200000;
	const long runs = argc > 2 ? atol(argv[2]) : 30;

	/* For a tool that counts instructions. */
	if (runs == 1) {
		pairs(count);
		return 0;
	}
	if (runs == 0) {
		printf("sample_ns=%.0f\n", best_of(deep, BURST, 20, 50000));
		return 0;
	}
	printf("pairs_ns=%.1f", best_of(pairs, count, runs, 0));
	printf(" churn_ns=%.1f\n", best_of(churn, count, runs, 0));
	return 0;
}
