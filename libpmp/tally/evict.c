/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The choice of stacks to evict. It depends only on counts and the order of arrival, so
 * that equal runs give equal profiles.
 */
#include "tally/evict.h"

#include <stdint.h>
#include <stdlib.h>

#define SUMS_MAX 1024 /* entries for evicted stacks, one per process */
#define ENTRY_COST 64 /* size of an entry without locations, in locations */

struct choice {
	const struct pmp_entry *entries;
	const uint64_t *recent; /* or NULL */
};

static int compare(const void *a, const void *b, void *arg)
{
	const struct choice *choice = arg;
	uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
	uint64_t count = choice->entries[one].count, than = choice->entries[other].count;

	if (choice->recent && choice->recent[one] != choice->recent[other])
		return choice->recent[one] < choice->recent[other] ? 1 : -1;
	if (count != than)
		return count < than ? 1 : -1;
	return one < other ? 1 : -1;
}

bool pmp_evict_is_sum(const struct pmp_entry *entry)
{
	return entry->end == PMP_END_EVICTED && entry->location_count == 0;
}

int pmp_evict_choose(const struct pmp_entry *entries, size_t count,
		     const uint64_t *recent, bool *stays)
{
	struct choice choice = { entries, recent };
	uint32_t *order = calloc(count + 1, sizeof(*order));
	size_t total = 0, taken = 0;

	if (!order)
		return PMP_ENOMEM;
	for (size_t i = 0; i < count; i++) {
		order[i] = (uint32_t)i;
		total += ENTRY_COST + entries[i].location_count;
	}
	qsort_r(order, count, sizeof(*order), compare, &choice);
	for (size_t i = 0; i < count; i++) {
		const struct pmp_entry *entry = &entries[order[i]];

		taken += ENTRY_COST + entry->location_count;
		stays[order[i]] = taken <= total / 2 || pmp_evict_is_sum(entry);
	}
	free(order);
	return 0;
}

bool pmp_evict_is_crowded(const struct pmp_entry *entries, size_t count)
{
	size_t sums = 0;

	for (size_t i = 0; i < count; i++)
		sums += pmp_evict_is_sum(&entries[i]);
	return sums > SUMS_MAX;
}

struct pmp_entry pmp_evict_sum(const struct pmp_entry *entry, bool by_name)
{
	return (struct pmp_entry){
		.pid = by_name ? 0 : entry->pid,
		.process = entry->process,
		.thread = "",
		.state = '?',
		.syscall = "",
		.wchan = "",
		.end = PMP_END_EVICTED,
		.reason = "",
		.count = entry->count,
		.cpu = entry->cpu,
		.wall = entry->wall,
		.waits = entry->waits,
	};
}

void pmp_evict_sum_waits(struct pmp_entry *entry, struct pmp_entry_waits *waits,
			 struct pmp_lock *lock)
{
	*waits = *entry->waits;
	entry->waits = waits;
	if (!waits->lock)
		return;
	*lock = pmp_lock_of_kind(waits->lock);
	waits->lock = lock;
}
