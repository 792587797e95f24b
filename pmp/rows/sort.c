/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Merge sort from the bottom up: runs of equal length are merged in pairs. */
#include "rows/sort.h"

#include <stdlib.h>
#include <string.h>

#include "run/clock.h"

#define AT_ONCE 8192 /* ranks merged between two readings of the clock */

bool sort_begin(struct sorter *sort, size_t room)
{
	sort_free(sort);
	sort->ranks = calloc(room + 1, sizeof(*sort->ranks));
	sort->other = calloc(room + 1, sizeof(*sort->other));
	sort->width = 1;
	return sort->ranks && sort->other;
}

void sort_free(struct sorter *sort)
{
	free(sort->ranks);
	free(sort->other);
	*sort = (struct sorter){ 0 };
}

static bool comes_first(const struct sorter *sort, const struct rank *a,
			const struct rank *b)
{
	int order;

	if (a->order != b->order)
		return a->order < b->order;
	order = sort->compare ? sort->compare(sort->arg, a->row, b->row) : 0;
	if (order)
		return order < 0;
	if (a->count != b->count)
		return a->count < b->count;
	return a->tie <= b->tie;
}

/* Merge two adjacent runs into the other array. */
static void merge(const struct sorter *sort, size_t begin, size_t middle, size_t end)
{
	const struct rank *ranks = sort->ranks;
	size_t left = begin, right = middle;

	for (size_t to = begin; to < end; to++) {
		bool first =
			right >= end ||
			(left < middle && comes_first(sort, &ranks[left], &ranks[right]));

		sort->other[to] = ranks[first ? left++ : right++];
	}
}

bool sort_go_on(struct sorter *sort, uint64_t until)
{
	size_t merged = 0;

	while (sort->width < sort->count) {
		size_t middle = sort->begin + sort->width, end = middle + sort->width;
		struct rank *ranks = sort->ranks;

		middle = middle < sort->count ? middle : sort->count;
		end = end < sort->count ? end : sort->count;
		merge(sort, sort->begin, middle, end);
		merged += end - sort->begin;
		sort->begin = end;
		if (end == sort->count) {
			sort->ranks = sort->other;
			sort->other = ranks;
			sort->width *= 2;
			sort->begin = 0;
		}
		if (merged >= AT_ONCE && clock_is_past(until))
			return false;
		merged = merged >= AT_ONCE ? 0 : merged;
	}
	return true;
}
