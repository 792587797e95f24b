/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tally/longest.h"

#include "base/clock.h"

/* The last part is incomplete, so all others together have the length of the window. */
static uint32_t part_of(uint64_t window, uint64_t now)
{
	return (uint32_t)(now / (window / (PMP_LONGEST_PARTS - 1)));
}

void pmp_longest_add(struct pmp_longest *longest, uint64_t window, uint64_t now,
		     uint64_t time)
{
	uint32_t part = part_of(window, now), ms = (uint32_t)(time / PMP_MS);

	for (uint32_t i = 0; longest->part != part && i < PMP_LONGEST_PARTS; i++)
		if (part - longest->part > i)
			longest->most[(part - i) % PMP_LONGEST_PARTS] = 0;
	longest->part = part;
	if (longest->most[part % PMP_LONGEST_PARTS] < ms)
		longest->most[part % PMP_LONGEST_PARTS] = ms;
}

uint64_t pmp_longest_get(const struct pmp_longest *longest, uint64_t window, uint64_t now)
{
	uint32_t part = part_of(window, now), most = 0;

	for (uint32_t i = 0; i < PMP_LONGEST_PARTS; i++) {
		uint32_t age = part - (longest->part - i);

		if (age < PMP_LONGEST_PARTS &&
		    longest->most[(longest->part - i) % PMP_LONGEST_PARTS] > most)
			most = longest->most[(longest->part - i) % PMP_LONGEST_PARTS];
	}
	return (uint64_t)most * PMP_MS;
}
