/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of objects. Where one lies is found when a sample is counted, from the mappings
 * alone; its module's symbols are read when it is named, and each object is named once.
 *
 * An object of a module is a location of it, with a key that no code has: the distance
 * from where the module's file is mapped, not an offset in the file, as a program's zeros
 * (.bss) are in none. They lie in anonymous memory right after the file's, and so may
 * others, even the heap: only the file tells where they end.
 */
#include <string.h>

#include "resolve/symbolizer-state.h"
#include "resolve/symbolizer.h"

#define REGIONS_MAX 64 /* from one to the first of its module */

/* ---- where it lies ------------------------------------------------------------ */

static bool is_anonymous(const struct pmp_region *region)
{
	return region->module->kind == PMP_MODULE_ANON ||
	       (region->module->kind == PMP_MODULE_SPECIAL &&
		strcmp(region->module->path, "[heap]") == 0);
}

/* That of a file which ends where these anonymous ones begin, or it itself; or NULL. */
static const struct pmp_region *file_before(const struct pmp_maps *maps,
					    const struct pmp_region *region)
{
	for (size_t i = 0; i < REGIONS_MAX; i++) {
		if (region->module->kind == PMP_MODULE_FILE)
			return region->prot & PMP_PROT_SHARED ? NULL : region;
		if (!is_anonymous(region) || region == maps->regions ||
		    region[-1].end != region->start)
			return NULL;
		region--;
	}
	return NULL;
}

/* The first region of the same file that was mapped with this one. Offsets ascend there;
 * the file may be mapped several times. */
static const struct pmp_region *first_of_file(const struct pmp_maps *maps,
					      const struct pmp_region *region)
{
	const struct pmp_region *first = region, *before = region;

	for (size_t i = 0; i < REGIONS_MAX && before != maps->regions; i++) {
		before--;
		if (before->module == first->module && before->offset <= first->offset)
			first = before;
		else if (!is_anonymous(before) || before->end != before[1].start)
			break;
	}
	return first;
}

/* The number of a place in a module. */
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
	if (is_anonymous(region) || strcmp(region->module->path, "[stack]") == 0)
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
	file = file_before(maps, region);
	if (!file)
		return;
	file = first_of_file(maps, file);
	located->location = locate_in(symbolizer, file->module,
				      address - file->start + file->offset, address);
}

/* ---- its name ----------------------------------------------------------------- */

void pmp_symbolizer_object(struct pmp_symbolizer *symbolizer,
			   const struct pmp_located_object *located,
			   struct pmp_object *object)
{
	const struct pmp_locations *locations = &symbolizer->locations;
	const struct pmp_location_key *key;

	*object = (struct pmp_object){
		.in = located->in,
		.stack_of = located->stack_of,
	};
	if (object->in == PMP_IN_HEAP || object->in == PMP_IN_STACK ||
	    object->in == PMP_IN_NOTHING)
		return;
	object->in = PMP_IN_NOTHING;
	if (!pmp_locations_has(locations, located->location))
		return;
	key = &locations->items[located->location].key;
	object->in = located->in;
	object->module = symbolizer->modules.items[key->module]->path;
	object->offset = key->address;
}
