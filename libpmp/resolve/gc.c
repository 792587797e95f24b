/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bounded memory: locations that are in no stack any more are forgotten, with their names,
 * modules and mappings. What is still used is copied to new tables, and the old ones are
 * freed.
 */
#include <stdlib.h>

#include "libpmp-program.h"
#include "resolve/symbolizer-state.h"
#include "resolve/symbolizer.h"

#define MODULE_SIZE 131072 /* assumed for a module: it also takes a descriptor */

void pmp_symbolizer_attach(struct pmp_symbolizer *symbolizer)
{
	if (symbolizer)
		symbolizer->users++;
}

void pmp_symbolizer_detach(struct pmp_symbolizer *symbolizer)
{
	if (symbolizer)
		symbolizer->users--;
}

uint64_t pmp_symbolizer_size(const struct pmp_symbolizer *symbolizer)
{
	if (!symbolizer)
		return 0;
	return pmp_intern_size(symbolizer->strings.kept) +
	       pmp_intern_size(symbolizer->regions) + pmp_intern_size(symbolizer->names) +
	       symbolizer->modules.count * MODULE_SIZE +
	       pmp_locations_size(&symbolizer->locations);
}

size_t pmp_symbolizer_location_count(const struct pmp_symbolizer *symbolizer)
{
	return symbolizer->locations.count;
}

static void drop_unused(struct pmp_locations *locations, const bool *used)
{
	for (size_t i = 0; i < locations->count; i++) {
		if (!used[i] && pmp_locations_has(locations, (pmp_location)i))
			pmp_locations_drop(locations, (pmp_location)i);
	}
}

/* Drop modules without a location. new[i] becomes the new number of module i. */
static void collect_modules(struct pmp_symbolizer *symbolizer, uint32_t *new)
{
	const struct pmp_locations *locations = &symbolizer->locations;

	for (size_t i = 0; i < symbolizer->modules.count; i++)
		new[i] = PMP_LOCATION_NONE;
	for (size_t i = 0; i < locations->count; i++) {
		if (pmp_locations_has(locations, (pmp_location)i))
			new[locations->items[i].key.module] = 0;
	}
	for (size_t i = 0; i < symbolizer->modules.count; i++) {
		struct pmp_dso_entry *module = symbolizer->modules.items[i];

		if (new[i] == PMP_LOCATION_NONE && module->remote)
			pmp_remote_close(&symbolizer->remote, module->remote);
	}
	pmp_dso_table_gc(&symbolizer->modules, new);
}

/* Set the new numbers of modules and mappings in locations. A mapping is in the module of
 * its locations. */
static void renumber(struct pmp_symbolizer *symbolizer, const struct pmp_intern *old,
		     const uint32_t *new)
{
	const struct pmp_locations *locations = &symbolizer->locations;

	for (size_t i = 0; i < locations->count; i++) {
		struct pmp_location_entry *location = &locations->items[i];
		const struct pmp_mapping_key *region;
		struct pmp_mapping_key mapping_key;

		if (!pmp_locations_has(locations, (pmp_location)i))
			continue;
		location->key.module = new[location->key.module];
		region = pmp_intern_data(old, location->mapping, NULL);
		if (!region)
			continue;
		mapping_key = *region;
		mapping_key.module = location->key.module;
		location->mapping = pmp_intern(symbolizer->regions, &mapping_key,
					       sizeof(mapping_key));
	}
}

static void keep_frame(struct pmp_strings *strings, struct pmp_frame *frame,
		       const char *module)
{
	frame->function = pmp_strings_keep(strings, frame->function);
	if (frame->linkage)
		frame->linkage = pmp_strings_keep(strings, frame->linkage);
	if (frame->readable)
		frame->readable = pmp_strings_keep(strings, frame->readable);
	if (frame->file)
		frame->file = pmp_strings_keep(strings, frame->file);
	frame->module = module;
}

/* Copy the strings that frames still use; modules have copied theirs. */
static void collect_strings(struct pmp_symbolizer *symbolizer)
{
	const struct pmp_dso_table *modules = &symbolizer->modules;
	struct pmp_locations *locations = &symbolizer->locations;
	struct pmp_strings *strings = &symbolizer->strings;

	locations->frames_size = 0;
	for (size_t i = 0; i < modules->count; i++)
		modules->items[i]->names_size = 0;
	for (size_t i = 0; i < locations->count; i++) {
		const struct pmp_location_entry *location = &locations->items[i];
		struct pmp_frame *frames = (struct pmp_frame *)location->frames;
		const size_t before = strings->size;
		struct pmp_dso_entry *module;

		/* A dropped location has no frames, nor a module. */
		if (!frames || frames == &pmp_locations_unknown)
			continue;
		module = modules->items[location->key.module];
		for (uint32_t k = 0; k < location->frame_count; k++)
			keep_frame(strings, &frames[k], module->path);
		pmp_state_count_names(symbolizer, module, before);
		locations->frames_size += location->frame_count * sizeof(*frames);
	}
}

bool pmp_symbolizer_gc(struct pmp_symbolizer *symbolizer, const bool *used)
{
	struct pmp_intern *strings = symbolizer->strings.kept;
	struct pmp_intern *regions = symbolizer->regions;
	struct pmp_intern *new_strings, *new_regions;
	uint32_t *new;

	if (symbolizer->users > 1 || symbolizer->naming || !symbolizer->locations.count ||
	    !pmp_locations_reserve(&symbolizer->locations))
		return false;
	new_strings = pmp_intern_new();
	new_regions = pmp_intern_new();
	new = calloc(symbolizer->modules.count + 1, sizeof(*new));
	if (!new_strings || !new_regions || !new) {
		pmp_intern_free(new_strings);
		pmp_intern_free(new_regions);
		free(new);
		return false;
	}
	drop_unused(&symbolizer->locations, used);
	symbolizer->strings.kept = new_strings;
	symbolizer->strings.size = 0;
	symbolizer->regions = new_regions;
	collect_modules(symbolizer, new);
	renumber(symbolizer, regions, new);
	collect_strings(symbolizer);
	pmp_locations_rehash(&symbolizer->locations);
	pmp_intern_free(strings);
	pmp_intern_free(regions);
	free(new);
	return true;
}
