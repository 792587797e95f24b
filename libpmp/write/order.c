/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sorting entries: by all that tells them apart. Locations are numbered as they
 * come; their addresses are not.
 */
#include "write/order.h"

#include <stdlib.h>
#include <string.h>

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_locations(const struct pmp_profile *profile, pmp_location a,
			     pmp_location b)
{
	struct pmp_origin one, other;
	int order;

	if (a == b)
		return 0;
	pmp_profile_origin(profile, a, &one);
	pmp_profile_origin(profile, b, &other);
	order = compare_numbers(one.pc, other.pc);
	if (!order)
		order = one.exact - other.exact;
	return order ? order : compare_numbers(a, b);
}

static int compare_stacks(const struct pmp_profile *profile, const struct pmp_entry *a,
			  const struct pmp_entry *b)
{
	size_t i = a->location_count, j = b->location_count;
	int order = 0;

	while (!order && i > 0 && j > 0)
		order = compare_locations(profile, a->locations[--i], b->locations[--j]);
	return order ? order : compare_numbers(i, j);
}

static int compare_owners(const struct pmp_entry *a, const struct pmp_entry *b)
{
	int order = strcmp(a->process, b->process);

	if (!order)
		order = compare_numbers(a->pid, b->pid);
	if (!order)
		order = compare_numbers(a->tid, b->tid);
	if (!order)
		order = strcmp(a->thread, b->thread);
	return order;
}

static int compare_states(const struct pmp_entry *a, const struct pmp_entry *b)
{
	int order = compare_numbers(a->end, b->end);

	if (!order)
		order = strcmp(a->why, b->why);
	if (!order)
		order = a->state - b->state;
	if (!order)
		order = strcmp(a->syscall, b->syscall);
	if (!order)
		order = strcmp(a->wchan, b->wchan);
	return order;
}

static int compare_entries(const void *a, const void *b, void *profile)
{
	const struct pmp_entry *one = *(const struct pmp_entry *const *)a;
	const struct pmp_entry *other = *(const struct pmp_entry *const *)b;
	int order = compare_numbers(other->count, one->count);

	if (!order)
		order = compare_owners(one, other);
	if (!order)
		order = compare_stacks(profile, one, other);
	if (!order)
		order = compare_states(one, other);
	return order;
}

static int compare_threads(const void *a, const void *b, void *profile)
{
	int order = compare_owners(*(const struct pmp_entry *const *)a,
				   *(const struct pmp_entry *const *)b);

	return order ? order : compare_entries(a, b, profile);
}

bool pmp_order_same_thread(const struct pmp_entry *a, const struct pmp_entry *b)
{
	return compare_owners(a, b) == 0;
}

static int sort(const struct pmp_profile *profile, const struct pmp_entry ***entries,
		int (*compare)(const void *, const void *, void *))
{
	size_t count = pmp_profile_entry_count(profile);
	const struct pmp_entry **sorted = calloc(count + 1, sizeof(struct pmp_entry *));

	*entries = sorted;
	if (!sorted)
		return PMP_ENOMEM;
	for (size_t i = 0; i < count; i++)
		sorted[i] = pmp_profile_entry(profile, i);
	qsort_r(sorted, count, sizeof(struct pmp_entry *), compare,
		(void *)(uintptr_t)profile);
	return 0;
}

int pmp_order_entries(const struct pmp_profile *profile,
		      const struct pmp_entry ***entries)
{
	return sort(profile, entries, compare_entries);
}

int pmp_order_threads(const struct pmp_profile *profile,
		      const struct pmp_entry ***entries)
{
	return sort(profile, entries, compare_threads);
}
