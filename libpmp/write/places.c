/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers for locations and room for mappings, see places.h. */
#include "write/places.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define PAGE UINT64_C(4096)
#define ROOM UINT64_C(0x10000) /* left below a mapping that is moved */
#define TOP_MAX (UINT64_C(1) << 62)
#define COMM_MAX 15 /* what the kernel keeps of a program's name */

/* A table of zeros that is long enough for index i. */
static int reach(uint32_t **table, size_t *count, size_t *capacity, size_t i)
{
	if (i < *count)
		return 0;
	if (PMP_RESERVE(table, capacity, i + 1))
		return PMP_ENOMEM;
	memset(*table + *count, 0, (*capacity - *count) * sizeof(**table));
	*count = *capacity;
	return 0;
}

static int use_mapping(struct pmp_places *places, uint32_t number)
{
	struct pmp_placed *placed;

	if (number == UINT32_MAX)
		return 0;
	if (reach(&places->indices, &places->index_count, &places->index_capacity,
		  number))
		return PMP_ENOMEM;
	if (places->indices[number])
		return 0;
	if (PMP_RESERVE(&places->mappings, &places->mapping_capacity,
			places->mapping_count + 1))
		return PMP_ENOMEM;
	placed = &places->mappings[places->mapping_count++];
	*placed = (struct pmp_placed){ 0 };
	pmp_report_mapping(places->report, number, &placed->mapping);
	placed->start = placed->mapping.start;
	places->indices[number] = (uint32_t)places->mapping_count;
	return 0;
}

uint32_t pmp_places_use(struct pmp_places *places, pmp_location location)
{
	struct pmp_first_address origin;

	if (reach(&places->numbers, &places->number_count, &places->number_capacity,
		  location))
		return 0;
	if (places->numbers[location])
		return places->numbers[location];
	pmp_report_origin(places->report, location, &origin);
	if (use_mapping(places, origin.mapping) ||
	    PMP_RESERVE(&places->used, &places->used_capacity, places->used_count + 1))
		return 0;
	places->used[places->used_count++] = location;
	places->numbers[location] = (uint32_t)places->used_count;
	return places->numbers[location];
}

/* How much a file looks like the program: its name, no library, at least a file. */
static int likeness(const char *path, const char *process)
{
	const char *slash = strrchr(path, '/');
	size_t length = strlen(process);

	if (!slash)
		return 0;
	if (length && (length >= COMM_MAX ? !strncmp(slash + 1, process, length)
					  : !strcmp(slash + 1, process)))
		return 3;
	return strstr(slash, ".so") ? 1 : 2;
}

static void swap_mappings(struct pmp_places *places, size_t a, size_t b)
{
	struct pmp_placed other = places->mappings[a];

	places->mappings[a] = places->mappings[b];
	places->mappings[b] = other;
	for (size_t i = 0; i < places->index_count; i++) {
		if (places->indices[i] == a + 1)
			places->indices[i] = (uint32_t)b + 1;
		else if (places->indices[i] == b + 1)
			places->indices[i] = (uint32_t)a + 1;
	}
}

static int compare_starts(const void *a, const void *b)
{
	const struct pmp_placed *one = *(const struct pmp_placed *const *)a;
	const struct pmp_placed *other = *(const struct pmp_placed *const *)b;

	if (one->mapping.start != other->mapping.start)
		return one->mapping.start < other->mapping.start ? -1 : 1;
	return (one > other) - (one < other);
}

/* In the order of their addresses; what overlaps goes beyond the last of all. */
static void make_room(struct pmp_placed **sorted, size_t count)
{
	uint64_t end = 0, top = 0;

	for (size_t i = 0; i < count; i++)
		if (sorted[i]->mapping.end > top && sorted[i]->mapping.end < TOP_MAX)
			top = sorted[i]->mapping.end;
	for (size_t i = 0; i < count; i++) {
		struct pmp_mapping *mapping = &sorted[i]->mapping;
		uint64_t size = mapping->end - mapping->start;

		if (mapping->start >= mapping->end)
			continue;
		if (mapping->start < end && size < TOP_MAX && top < TOP_MAX) {
			mapping->start =
				(top + ROOM) / PAGE * PAGE + mapping->start % PAGE;
			mapping->end = mapping->start + size;
			top = mapping->end;
		} else if (mapping->end > end) {
			end = mapping->end;
		}
	}
}

int pmp_places_settle(struct pmp_places *places, const char *process)
{
	size_t count = places->mapping_count, program = 0;
	struct pmp_placed **sorted = calloc(count + 1, sizeof(*sorted));
	int best = -1;

	if (!sorted)
		return PMP_ENOMEM;
	for (size_t i = 0; i < count; i++) {
		int like = likeness(places->mappings[i].mapping.path, process);

		if (like > best) {
			best = like;
			program = i;
		}
	}
	if (program)
		swap_mappings(places, 0, program);
	for (size_t i = 0; i < count; i++)
		sorted[i] = &places->mappings[i];
	qsort(sorted, count, sizeof(*sorted), compare_starts);
	make_room(sorted, count);
	free(sorted);
	return 0;
}

uint64_t pmp_places_address(const struct pmp_places *places, pmp_location location,
			    bool *exact, size_t *mapping)
{
	const struct pmp_placed *placed;
	struct pmp_first_address origin;

	pmp_report_origin(places->report, location, &origin);
	*exact = origin.exact;
	*mapping = SIZE_MAX;
	if (origin.mapping >= places->index_count || !places->indices[origin.mapping])
		return origin.pc;
	*mapping = places->indices[origin.mapping] - 1;
	placed = &places->mappings[*mapping];
	if (!strcmp(placed->mapping.path, "[unmapped]"))
		*mapping = SIZE_MAX;
	return origin.pc - placed->start + placed->mapping.start;
}

void pmp_places_free(struct pmp_places *places)
{
	free(places->numbers);
	free(places->used);
	free(places->indices);
	free(places->mappings);
	*places = (struct pmp_places){ .report = places->report };
}
