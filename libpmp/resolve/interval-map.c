/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Flattening overlapping ranges: one sweep over the ranges in ascending order, with
 * a heap of open ranges, the winner on top. A range that ends while it is below the
 * top is dropped when it gets there.
 */
#include "resolve/interval-map.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/search.h"
#include "libpmp.h"

struct sweep {
	const struct pmp_interval *ranges;
	uint32_t *heap; /* indexes of open ranges */
	size_t depth;
	struct pmp_interval_step *steps;
	size_t count;
};

int pmp_intervals_add(struct pmp_intervals *ranges, const struct pmp_interval *range)
{
	if (range->start >= range->end)
		return 0;
	if (ranges->count >= UINT32_MAX - 1 ||
	    PMP_RESERVE(&ranges->items, &ranges->capacity, ranges->count + 1))
		return PMP_ENOMEM;
	ranges->items[ranges->count++] = *range;
	return 0;
}

void pmp_intervals_free(struct pmp_intervals *ranges)
{
	free(ranges->items);
	*ranges = (struct pmp_intervals){ 0 };
}

static int by_start(const void *a, const void *b)
{
	const struct pmp_interval *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

static bool sorted(const struct pmp_intervals *ranges)
{
	for (size_t i = 1; i < ranges->count; i++) {
		if (by_start(&ranges->items[i - 1], &ranges->items[i]) > 0)
			return false;
	}
	return true;
}

static bool beats(const struct sweep *sweep, size_t a, size_t b)
{
	return sweep->ranges[sweep->heap[a]].rank > sweep->ranges[sweep->heap[b]].rank;
}

static void swap(struct sweep *sweep, size_t a, size_t b)
{
	uint32_t kept = sweep->heap[a];

	sweep->heap[a] = sweep->heap[b];
	sweep->heap[b] = kept;
}

static void push(struct sweep *sweep, uint32_t range)
{
	size_t i = sweep->depth++;

	sweep->heap[i] = range;
	for (; i > 0 && beats(sweep, i, (i - 1) / 2); i = (i - 1) / 2)
		swap(sweep, i, (i - 1) / 2);
}

static void pop(struct sweep *sweep)
{
	size_t i = 0;

	sweep->heap[0] = sweep->heap[--sweep->depth];
	for (;;) {
		size_t best = i, left = 2 * i + 1;

		if (left < sweep->depth && beats(sweep, left, best))
			best = left;
		if (left + 1 < sweep->depth && beats(sweep, left + 1, best))
			best = left + 1;
		if (best == i)
			return;
		swap(sweep, i, best);
		i = best;
	}
}

static const struct pmp_interval *top(const struct sweep *sweep)
{
	return sweep->depth ? &sweep->ranges[sweep->heap[0]] : NULL;
}

/* From `at` on, the range on top of the heap wins. */
static void emit(struct sweep *sweep, uint64_t at)
{
	uint32_t value = sweep->depth ? top(sweep)->value : PMP_INTERVAL_NONE;

	if (sweep->count && sweep->steps[sweep->count - 1].start == at)
		sweep->count--;
	if (sweep->count && sweep->steps[sweep->count - 1].value == value)
		return;
	sweep->steps[sweep->count++] =
		(struct pmp_interval_step){ .start = at, .value = value };
}

/* Close the ranges that end at or before an address. */
static void advance(struct sweep *sweep, uint64_t to)
{
	while (sweep->depth && top(sweep)->end <= to) {
		uint64_t at = top(sweep)->end;

		while (sweep->depth && top(sweep)->end <= at)
			pop(sweep);
		emit(sweep, at);
	}
}

int pmp_intervals_flatten(struct pmp_intervals *ranges, struct pmp_interval_map *steps)
{
	struct sweep sweep = { .ranges = ranges->items };
	size_t count = ranges->count;

	/* A range makes at most two steps: where it begins and where it ends. */
	sweep.heap = malloc(count * sizeof(*sweep.heap) + 1);
	sweep.steps = malloc(count * 2 * sizeof(*sweep.steps) + 1);
	if (!sweep.heap || !sweep.steps) {
		free(sweep.heap);
		free(sweep.steps);
		return PMP_ENOMEM;
	}
	if (!sorted(ranges))
		qsort(ranges->items, count, sizeof(*ranges->items), by_start);
	for (size_t i = 0; i < count; i++) {
		if (ranges->items[i].start >= ranges->items[i].end)
			continue;
		advance(&sweep, ranges->items[i].start);
		push(&sweep, (uint32_t)i);
		emit(&sweep, ranges->items[i].start);
	}
	advance(&sweep, UINT64_MAX);
	free(sweep.heap);
	free(steps->items);
	steps->items = realloc(sweep.steps, sweep.count * sizeof(*sweep.steps) + 1);
	if (!steps->items)
		steps->items = sweep.steps;
	steps->count = sweep.count;
	return 0;
}

/* The value from `at` on, where the next step may be. */
static uint32_t value_at(const struct pmp_interval_map *steps, size_t *next, uint64_t at,
			 uint32_t before)
{
	if (*next < steps->count && steps->items[*next].start == at)
		return steps->items[(*next)++].value;
	return before;
}

int pmp_interval_map_overlay(struct pmp_interval_map *older,
			     const struct pmp_interval_map *newer)
{
	uint32_t below = PMP_INTERVAL_NONE, above = PMP_INTERVAL_NONE,
		 last = PMP_INTERVAL_NONE;
	struct pmp_interval_map merged = { 0 };
	size_t i = 0, k = 0;

	merged.items = malloc((older->count + newer->count) * sizeof(*merged.items) + 1);
	if (!merged.items)
		return PMP_ENOMEM;
	while (i < older->count || k < newer->count) {
		uint64_t at = i < older->count ? older->items[i].start : UINT64_MAX;

		if (k < newer->count && newer->items[k].start < at)
			at = newer->items[k].start;
		below = value_at(older, &i, at, below);
		above = value_at(newer, &k, at, above);
		if (last == (above == PMP_INTERVAL_NONE ? below : above))
			continue;
		last = above == PMP_INTERVAL_NONE ? below : above;
		merged.items[merged.count++] = (struct pmp_interval_step){ at, last };
	}
	pmp_interval_map_free(older);
	*older = merged;
	return 0;
}

uint32_t pmp_interval_map_find(const struct pmp_interval_map *steps, uint64_t address)
{
	size_t after = pmp_search_after(steps->items, steps->count, sizeof(*steps->items),
					address);

	return after ? steps->items[after - 1].value : PMP_INTERVAL_NONE;
}

void pmp_interval_map_free(struct pmp_interval_map *steps)
{
	free(steps->items);
	*steps = (struct pmp_interval_map){ 0 };
}
