/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Equal stacks are merged, whichever lock their threads waited for. */
#include "write/delays.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/intern.h"
#include "report/counted-wait.h"

/* The delay of these locations, or of a mark. NULL: no memory. */
static struct pmp_delay *find_delay(struct pmp_delays *delays,
				    const pmp_location *locations, size_t count,
				    const char *mark)
{
	uint32_t number;

	if (PMP_RESERVE(&delays->items, &delays->capacity, delays->count + 1))
		return NULL;
	/* The keys do not collide: location numbers are too small to look like text. */
	if (count)
		number = pmp_intern(delays->keys, locations, count * sizeof(*locations));
	else
		number = pmp_intern(delays->keys, mark, strlen(mark));
	if (number == PMP_INTERN_NONE)
		return NULL;
	if (number == delays->count)
		delays->items[delays->count++] = (struct pmp_delay){
			.locations = locations,
			.location_count = count,
			.mark = count ? "" : mark,
		};
	return &delays->items[number];
}

struct amount {
	uint64_t contentions, delay, samples;
};

static int add(struct pmp_delays *delays, const struct pmp_entry *entry, const char *mark,
	       struct amount amount)
{
	struct pmp_delay *delay;

	if (!amount.contentions && !amount.delay)
		return 0;
	if (mark)
		delay = find_delay(delays, NULL, 0, mark);
	else
		delay = find_delay(delays, entry->locations, entry->location_count,
				   entry->end == PMP_END_EVICTED ? "[evicted]"
								 : "[unknown]");
	if (!delay)
		return PMP_ENOMEM;
	delay->contentions = pmp_count_sum(delay->contentions, amount.contentions);
	delay->delay = pmp_count_sum(delay->delay, amount.delay);
	delay->samples = pmp_count_sum(delay->samples, amount.samples);
	return 0;
}

/* Are the waits charged to the stack of a holder? */
static bool is_charged(const struct pmp_lock *lock)
{
	return lock->holder_stack == PMP_HOLDER_STACK_KNOWN &&
	       (lock->holder_is == PMP_HOLDER_THREAD ||
		lock->holder_is == PMP_HOLDER_SELF);
}

static int add_waiter(struct pmp_delays *delays, const struct pmp_entry *entry,
		      enum pmp_delays_of of)
{
	const struct pmp_entry_waits *waits = entry->waits;
	struct pmp_counted_wait wait;
	struct amount amount;

	pmp_counted_wait_get(delays->report, entry, &wait);
	if (!wait.contended)
		return 0;
	delays->samples = pmp_count_sum(delays->samples, entry->count);
	amount = (struct amount){ waits->contentions, entry->wall, entry->count };
	if (of == PMP_DELAYS_OF_WAITERS)
		return add(delays, entry, NULL, amount);
	if (is_charged(wait.lock))
		return 0;
	amount.samples = 0;
	return add(delays, entry,
		   wait.lock->holder_stack == PMP_HOLDER_STACK_MOVED_ON
			   ? "[holder moved on]"
			   : pmp_counted_wait_holder(&wait),
		   amount);
}

/* A mark is saved as a function of no module, without an address. NULL: it is a stack. */
static const char *saved_mark(const struct pmp_report *report,
			      const struct pmp_entry *entry)
{
	const struct pmp_frame *frames;
	struct pmp_first_address origin;
	struct pmp_mapping mapping;

	if (entry->location_count != 1 ||
	    pmp_report_frames(report, entry->locations[0], &frames) != 1 ||
	    frames->unnamed)
		return NULL;
	pmp_report_origin(report, entry->locations[0], &origin);
	if (origin.pc)
		return NULL;
	pmp_report_mapping(report, origin.mapping, &mapping);
	return strcmp(mapping.path, "[unmapped]") ? NULL : frames->function;
}

static int add_entry(struct pmp_delays *delays, const struct pmp_entry *entry,
		     enum pmp_delays_of of)
{
	const struct pmp_entry_waits *waits = entry->waits;
	struct amount held;

	if (!waits)
		return 0;
	/* A saved profile of delays has only these numbers. */
	if (strcmp(delays->report->metadata.sample_type.type, "delay") == 0)
		return add(delays, entry, saved_mark(delays->report, entry),
			   (struct amount){ waits->contentions, entry->count, 0 });
	held = (struct amount){ waits->held_contentions, waits->held_delay, 0 };
	if (of == PMP_DELAYS_OF_HOLDERS && add(delays, entry, NULL, held))
		return PMP_ENOMEM;
	return add_waiter(delays, entry, of);
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* Compare addresses: location numbers depend on the order in which they were seen. */
static int compare_stacks(const struct pmp_report *report, const struct pmp_delay *a,
			  const struct pmp_delay *b)
{
	size_t i = a->location_count, j = b->location_count;
	int order = 0;

	while (!order && i && j) {
		struct pmp_first_address one, other;

		pmp_report_origin(report, a->locations[--i], &one);
		pmp_report_origin(report, b->locations[--j], &other);
		order = compare_numbers(one.pc, other.pc);
	}
	if (!order)
		order = compare_numbers(i, j);
	return order ? order : strcmp(a->mark, b->mark);
}

static int compare_delays(const void *a, const void *b, void *report)
{
	const struct pmp_delay *one = a, *other = b;
	int order = compare_numbers(other->delay, one->delay);

	if (!order)
		order = compare_numbers(other->contentions, one->contentions);
	return order ? order : compare_stacks(report, one, other);
}

int pmp_delays_make(struct pmp_delays *delays, const struct pmp_report *report,
		    enum pmp_delays_of of)
{
	*delays = (struct pmp_delays){ .report = report, .keys = pmp_intern_new() };
	if (!delays->keys)
		return PMP_ENOMEM;
	for (size_t i = 0; i < report->entry_count; i++)
		if (add_entry(delays, &report->entries[i], of))
			return PMP_ENOMEM;
	/* A wait may continue with another stack than it began with. There it was found
	 * too, but not counted; and readers divide by the count. */
	for (size_t i = 0; i < delays->count; i++)
		if (!delays->items[i].contentions)
			delays->items[i].contentions = 1;
	if (delays->count)
		qsort_r(delays->items, delays->count, sizeof(*delays->items),
			compare_delays, (void *)(uintptr_t)report);
	return 0;
}

void pmp_delays_free(struct pmp_delays *delays)
{
	pmp_intern_free(delays->keys);
	free(delays->items);
	*delays = (struct pmp_delays){ 0 };
}
