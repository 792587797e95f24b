/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much of a stack is copied, learned from what its walks need: never above the limit. */
#include "lib/tap.h"

#include "capture/stack-copy.h"

#define MOST (512u << 10)
#define SAMPLES 3000

static size_t total(const struct pmp_watch *watch)
{
	size_t sum = 0;

	for (size_t i = 0; i < watch->range_count; i++)
		sum += watch->ranges[i].want;
	return sum;
}

/* A stack without end: each walk needs all that has been copied of each piece. */
static size_t learn(struct pmp_watch *watch)
{
	size_t most = 0;

	for (int n = 0; n < SAMPLES; n++) {
		struct pmp_stack_reader reader = { 0 };

		for (size_t i = 0; i < watch->range_count; i++)
			reader.used[i] = watch->ranges[i].want;
		pmp_stack_learn(watch, &reader);
		if (total(watch) > most)
			most = total(watch);
	}
	return most;
}

int main(void)
{
	struct pmp_watch one = { .range_count = 1, .ranges[0].want = MOST };
	struct pmp_watch two = { .range_count = 2 };
	struct pmp_watch less = { .range_count = 1, .ranges[0].want = 100 << 10 };
	struct pmp_stack_reader reader = { .used = { 20 << 10 } };

	is_int((long)learn(&one), MOST, "one piece");
	two.ranges[0].want = two.ranges[1].want = MOST / 2;
	is_int((long)learn(&two), MOST, "two pieces");
	is_int((long)two.range_count, 2, "both are kept");
	pmp_stack_learn(&less, &reader);
	is_int((long)less.ranges[0].want, 21 << 10, "what is needed, and a margin");
	return done_testing();
}
