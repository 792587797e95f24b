/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ticks with jitter; see pace.h. Pure arithmetic, tested without a clock. */
#include "pace.h"

#define BEHIND_ROUNDS 5 /* fewer say nothing about a rate */

/* xorshift64: no need for more than being out of step. */
static uint64_t next_random(struct pmp_pace *pace)
{
	pace->random ^= pace->random << 13;
	pace->random ^= pace->random >> 7;
	pace->random ^= pace->random << 17;
	return pace->random;
}

/* Uniform in [-10 %, +10 %] of the interval around the tick of the grid. */
static void set_due(struct pmp_pace *pace)
{
	uint64_t reach = pace->interval / 10;

	pace->due = pace->grid - reach + next_random(pace) % (2 * reach + 1);
}

void pmp_pace_start(struct pmp_pace *pace, uint64_t interval, uint64_t now, uint64_t seed)
{
	*pace = (struct pmp_pace){
		.asked = interval,
		.interval = interval,
		.start = now,
		.grid = now,
		.due = now,
		.random = seed | 1,
	};
}

void pmp_pace_next(struct pmp_pace *pace, uint64_t now, uint64_t stopped, uint64_t budget)
{
	pace->rounds++;
	pace->interval = pace->asked;
	if (budget && stopped > budget) {
		double factor = (double)stopped / (double)budget;

		pace->interval = (uint64_t)((double)pace->asked * factor);
		pace->lowered++;
	}
	pace->grid += pace->interval;
	if (pace->grid <= now) {
		uint64_t missed = (now - pace->grid) / pace->interval + 1;

		pace->missed += missed;
		pace->grid += missed * pace->interval;
	}
	set_due(pace);
}

void pmp_pace_resume(struct pmp_pace *pace, uint64_t since, uint64_t now)
{
	pace->start += now - since;
	pace->grid = now;
	pace->due = now;
}

bool pmp_pace_is_behind(const struct pmp_pace *pace)
{
	return pace->rounds >= BEHIND_ROUNDS &&
	       (pace->lowered * 2 > pace->rounds || pace->missed * 4 > pace->rounds);
}
