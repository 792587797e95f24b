/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of addresses, for clients of formats without names: see libpmp-program.h. */
#include <stdlib.h>

#include "libpmp-program.h"
#include "base/alloc.h"
#include "base/error.h"
#include "report/sort.h"
#include "write/address-layout.h"

/* A location and an address at which a reader may ask for it. */
struct located_address {
	uint64_t address;
	pmp_location location;
};

struct pmp_addresses {
	struct pmp_address_layout layout;
	struct located_address *items; /* sorted by address */
	size_t count, capacity;
};

static void add(struct pmp_addresses *addresses, uint64_t address, pmp_location location)
{
	addresses->items[addresses->count++] =
		(struct located_address){ address, location };
}

static int compare(const void *a, const void *b)
{
	const struct located_address *one = a, *other = b;

	if (one->address != other->address)
		return one->address < other->address ? -1 : 1;
	return (one->location > other->location) - (one->location < other->location);
}

/* Readers subtract 1 from return addresses, and some of them from all addresses. */
static int sort_addresses(struct pmp_addresses *addresses)
{
	const struct pmp_address_layout *layout = &addresses->layout;

	if (PMP_RESERVE(&addresses->items, &addresses->capacity, 2 * layout->used_count))
		return PMP_ENOMEM;
	for (size_t i = 0; i < layout->used_count; i++) {
		const pmp_location location = layout->used[i];
		uint64_t after = pmp_layout_return_address(layout, location);

		add(addresses, after, location);
		add(addresses, after - 1, location);
	}
	if (addresses->count)
		qsort(addresses->items, addresses->count, sizeof(*addresses->items),
		      compare);
	return 0;
}

int pmp_addresses_new(const struct pmp_report *report, struct pmp_addresses **addresses,
		      struct pmp_error *err)
{
	struct pmp_addresses *new = calloc(1, sizeof(*new));
	const struct pmp_entry **entries = NULL;

	*addresses = NULL;
	if (!new)
		return pmp_error_nomem(err, "finding addresses");
	new->layout.report = report;
	if (pmp_sort_entries(report, &entries) ||
	    pmp_layout_use_all(&new->layout, entries, report->entry_count) ||
	    sort_addresses(new)) {
		free(entries);
		pmp_addresses_free(new);
		return pmp_error_nomem(err, "finding addresses");
	}
	free(entries);
	*addresses = new;
	return 0;
}

void pmp_addresses_free(struct pmp_addresses *addresses)
{
	if (!addresses)
		return;
	pmp_layout_free(&addresses->layout);
	free(addresses->items);
	free(addresses);
}

const char *pmp_addresses_name(const struct pmp_addresses *addresses, uint64_t address)
{
	const struct located_address *items = addresses->items;
	const struct pmp_frame *frames;
	size_t low = 0, high = addresses->count, count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (items[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == addresses->count || items[low].address != address)
		return NULL;
	count = pmp_report_frames(addresses->layout.report, items[low].location, &frames);
	return frames[count - 1].unnamed ? NULL : frames[count - 1].function;
}
