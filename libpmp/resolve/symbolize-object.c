/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of objects. Where an object is, is found when a sample is counted, from the
 * mappings alone. Its module's symbols are read when it is named, and it is named once.
 *
 * An object in a module is a location with a key that no code has: the distance from where
 * the module's file is mapped. An offset in the file would not do, as .bss is in no file.
 * It is in anonymous memory right after the file's mapping, but so may be other memory,
 * even the heap: only the file tells where .bss ends.
 */
#include <stdlib.h>
#include <string.h>

#include "resolve/symbolizer-state.h"
#include "resolve/symbolizer.h"

/* ---- where it is -------------------------------------------------------------- */

/* The first region of the same mapping of a file, of which there may be several; offsets
 * ascend within a mapping. */
static const struct pmp_region *first_of_file(const struct pmp_maps *maps,
					      const struct pmp_region *region)
{
	const struct pmp_region *first = region, *before = region;

	for (size_t i = 0; i < PMP_REGIONS_NEAR && before != maps->regions; i++) {
		before--;
		if (before->module == first->module && before->offset <= first->offset)
			first = before;
		else if (!pmp_region_is_anonymous(before) ||
			 before->end != before[1].start)
			break;
	}
	return first;
}

/* The location of a place in a module. */
static pmp_location locate_in(struct pmp_symbolizer *symbolizer,
			      struct pmp_module *module, uint64_t distance,
			      uint64_t address)
{
	const struct pmp_first_address first = { .pc = address,
						 .mapping = PMP_INTERN_NONE };
	const struct pmp_location_key key = {
		.address = distance,
		.module = pmp_dso_table_of(&symbolizer->modules, module),
		.flags = PMP_LOCATION_OBJECT,
	};

	if (key.module == PMP_LOCATION_NONE)
		return PMP_LOCATION_NONE;
	return pmp_locations_find(&symbolizer->locations, &key, &first);
}

static enum pmp_object_in lies_in(const struct pmp_region *region)
{
	if (region->prot & PMP_PROT_SHARED)
		return PMP_IN_SHARED;
	if (region->module->kind == PMP_MODULE_FILE)
		return PMP_IN_MODULE;
	if (pmp_region_is_anonymous(region) ||
	    strcmp(region->module->path, "[stack]") == 0)
		return PMP_IN_HEAP;
	return PMP_IN_NOTHING;
}

void pmp_symbolizer_locate_object(struct pmp_symbolizer *symbolizer,
				  const struct pmp_maps *maps, uint64_t address,
				  struct pmp_located_object *located)
{
	const struct pmp_region *region = pmp_maps_find(maps, address);
	const struct pmp_region *file;

	*located = (struct pmp_located_object){ .location = PMP_LOCATION_NONE };
	if (!region)
		return;
	located->in = lies_in(region);
	if (located->in == PMP_IN_SHARED) {
		located->location =
			locate_in(symbolizer, region->module,
				  address - region->start + region->offset, address);
		return;
	}
	file = pmp_maps_file_before(maps, region);
	if (!file)
		return;
	file = first_of_file(maps, file);
	located->location = locate_in(symbolizer, file->module,
				      address - file->start + file->offset, address);
}

/* ---- its name ----------------------------------------------------------------- */

/* What was found about an object is kept as the one frame of its location: .function is the
 * symbol, .address the offset in the symbol, else in the module, or one of these. */
#define BEYOND UINT64_MAX	    /* where the module's variables end */
#define UNREADABLE (UINT64_MAX - 1) /* its file cannot be read */

static void fill_frame(struct pmp_frame *frame, const struct pmp_dso_object *found,
		       int code, const struct pmp_frame *names)
{
	frame->unnamed = true;
	frame->address = code < 0 ? UNREADABLE : BEYOND;
	if (code <= 0)
		return;
	frame->address = found->address;
	if (!names->function)
		return;
	frame->function = names->function;
	frame->linkage = names->linkage;
	frame->readable = names->readable;
	/* Without memory for the symbol, keep the address in the module. */
	frame->unnamed = strcmp(frame->function, PMP_STRINGS_UNKNOWN) == 0;
	if (!frame->unnamed)
		frame->address -= found->start;
}

/* Like pmp_dso_object(). */
static int find_object(struct pmp_symbolizer *symbolizer, struct pmp_dso_entry *module,
		       uint64_t distance, struct pmp_dso_object *found)
{
	const bool lacks = pmp_dso_lacks_objects(module->dso);
	struct pmp_asked asked = { 0 };
	int code;

	if (lacks)
		pmp_state_collect_asked(symbolizer, module, true, &asked);
	pmp_state_release(symbolizer);
	if (lacks)
		pmp_dso_read_objects(module->dso, asked.places, asked.count);
	code = pmp_dso_object(module->dso, distance, found);
	pmp_state_acquire(symbolizer);
	free(asked.places);
	return code;
}

