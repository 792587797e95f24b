/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Locations and their names. Counting a sample costs one hash lookup a frame;
 * files are opened and names looked up when the first frame of a module is to be
 * shown, and each location once. No process is needed any more by then.
 */
#include "resolve/symbolizer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "resolve/naming.h"
#include "resolve/opening.h"
#include "resolve/state.h"

#define DEBUG_DIR "/usr/lib/debug"

/* ---- life --------------------------------------------------------------- */

int pmp_symbolizer_new(const struct pmp_symbolizer_options *options,
		       struct pmp_symbolizer **symbolizer, struct pmp_error *err)
{
	struct pmp_symbolizer *made = calloc(1, sizeof(*made));
	const char *debug_dir = DEBUG_DIR;

	*symbolizer = NULL;
	if (!made)
		return pmp_error_nomem(err, "making a symbolizer");
	if (options) {
		size_t size = options->size < sizeof(*options) ? options->size
							       : sizeof(*options);

		memcpy(&made->options, options, size);
	}
	if (made->options.debug_dir)
		debug_dir = made->options.debug_dir;
	made->log = (struct pmp_log){ made->options.log, made->options.log_arg };
	pmp_modules_init(&made->modules, &made->strings);
	made->debug_dir = strdup(debug_dir);
	made->symfs = strdup(made->options.symfs ? made->options.symfs : "");
	made->strings.kept = pmp_intern_new();
	made->regions = pmp_intern_new();
	made->names = pmp_intern_new();
	if (!made->debug_dir || !made->symfs || !made->strings.kept || !made->regions ||
	    !made->names) {
		pmp_symbolizer_free(made);
		return pmp_error_nomem(err, "making a symbolizer");
	}
	*symbolizer = made;
	return 0;
}

void pmp_symbolizer_free(struct pmp_symbolizer *symbolizer)
{
	if (!symbolizer)
		return;
	pmp_locations_free(&symbolizer->locations);
	pmp_modules_free(&symbolizer->modules);
	pmp_strings_free(&symbolizer->strings);
	pmp_intern_free(symbolizer->regions);
	pmp_intern_free(symbolizer->names);
	free(symbolizer->debug_dir);
	free(symbolizer->symfs);
	free(symbolizer);
}

/* ---- locations ---------------------------------------------------------- */

/* The module of a region, or of the perf map if code that a JIT compiler made is there.
 */
static uint32_t module_at(struct pmp_symbolizer *symbolizer, const struct pmp_maps *maps,
			  const struct pmp_region *region)
{
	struct pmp_modules *modules = &symbolizer->modules;
	uint32_t module = pmp_modules_of(modules, region ? region->module : NULL);

	if (!region || module == PMP_LOCATION_NONE || modules->items[module]->file ||
	    region->module->kind == PMP_MODULE_KERNEL || !maps->jitmap)
		return module;
	return pmp_modules_of(modules, maps->jitmap);
}

pmp_location pmp_symbolizer_locate(struct pmp_symbolizer *symbolizer,
				   const struct pmp_maps *maps,
				   const struct pmp_raw_frame *frame)
{
	/* The call may be the last instruction of its region. */
	uint64_t lookup = frame->pc - !(frame->flags & PMP_FRAME_EXACT);
	const struct pmp_region *region = maps ? pmp_maps_find(maps, lookup) : NULL;
	struct pmp_spot spot = {
		.address = frame->pc,
		.module = module_at(symbolizer, maps, region),
		.flags = (uint32_t)(frame->flags & (PMP_FRAME_EXACT | PMP_FRAME_SIGNAL)),
	};
	struct pmp_region_key key = { .module = spot.module };
	struct pmp_origin origin = { .pc = frame->pc };
	struct pmp_known_module *module;
	pmp_location number;

	if (spot.module == PMP_LOCATION_NONE)
		return PMP_LOCATION_NONE;
	module = symbolizer->modules.items[spot.module];
	if (region) {
		key.start = region->start;
		key.end = region->end;
		key.offset = region->offset;
		if (module->file)
			spot.address = frame->pc - region->start + region->offset;
	}
	origin.mapping = pmp_intern(symbolizer->regions, &key, sizeof(key));
	if (origin.mapping == PMP_INTERN_NONE)
		return PMP_LOCATION_NONE;
	number = pmp_locations_find(&symbolizer->locations, &spot, &origin);
	if (number != PMP_LOCATION_NONE &&
	    !symbolizer->locations.items[number].frame_count)
		module->wanted = true;
	return number;
}

