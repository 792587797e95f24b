/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers locations and places mappings, see address-layout.h. */
#include "write/address-layout.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "write/names.h"

#define PAGE UINT64_C(4096)
#define ROOM UINT64_C(0x10000) /* gap below a mapping that is moved */
#define TOP_MAX (UINT64_C(1) << 62)
#define COMM_MAX 15 /* length to which the kernel cuts a program's name */

/* Extend a table with zeros so that index i exists. */
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

static int use_mapping(struct pmp_address_layout *layout, uint32_t number)
{
	struct pmp_placed_mapping *placed;

	if (number == UINT32_MAX)
		return 0;
	if (reach(&layout->indices, &layout->index_count, &layout->index_capacity,
		  number))
		return PMP_ENOMEM;
	if (layout->indices[number])
		return 0;
	if (PMP_RESERVE(&layout->mappings, &layout->mapping_capacity,
			layout->mapping_count + 1))
		return PMP_ENOMEM;
	placed = &layout->mappings[layout->mapping_count++];
	*placed = (struct pmp_placed_mapping){ 0 };
	pmp_report_mapping(layout->report, number, &placed->mapping);
	placed->start = placed->mapping.start;
	layout->indices[number] = (uint32_t)layout->mapping_count;
	return 0;
}

uint32_t pmp_layout_use(struct pmp_address_layout *layout, pmp_location location)
{
	struct pmp_first_address origin;

	if (reach(&layout->numbers, &layout->number_count, &layout->number_capacity,
		  location))
		return 0;
	if (layout->numbers[location])
		return layout->numbers[location];
	pmp_report_origin(layout->report, location, &origin);
	if (use_mapping(layout, origin.mapping) ||
	    PMP_RESERVE(&layout->used, &layout->used_capacity, layout->used_count + 1))
		return 0;
	layout->used[layout->used_count++] = location;
	layout->numbers[location] = (uint32_t)layout->used_count;
	return layout->numbers[location];
}

/* How likely a file is the program: by name, else not a library, else at least a file. */
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

static void swap_mappings(struct pmp_address_layout *layout, size_t a, size_t b)
{
	struct pmp_placed_mapping other = layout->mappings[a];

	layout->mappings[a] = layout->mappings[b];
	layout->mappings[b] = other;
	for (size_t i = 0; i < layout->index_count; i++) {
		if (layout->indices[i] == a + 1)
			layout->indices[i] = (uint32_t)b + 1;
		else if (layout->indices[i] == b + 1)
			layout->indices[i] = (uint32_t)a + 1;
	}
}

static int compare_starts(const void *a, const void *b)
{
	const struct pmp_placed_mapping *one =
		*(const struct pmp_placed_mapping *const *)a;
	const struct pmp_placed_mapping *other =
		*(const struct pmp_placed_mapping *const *)b;

	if (one->mapping.start != other->mapping.start)
		return one->mapping.start < other->mapping.start ? -1 : 1;
	return (one > other) - (one < other);
}

/* Go through mappings by address; one that overlaps moves above all others. */
static void make_room(struct pmp_placed_mapping **sorted, size_t count)
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

int pmp_layout_settle(struct pmp_address_layout *layout, const char *process)
{
	size_t count = layout->mapping_count, program = 0;
	struct pmp_placed_mapping **sorted = calloc(count + 1, sizeof(*sorted));
	int best = -1;

	if (!sorted)
		return PMP_ENOMEM;
	for (size_t i = 0; i < count; i++) {
		int like = likeness(layout->mappings[i].mapping.path, process);

		if (like > best) {
			best = like;
			program = i;
		}
	}
	if (program)
		swap_mappings(layout, 0, program);
	for (size_t i = 0; i < count; i++)
		sorted[i] = &layout->mappings[i];
	qsort(sorted, count, sizeof(*sorted), compare_starts);
	make_room(sorted, count);
	free(sorted);
	return 0;
}

uint64_t pmp_layout_address(const struct pmp_address_layout *layout,
			    pmp_location location, bool *exact, size_t *mapping)
{
	const struct pmp_placed_mapping *placed;
	struct pmp_first_address origin;

	pmp_report_origin(layout->report, location, &origin);
	*exact = origin.exact;
	*mapping = SIZE_MAX;
	if (origin.mapping >= layout->index_count || !layout->indices[origin.mapping])
		return origin.pc;
	*mapping = layout->indices[origin.mapping] - 1;
	placed = &layout->mappings[*mapping];
	if (!strcmp(placed->mapping.path, "[unmapped]"))
		*mapping = SIZE_MAX;
	return origin.pc - placed->start + placed->mapping.start;
}

uint64_t pmp_layout_pc(const struct pmp_address_layout *layout, pmp_location location)
{
	size_t mapping;
	bool exact;
	uint64_t pc = pmp_layout_address(layout, location, &exact, &mapping);

	return pc ? pc : PMP_LAYOUT_NOWHERE;
}

uint64_t pmp_layout_return_address(const struct pmp_address_layout *layout,
				   pmp_location location)
{
	size_t mapping;
	bool exact;
	uint64_t pc = pmp_layout_address(layout, location, &exact, &mapping) + exact;

	return pc ? pc : PMP_LAYOUT_NOWHERE;
}

/* A path as in /proc/PID/maps: only a newline must be escaped. */
static void put_path(struct pmp_buf *buf, const char *path)
{
	for (; *path; path++)
		if (*path == '\n')
			pmp_buf_puts(buf, "\\012");
		else
			pmp_buf_putc(buf, *path);
}

void pmp_layout_put_maps(const struct pmp_address_layout *layout, bool words,
			 struct pmp_buf *buf)
{
	for (size_t i = 0; i < layout->mapping_count; i++) {
		const struct pmp_mapping *mapping = &layout->mappings[i].mapping;

		if (mapping->start >= mapping->end)
			continue;
		pmp_buf_printf(buf, "%" PRIx64 "-%" PRIx64 " r-xp %08" PRIx64 " 00:00 0 ",
			       mapping->start, mapping->end, mapping->offset);
		(words ? pmp_name_path : put_path)(buf, mapping->path);
		pmp_buf_putc(buf, '\n');
	}
}

int pmp_layout_use_all(struct pmp_address_layout *layout,
		       const struct pmp_entry *const *entries, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < entries[i]->location_count; k++)
			if (!pmp_layout_use(layout, entries[i]->locations[k]))
				return PMP_ENOMEM;
	return pmp_layout_settle(layout, count ? entries[0]->process : "");
}

void pmp_layout_free(struct pmp_address_layout *layout)
{
	free(layout->numbers);
	free(layout->used);
	free(layout->indices);
	free(layout->mappings);
	*layout = (struct pmp_address_layout){ .report = layout->report };
}