void pmp_state_finish_object(struct pmp_symbolizer *symbolizer, pmp_location number,
			     int code, const struct pmp_dso_object *found,
			     const struct pmp_frame *names)
{
	const struct pmp_location_key key = symbolizer->locations.items[number].key;
	struct pmp_frame *frame = calloc(1, sizeof(*frame));

	if (frame) {
		*frame = (struct pmp_frame){
			.function = pmp_strings_keep(&symbolizer->strings, ""),
			.module = symbolizer->modules.items[key.module]->path,
		};
		fill_frame(frame, found, code, names);
	}
	pmp_locations_name(&symbolizer->locations, number, frame, 1);
}

static void name_object(struct pmp_symbolizer *symbolizer, pmp_location number)
{
	const struct pmp_location_key key = symbolizer->locations.items[number].key;
	struct pmp_dso_entry *module = symbolizer->modules.items[key.module];
	struct pmp_dso_object found = { .name = NULL };
	struct pmp_frame names = { 0 };
	int code = PMP_EIO;

	if (pmp_state_name_remote(symbolizer, number))
		return;
	symbolizer->naming = true;
	if (module->file && !module->dso && !pmp_state_is_remote(symbolizer, module))
		pmp_state_open_module(symbolizer, module);
	if (module->dso)
		code = find_object(symbolizer, module, key.address, &found);
	if (code > 0 && found.name && pmp_state_may_name(symbolizer, module)) {
		const size_t before = symbolizer->strings.size;

		pmp_state_name_function(symbolizer, &names, found.name, found.name);
		pmp_state_count_names(symbolizer, module, before);
	}
	pmp_state_finish_object(symbolizer, number, code, &found, &names);
	symbolizer->naming = false;
}

/* Describe an object that is, or may be, in a module. */
static void describe(const struct pmp_location_entry *location, struct pmp_object *object)
{
	const struct pmp_frame *frame = location->frames;
	const bool is_known =
		frame != &pmp_locations_unknown && frame->address != UNREADABLE;

	/* Only the file tells whether this is the heap or a module's .bss. */
	if (object->in == PMP_IN_HEAP) {
		if (!is_known)
			object->in = PMP_IN_NOTHING;
		if (!is_known || frame->address == BEYOND)
			return;
		object->in = PMP_IN_MODULE;
	}
	object->offset = location->key.address;
	if (!is_known || frame->address == BEYOND)
		return;
	object->offset = frame->address;
	object->symbol = frame->unnamed ? NULL : frame->function;
}

/* Does the object have a location that tells more than the kind of memory? */
static bool has_location(const struct pmp_symbolizer *symbolizer,
			 const struct pmp_located_object *located)
{
	const struct pmp_locations *locations = &symbolizer->locations;

	return located->in != PMP_IN_NOTHING && located->in != PMP_IN_STACK &&
	       pmp_locations_has(locations, located->location) &&
	       locations->items[located->location].key.flags & PMP_LOCATION_OBJECT;
}

static bool is_to_be_named(const struct pmp_symbolizer *symbolizer,
			   const struct pmp_located_object *located)
{
	return located->in != PMP_IN_SHARED && has_location(symbolizer, located) &&
	       !symbolizer->locations.items[located->location].frame_count;
}

bool pmp_symbolizer_known_object(const struct pmp_symbolizer *symbolizer,
				 const struct pmp_located_object *located,
				 struct pmp_object *object)
{
	const struct pmp_location_entry *location;

	*object = (struct pmp_object){ .in = located->in, .stack_of = located->stack_of };
	if (located->in == PMP_IN_NOTHING || located->in == PMP_IN_STACK ||
	    (located->in == PMP_IN_HEAP && located->location == PMP_LOCATION_NONE))
		return true;
	object->in = PMP_IN_NOTHING;
	if (!has_location(symbolizer, located))
		return true;
	if (is_to_be_named(symbolizer, located))
		return false;
	object->in = located->in;
	location = &symbolizer->locations.items[located->location];
	if (located->in == PMP_IN_SHARED)
		object->offset = location->key.address;
	else
		describe(location, object);
	if (object->in == PMP_IN_MODULE || object->in == PMP_IN_SHARED)
		object->module = symbolizer->modules.items[location->key.module]->path;
	return true;
}

void pmp_symbolizer_object(struct pmp_symbolizer *symbolizer,
			   const struct pmp_located_object *located,
			   struct pmp_object *object)
{
	if (is_to_be_named(symbolizer, located) && !symbolizer->only_known)
		name_object(symbolizer, located->location);
	pmp_symbolizer_known_object(symbolizer, located, object);
}

bool pmp_state_name_object(struct pmp_symbolizer *symbolizer, pmp_location number)
{
	const struct pmp_locations *locations = &symbolizer->locations;

	if (!pmp_locations_has(locations, number) ||
	    !(locations->items[number].key.flags & PMP_LOCATION_OBJECT))
		return false;
	if (!locations->items[number].frame_count)
		name_object(symbolizer, number);
	return true;
}
