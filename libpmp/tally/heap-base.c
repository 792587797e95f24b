/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tally/heap-base.h"

#include <stdlib.h>

#include "base/clock.h"

int pmp_heap_base_new(struct pmp_heap_base **first, const struct pmp_entries *entries,
		      struct pmp_heap_base **base)
{
	struct pmp_heap_base *new = calloc(1, sizeof(*new));

	if (!new)
		return PMP_ENOMEM;
	new->counts = calloc(entries->count + 1, sizeof(*new->counts));
	if (!new->counts) {
		free(new);
		return PMP_ENOMEM;
	}
	new->count = entries->count;
	for (size_t i = 0; i < new->count; i++)
		new->counts[i] = pmp_heap_counts_of(entries->all[i].heap);
	new->time = pmp_clock();
	new->realtime = pmp_clock_realtime();
	new->link = first;
	new->next = *first;
	if (new->next)
		new->next->link = &new->next;
	*first = new;
	*base = new;
	return 0;
}

void pmp_heap_base_free(struct pmp_heap_base *base)
{
	if (!base)
		return;
	if (base->link)
		*base->link = base->next;
	if (base->next)
		base->next->link = base->link;
	free(base->counts);
	free(base);
}

void pmp_heap_base_apply(const struct pmp_heap_base *base,
			 const struct pmp_entries *entries)
{
	const size_t count = base ? base->count : 0;

	for (size_t i = 0; i < entries->count; i++)
		entries->all[i].heap->then =
			i < count ? base->counts[i] : (struct pmp_heap_counts){ 0 };
}

static void renumber(struct pmp_heap_base *base, const uint32_t *numbers)
{
	size_t count = 0;

	/* numbers[i] <= i, so nothing is overwritten before it is read. */
	for (size_t i = 0; i < base->count; i++) {
		const struct pmp_heap_counts counts = base->counts[i];

		base->counts[i] = (struct pmp_heap_counts){ 0 };
		pmp_heap_counts_add(&base->counts[numbers[i]], &counts);
		if (numbers[i] >= count)
			count = numbers[i] + 1;
	}
	base->count = count;
}

void pmp_heap_bases_renumber(struct pmp_heap_base *first, const uint32_t *numbers)
{
	for (; first; first = first->next)
		renumber(first, numbers);
}

uint64_t pmp_heap_bases_size(const struct pmp_heap_base *first)
{
	uint64_t size = 0;

	for (; first; first = first->next)
		size += first->count * sizeof(*first->counts);
	return size;
}

void pmp_heap_bases_detach(struct pmp_heap_base *first)
{
	while (first) {
		struct pmp_heap_base *next = first->next;

		first->link = NULL;
		first->next = NULL;
		first = next;
	}
}
