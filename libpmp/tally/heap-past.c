/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tally/heap-past.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define OFTEN PMP_S	    /* between two recent moments */
#define SELDOM (5 * PMP_S)  /* between two older ones */
#define RECENT (10 * PMP_S) /* age up to which a moment is recent */
#define LONGEST (60 * PMP_S)

static void drop(struct pmp_heap_past *past, size_t i)
{
	free(past->moments[i].was);
	past->count--;
	memmove(&past->moments[i], &past->moments[i + 1],
		(past->count - i) * sizeof(*past->moments));
}

void pmp_heap_past_clear(struct pmp_heap_past *past)
{
	while (past->count)
		drop(past, past->count - 1);
}

void pmp_heap_past_free(struct pmp_heap_past *past)
{
	pmp_heap_past_clear(past);
}

bool pmp_heap_past_is_due(const struct pmp_heap_past *past, uint64_t from)
{
	const struct pmp_heap_moment *last;

	if (!past->count)
		return true;
	last = &past->moments[past->count - 1];
	return from >= last->from && from - last->from >= OFTEN;
}

/* Can moment i be dropped? The moment before it is used instead; its neighbours must not be
 * too far apart. */
static bool is_spare(const struct pmp_heap_past *past, size_t i, uint64_t now)
{
	const struct pmp_heap_moment *moments = past->moments;

	if (i == 0)
		return past->count > 1 && now - moments[1].from >= LONGEST;
	return i + 1 < past->count && now - moments[i + 1].from > RECENT &&
	       moments[i + 1].from - moments[i - 1].from <= SELDOM;
}

static void thin_out(struct pmp_heap_past *past, uint64_t now)
{
	for (size_t i = past->count; i-- > 0;)
		if (is_spare(past, i, now))
			drop(past, i);
	/* The times may be made up by a process, so enforce the limit in any case. */
	if (past->count == PMP_HEAP_MOMENTS)
		drop(past, 1);
}

int pmp_heap_past_keep(struct pmp_heap_past *past, uint64_t from,
		       const struct pmp_heap_exact *exact,
		       const struct pmp_entries *entries)
{
	struct pmp_heap_moment moment = { .from = from,
					  .exact = *exact,
					  .count = entries->count };

	moment.was = calloc(moment.count + 1, sizeof(*moment.was));
	if (!moment.was)
		return PMP_ENOMEM;
	for (size_t i = 0; i < moment.count; i++) {
		const struct pmp_heap_sums *sums = entries->all[i].heap;

		moment.was[i] = (struct pmp_heap_was){
			.alloc_parts = sums->alloc_parts,
			.alloc_bytes = sums->alloc_bytes,
			.live_parts = sums->live_parts,
			.live_bytes = sums->live_bytes,
		};
	}
	thin_out(past, from);
	past->moments[past->count++] = moment;
	return 0;
}

const struct pmp_heap_moment *pmp_heap_past_at(const struct pmp_heap_past *past,
					       uint64_t time)
{
	size_t i = past->count;

	while (i > 1 && past->moments[i - 1].from > time)
		i--;
	return i ? &past->moments[i - 1] : NULL;
}

uint64_t pmp_heap_past_size(const struct pmp_heap_past *past)
{
	uint64_t size = 0;

	for (size_t i = 0; i < past->count; i++)
		size += past->moments[i].count * sizeof(*past->moments[i].was);
	return size;
}
