/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stack leaf_inline middle_inline outer main, the first two inlined into
 * outer: built with -g, a profiler has to show all of them.
 */
#include "target.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

static volatile sig_atomic_t ended;
static volatile uint64_t work;

static void on_end(int signal)
{
	(void)signal;
	ended = 1;
}

ALWAYS_INLINE void leaf_inline(uint64_t step)
{
	while (!ended)
		work += step;
}

ALWAYS_INLINE void middle_inline(uint64_t step)
{
	work++;
	leaf_inline(step * 3);
}

NOINLINE static int outer(int step)
{
	middle_inline((uint64_t)step);
	return step + 1;
}

int main(void)
{
	alarm(TARGET_LIFETIME);
	signal(SIGTERM, on_end);
	signal(SIGUSR1, on_end);
	target_ready();
	if (outer(5) != 6)
		target_verdict("outer gave nonsense");
	target_verdict(NULL);
}
