/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Entries are sorted by everything that tells them apart. Locations are compared by
 * address: their numbers depend on the order in which they came.
 */
#include "report/sort.h"

#include <stdlib.h>
#include <string.h>

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_locations(const struct pmp_report *report, pmp_location a,
			     pmp_location b)
{
	struct pmp_first_address one, other;
	int order;

	if (a == b)
		return 0;
	pmp_report_origin(report, a, &one);
	pmp_report_origin(report, b, &other);
	order = compare_numbers(one.pc, other.pc);
	if (!order)
		order = one.exact - other.exact;
	return order ? order : compare_numbers(a, b);
}

static int compare_stacks(const struct pmp_report *report, const struct pmp_entry *a,
			  const struct pmp_entry *b)
{
	size_t i = a->location_count, j = b->location_count;
	int order = 0;

	while (!order && i > 0 && j > 0)
		order = compare_locations(report, a->locations[--i], b->locations[--j]);
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

static int compare_locks(const struct pmp_lock *a, const struct pmp_lock *b)
{
	int order = strcmp(a->text, b->text);

	if (!order)
		order = a->kind - b->kind;
	if (!order)
		order = compare_numbers(a->address, b->address);
	if (!order)
		order = a->holder_is - b->holder_is;
	if (!order)
		order = strcmp(a->holder_name, b->holder_name);
	if (!order)
		order = compare_numbers(a->holder, b->holder);
	if (!order)
		order = compare_numbers(a->free_as, b->free_as);
	return order ? order : a->holder_stack - b->holder_stack;
}

static int compare_waits(const struct pmp_entry_waits *a, const struct pmp_entry_waits *b)
{
	if (!a || !b || a->lock == b->lock)
		return 0;
	if (!a->lock || !b->lock)
		return a->lock ? 1 : -1;
	return compare_locks(a->lock, b->lock);
}

static int compare_states(const struct pmp_entry *a, const struct pmp_entry *b)
{
	int order = compare_numbers(a->end, b->end);

	if (!order)
		order = strcmp(a->reason, b->reason);
	if (!order)
		order = a->state - b->state;
	if (!order)
		order = strcmp(a->syscall, b->syscall);
	if (!order)
		order = strcmp(a->wchan, b->wchan);
	return order ? order : compare_waits(a->waits, b->waits);
}

static int compare_entries(const void *a, const void *b, void *report)
{
	const struct pmp_entry *one = *(const struct pmp_entry *const *)a;
	const struct pmp_entry *other = *(const struct pmp_entry *const *)b;
	int order = compare_numbers(other->count, one->count);

	if (!order)
		order = compare_owners(one, other);
	if (!order)
		order = compare_stacks(report, one, other);
	if (!order)
		order = compare_states(one, other);
	return order;
}

static int compare_threads(const void *a, const void *b, void *report)
{
	int order = compare_owners(*(const struct pmp_entry *const *)a,
				   *(const struct pmp_entry *const *)b);

	return order ? order : compare_entries(a, b, report);
}

bool pmp_sort_same_thread(const struct pmp_entry *a, const struct pmp_entry *b)
{
	return compare_owners(a, b) == 0;
}

static int sort(const struct pmp_report *report, const struct pmp_entry ***entries,
		int (*compare)(const void *, const void *, void *))
{
	size_t count = report->entry_count;
	const struct pmp_entry **sorted = calloc(count + 1, sizeof(struct pmp_entry *));

	*entries = sorted;
	if (!sorted)
		return PMP_ENOMEM;
	for (size_t i = 0; i < count; i++)
		sorted[i] = &report->entries[i];
	qsort_r(sorted, count, sizeof(struct pmp_entry *), compare,
		(void *)(uintptr_t)report);
	return 0;
}

int pmp_sort_entries(const struct pmp_report *report, const struct pmp_entry ***entries)
{
	return sort(report, entries, compare_entries);
}

size_t pmp_sort_found(const struct pmp_report *report,
		      const struct pmp_entry *const *entries)
{
	size_t count = report->entry_count;

	while (count && !entries[count - 1]->count)
		count--;
	return count;
}

int pmp_sort_threads(const struct pmp_report *report, const struct pmp_entry ***entries)
{
	return sort(report, entries, compare_threads);
}
