/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See locations.h. Open addressing, with at most half of the slots in use. */
#include "resolve/locations.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "resolve/strings.h"

#define FIRST_SLOTS 1024 /* a power of two */

const struct pmp_frame pmp_locations_unknown = {
	.function = PMP_STRINGS_UNKNOWN,
	.unnamed = true,
	.module = PMP_STRINGS_UNKNOWN,
};

static void free_frames(struct pmp_location_entry *location)
{
	if (location->frames != &pmp_locations_unknown)
		free((void *)location->frames);
}

void pmp_locations_free(struct pmp_locations *locations)
{
	for (size_t i = 0; i < locations->count; i++)
		free_frames(&locations->items[i]);
	free(locations->items);
	free(locations->slots);
	free(locations->firsts);
	free(locations->free_numbers);
	*locations = (struct pmp_locations){ 0 };
}

bool pmp_locations_has(const struct pmp_locations *locations, pmp_location number)
{
	return number < locations->count &&
	       locations->items[number].key.module != PMP_LOCATION_NONE;
}

static bool same_key(const struct pmp_location_key *a, const struct pmp_location_key *b)
{
	return a->address == b->address && a->module == b->module && a->flags == b->flags;
}

/* The slot of a place, or the free slot where it belongs. */
static size_t find_slot(const struct pmp_locations *locations,
			const struct pmp_location_key *key)
{
	const pmp_location *slots = locations->slots;
	uint64_t hash = pmp_hash_pair(&locations->hash_key, key->address,
				      (uint64_t)key->module << 32 | key->flags);
	size_t i = hash & (locations->slot_count - 1);

	while (slots[i] != PMP_LOCATION_NONE &&
	       !same_key(&locations->items[slots[i]].key, key))
		i = (i + 1) & (locations->slot_count - 1);
	return i;
}

/* Put a location into a slot and its module's list, for which there is room. */
static void link_location(struct pmp_locations *locations, pmp_location number,
			  size_t slot)
{
	struct pmp_location_entry *location = &locations->items[number];

	locations->slots[slot] = number;
	location->next = locations->firsts[location->key.module];
	locations->firsts[location->key.module] = number;
}

static void unlink_all(struct pmp_locations *locations)
{
	memset(locations->slots, 0xff, locations->slot_count * sizeof(*locations->slots));
	for (size_t i = 0; i < locations->first_count; i++)
		locations->firsts[i] = PMP_LOCATION_NONE;
}

void pmp_locations_rehash(struct pmp_locations *locations)
{
	unlink_all(locations);
	for (size_t i = 0; i < locations->count; i++) {
		if (pmp_locations_has(locations, (pmp_location)i))
			link_location(locations, (pmp_location)i,
				      find_slot(locations, &locations->items[i].key));
	}
}

static bool add_module(struct pmp_locations *locations, uint32_t module)
{
	if (PMP_RESERVE(&locations->firsts, &locations->first_capacity,
			(size_t)module + 1))
		return false;
	while (locations->first_count <= module)
		locations->firsts[locations->first_count++] = PMP_LOCATION_NONE;
	return true;
}

pmp_location pmp_locations_first(const struct pmp_locations *locations, uint32_t module)
{
	return module < locations->first_count ? locations->firsts[module]
					       : PMP_LOCATION_NONE;
}

static bool grow_slots(struct pmp_locations *locations)
{
	size_t count = locations->slot_count ? locations->slot_count * 2 : FIRST_SLOTS;
	pmp_location *slots;

	if (locations->count * 2 < locations->slot_count)
		return true;
	slots = malloc(count * sizeof(*slots));
	if (!slots)
		return false;
	if (!locations->slots)
		pmp_hash_key_make(&locations->hash_key);
	free(locations->slots);
	locations->slots = slots;
	locations->slot_count = count;
	pmp_locations_rehash(locations);
	return true;
}

/* The number for a new location: one that was given back, or the next. */
static pmp_location new_number(struct pmp_locations *locations)
{
	if (locations->free_count)
		return locations->free_numbers[--locations->free_count];
	if (locations->count >= PMP_LOCATION_NONE - 1 ||
	    PMP_RESERVE(&locations->items, &locations->capacity, locations->count + 1))
		return PMP_LOCATION_NONE;
	return (pmp_location)locations->count++;
}

pmp_location pmp_locations_find(struct pmp_locations *locations,
				const struct pmp_location_key *key,
				const struct pmp_first_address *first)
{
	pmp_location number;
	size_t slot;

	if (!grow_slots(locations) || !add_module(locations, key->module))
		return PMP_LOCATION_NONE;
	slot = find_slot(locations, key);
	if (locations->slots[slot] != PMP_LOCATION_NONE)
		return locations->slots[slot];
	number = new_number(locations);
	if (number == PMP_LOCATION_NONE)
		return number;
	locations->items[number] = (struct pmp_location_entry){
		.key = *key,
		.pc = first->pc,
		.mapping = first->mapping,
	};
	link_location(locations, number, slot);
	locations->unnamed++;
	return number;
}

void pmp_locations_name(struct pmp_locations *locations, pmp_location number,
			struct pmp_frame *frames, size_t count)
{
	struct pmp_location_entry *location = &locations->items[number];

	locations->unnamed -= !location->frame_count;
	location->frames = frames ? frames : &pmp_locations_unknown;
	location->frame_count = frames ? (uint32_t)count : 1;
	locations->frames_size += count * sizeof(*frames);
}

bool pmp_locations_reserve(struct pmp_locations *locations)
{
	return !PMP_RESERVE(&locations->free_numbers, &locations->free_capacity,
			    locations->count);
}

void pmp_locations_drop(struct pmp_locations *locations, pmp_location number)
{
	struct pmp_location_entry *location = &locations->items[number];

	locations->unnamed -= !location->frame_count;
	free_frames(location);
	*location = (struct pmp_location_entry){ .key.module = PMP_LOCATION_NONE };
	locations->free_numbers[locations->free_count++] = number;
}

uint64_t pmp_locations_size(const struct pmp_locations *locations)
{
	return locations->frames_size +
	       (locations->count - locations->free_count) *
		       (sizeof(*locations->items) + 4 * sizeof(*locations->slots));
}
