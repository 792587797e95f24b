/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ticks with jitter; see pace.h. Pure arithmetic, tested without a clock. */
#include "sampler/pace.h"

#define BEHIND_SNAPSHOTS 5	       /* fewer are too few to judge the rate */
#define CPU_CREDIT UINT64_C(500000000) /* ns */

/* xorshift64: good enough for jitter. */
static uint64_t next_random(struct pace *pace)
{
	pace->random ^= pace->random << 13;
	pace->random ^= pace->random >> 7;
	pace->random ^= pace->random << 17;
	return pace->random;
}

/* Uniform in [-10 %, +10 %] of the interval around the tick of the grid. */
static void set_due(struct pace *pace)
{
	uint64_t reach = pace->interval / 10;

	pace->due = pace->grid - reach + next_random(pace) % (2 * reach + 1);
}

void pace_start(struct pace *pace, uint64_t interval, uint64_t now, uint64_t seed)
{
	*pace = (struct pace){
		.asked = interval,
		.interval = interval,
		.start = now,
		.grid = now,
		.due = now,
		.random = seed | 1,
	};
}

void pace_next(struct pace *pace, uint64_t now, uint64_t at_least)
{
	pace->snapshots++;
	pace->interval = pace->asked;
	if (at_least > pace->asked) {
		pace->interval = at_least;
		pace->lowered += at_least - pace->asked;
	}
	pace->grid += pace->interval;
	if (pace->grid <= now) {
		uint64_t missed = (now - pace->grid) / pace->interval + 1;

		pace->missed += missed;
		pace->grid += missed * pace->interval;
	}
	set_due(pace);
}

uint64_t pace_for_stops(const struct pace *pace, uint64_t stopped, uint64_t budget)
{
	if (!budget || stopped <= budget)
		return 0;
	return (uint64_t)((double)pace->asked * ((double)stopped / (double)budget));
}

uint64_t pace_for_cpu(struct pace *pace, uint64_t now, uint64_t cpu, uint64_t percent)
{
	uint64_t last = cpu - pace->cpu, elapsed = now - pace->start;

	pace->cpu = cpu;
	pace->cpu_each = pace->snapshots ? (pace->cpu_each * 7 + last) / 8 : last;
	if (!percent || cpu <= CPU_CREDIT + elapsed / 100 * percent)
		return 0;
	return pace->cpu_each * 100 / percent;
}

void pace_change(struct pace *pace, uint64_t interval, uint64_t now)
{
	pace->asked = interval;
	pace->interval = interval;
	pace->grid = now + interval;
	set_due(pace);
}

void pace_resume(struct pace *pace, uint64_t since, uint64_t now)
{
	pace->start += now - since;
	pace->grid = now;
	pace->due = now;
}

bool pace_is_behind(const struct pace *pace)
{
	return pace->snapshots >= BEHIND_SNAPSHOTS &&
	       (pace->lowered / pace->asked * 4 > pace->snapshots ||
		pace->missed * 4 > pace->snapshots);
}