void pmp_symbolizer_origin(const struct pmp_symbolizer *symbolizer, pmp_location number,
			   struct pmp_origin *origin)
{
	const struct pmp_located *location;

	*origin = (struct pmp_origin){ .mapping = PMP_INTERN_NONE };
	if (number >= symbolizer->locations.count)
		return;
	location = &symbolizer->locations.items[number];
	origin->pc = location->pc;
	origin->mapping = location->mapping;
	origin->exact = location->spot.flags & PMP_FRAME_EXACT;
}

void pmp_symbolizer_mapping(struct pmp_symbolizer *symbolizer, uint32_t number,
			    struct pmp_mapping *mapping)
{
	const struct pmp_region_key *region =
		pmp_intern_data(symbolizer->regions, number, NULL);
	struct pmp_known_module *module;

	*mapping = (struct pmp_mapping){ .path = PMP_STRINGS_UNKNOWN, .build_id = "" };
	if (!region)
		return;
	module = symbolizer->modules.items[region->module];
	if (!module->saved_id)
		pmp_opening_one(symbolizer, module);
	mapping->start = region->start;
	mapping->end = region->end;
	mapping->offset = region->offset;
	mapping->path = module->path;
	mapping->build_id = pmp_modules_build_id(module);
}

/* ---- names -------------------------------------------------------------- */

size_t pmp_symbolizer_frames(struct pmp_symbolizer *symbolizer, pmp_location location,
			     const struct pmp_frame **frames)
{
	if (!pmp_locations_has(&symbolizer->locations, location)) {
		*frames = &pmp_locations_unknown;
		return 1;
	}
	if (symbolizer->locations.items[location].frame_count == 0)
		pmp_naming_location(symbolizer, location);
	*frames = symbolizer->locations.items[location].frames;
	return symbolizer->locations.items[location].frame_count;
}

void pmp_symbolizer_name(struct pmp_symbolizer *symbolizer, pmp_location location)
{
	const struct pmp_frame *frames;

	pmp_symbolizer_frames(symbolizer, location, &frames);
}

size_t pmp_symbolizer_frame(const struct pmp_symbolizer *symbolizer,
			    pmp_location location, size_t i, struct pmp_frame_info *info)
{
	const struct pmp_located *known;
	struct pmp_frame_info all;

	if (!pmp_locations_has(&symbolizer->locations, location))
		return 0;
	known = &symbolizer->locations.items[location];
	if (i >= known->frame_count)
		return known->frame_count;
	all = (struct pmp_frame_info){
		.size = info->size,
		.function = known->frames[i].function,
		.file = known->frames[i].file,
		.line = known->frames[i].line,
		.inlined = known->frames[i].inlined,
		.unnamed = known->frames[i].unnamed,
		.signal = known->frames[i].signal,
		.module = known->frames[i].module,
		.address = known->frames[i].address,
	};
	memcpy(info, &all, all.size < sizeof(all) ? all.size : sizeof(all));
	return known->frame_count;
}

char *pmp_symbolizer_place(const struct pmp_symbolizer *symbolizer, pmp_location location,
			   char *buffer, size_t size)
{
	struct pmp_buf text = { 0 };

	if (pmp_locations_has(&symbolizer->locations, location)) {
		const struct pmp_spot *spot = &symbolizer->locations.items[location].spot;

		pmp_naming_placeholder(&text, symbolizer->modules.items[spot->module],
				       spot->address);
	}
	snprintf(buffer, size, "%s",
		 text.length && !pmp_buf_failed(&text) ? text.data : PMP_STRINGS_UNKNOWN);
	pmp_buf_free(&text);
	return buffer;
}

/* ---- what is missing ---------------------------------------------------- */

size_t pmp_symbolizer_module_count(const struct pmp_symbolizer *symbolizer)
{
	return symbolizer->modules.count;
}

void pmp_symbolizer_module(const struct pmp_symbolizer *symbolizer, size_t i,
			   struct pmp_module_info *info)
{
	const struct pmp_known_module *module = symbolizer->modules.items[i];
	const struct pmp_module *source = module->source;
	struct pmp_module_info all = {
		.size = info->size,
		.path = module->path,
		.build_id = pmp_modules_build_id(module),
		.problem = pmp_modules_problem(module),
		.replaced = source && source->kind == PMP_MODULE_FILE &&
			    (source->deleted || source->open_errno == ESTALE),
		.frames = module->frames,
		.unnamed = module->unnamed,
	};

	memcpy(info, &all, all.size < sizeof(all) ? all.size : sizeof(all));
}
