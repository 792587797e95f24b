/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Locations and their names. Counting a sample costs one hash look-up per frame. The files
 * of a module are opened when its first frame is to be shown, and each location is named
 * once. The process is not needed for that.
 *
 * The symbol tells what the function at an address is called, debug information tells
 * which functions are inlined there. Names in a saved profile are part of a location's
 * key, as two profiles may have named one address differently.
 */
#include "resolve/symbolizer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/sized.h"
#include "resolve/demangle.h"
#include "resolve/symbolizer-state.h"

#define DEBUG_DIR "/usr/lib/debug"
#define ASKED_MAX 10000 /* places in a module; beyond it, all names are read */

/* ---- life --------------------------------------------------------------- */

int pmp_symbolizer_new(const struct pmp_symbolizer_options *options,
		       struct pmp_symbolizer **symbolizer, struct pmp_error *err)
{
	struct pmp_symbolizer *made = calloc(1, sizeof(*made));
	const char *debug_dir = DEBUG_DIR;

	*symbolizer = NULL;
	if (!made)
		return pmp_error_nomem(err, "making a symbolizer");
	pmp_sized_take(&made->options, sizeof(made->options), options);
	if (made->options.debug_dir)
		debug_dir = made->options.debug_dir;
	made->log = (struct pmp_log){ made->options.log, made->options.log_arg };
	made->budget = (struct pmp_budget)PMP_BUDGET;
	made->remote = (struct pmp_remote){ .calls = made->options.namer,
					    .socket = -1,
					    .message.fd = -1 };
	pmp_dso_table_init(&made->modules, &made->strings);
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

const struct pmp_symbolizer_options *
pmp_symbolizer_options(const struct pmp_symbolizer *symbolizer)
{
	return &symbolizer->options;
}

void pmp_symbolizer_free(struct pmp_symbolizer *symbolizer)
{
	if (!symbolizer)
		return;
	pmp_remote_free(&symbolizer->remote);
	pmp_locations_free(&symbolizer->locations);
	pmp_dso_table_free(&symbolizer->modules);
	pmp_strings_free(&symbolizer->strings);
	pmp_intern_free(symbolizer->regions);
	pmp_intern_free(symbolizer->names);
	free(symbolizer->debug_dir);
	free(symbolizer->symfs);
	free(symbolizer);
}

/* ---- files of modules ---------------------------------------------------- */

/* Only the build-id tells whether this is the profile's file, not the path. */
static void check_saved(struct pmp_dso_entry *module)
{
	if (module->source->fd < 0)
		module->saved_problem = "not on this machine";
	else if (!module->dso ||
		 strcmp(pmp_dso_build_id(module->dso), module->saved_id) != 0)
		module->saved_problem = "this machine has another version of it";
	if (!module->saved_problem)
		return;
	pmp_dso_free(module->dso);
	module->dso = NULL;
}

void pmp_state_collect_asked(const struct pmp_symbolizer *symbolizer,
			     const struct pmp_dso_entry *module, bool objects,
			     struct pmp_asked *asked)
{
	const struct pmp_locations *locations = &symbolizer->locations;

	*asked = (struct pmp_asked){ 0 };
	for (pmp_location i = pmp_locations_first(locations, module->number);
	     i != PMP_LOCATION_NONE; i = locations->items[i].next) {
		const struct pmp_location_entry *location = &locations->items[i];
		const struct pmp_location_key *key = &location->key;
		const bool before = !objects && !(key->flags & PMP_FRAME_EXACT);

		if (location->frame_count ||
		    !(key->flags & PMP_LOCATION_OBJECT) != !objects)
			continue;
		if (asked->count == ASKED_MAX ||
		    PMP_RESERVE(&asked->places, &asked->capacity, asked->count + 1)) {
			asked->count = 0;
			return;
		}
		asked->places[asked->count++] = key->address - before;
	}
}

void pmp_state_open_module(struct pmp_symbolizer *symbolizer,
			   struct pmp_dso_entry *module)
{
	struct pmp_dso_options options = {
		.debug_dir = symbolizer->debug_dir,
		.no_symbols = symbolizer->options.no_symbols,
		.no_dwarf = symbolizer->options.no_inline && !symbolizer->options.lines,
		.lines = symbolizer->options.lines,
		.log = &symbolizer->log,
		.budget = &symbolizer->budget,
	};
	struct pmp_dso *dso = module->dso;
	struct pmp_perf_map *perf_map = module->perf_map;
	const bool counted = module->wanted; /* new locations since it was last opened */
	struct pmp_asked asked = { 0 };

	if (pmp_state_is_remote(symbolizer, module)) {
		pmp_state_open_remote(symbolizer, module);
		return;
	}
	module->wanted = false;
	if (module->saved_problem)
		return;
	if (!options.no_symbols)
		options.fetch = (struct pmp_fetch){ symbolizer->options.fetch,
						    symbolizer->options.fetch_arg };
	if (module->file && !dso)
		pmp_state_collect_asked(symbolizer, module, false, &asked);
	pmp_state_release(symbolizer);
	if (module->saved_id && module->file && !dso) {
		pmp_dso_open_saved(symbolizer->symfs, module->saved_id, module->source,
				   &options.fetch);
	}
	if (module->file && !dso)
		dso = pmp_dso_new(module->source, &options, asked.places, asked.count);
	if (module->source && module->source->kind == PMP_MODULE_PERF_MAP && !perf_map &&
	    !options.no_symbols)
		perf_map = pmp_perf_map_new(module->source->fd);
	/* Once for all locations counted so far, as code may have been replaced. */
	if (perf_map && counted)
		pmp_perf_map_read_on(perf_map);
	free(asked.places);
	pmp_state_acquire(symbolizer);
	module->dso = dso;
	module->perf_map = perf_map;
	module->lacks_lines = perf_map && pmp_perf_map_lacks_lines(perf_map);
	if (module->saved_id && module->file)
		check_saved(module);
}

static bool is_unpacking(const struct pmp_dso_entry *module)
{
	return module->dso && pmp_dso_is_unpacking(module->dso);
}

/*
 * Open a module, and others with unnamed locations. Writing needs all names: while threads
 * unpack the debug information of some modules, the next ones are read. A view needs only
 * what is on its screen: then open only this one.
 */
static void open_modules(struct pmp_symbolizer *symbolizer, struct pmp_dso_entry *first)
{
	const struct pmp_dso_table *modules = &symbolizer->modules;
	const bool others = first->wanted && pmp_state_names_all(symbolizer);
	size_t unpacking = 0;

	pmp_state_open_module(symbolizer, first);
	for (size_t i = 0; others && i < modules->count; i++)
		unpacking += is_unpacking(modules->items[i]);
	for (size_t i = 0; others && i < modules->count && unpacking < PMP_UNPACKING_MAX;
	     i++) {
		if (!modules->items[i]->wanted)
			continue;
		pmp_state_open_module(symbolizer, modules->items[i]);
		unpacking += is_unpacking(modules->items[i]);
	}
}

/* ---- locations ---------------------------------------------------------- */

/* The module of a region, or the perf map if the region may have JIT code. */
static uint32_t module_at(struct pmp_symbolizer *symbolizer, const struct pmp_maps *maps,
			  const struct pmp_region *region)
{
	struct pmp_dso_table *modules = &symbolizer->modules;
	uint32_t module = pmp_dso_table_of(modules, region ? region->module : NULL);

	if (!region || module == PMP_LOCATION_NONE || modules->items[module]->file ||
	    region->module->kind == PMP_MODULE_KERNEL || !maps->perf_map)
		return module;
	return pmp_dso_table_of(modules, maps->perf_map);
}

pmp_location pmp_symbolizer_locate(struct pmp_symbolizer *symbolizer,
				   const struct pmp_maps *maps,
				   const struct pmp_raw_frame *frame)
{
	/* A call may be the last instruction of its region. */
	uint64_t lookup = frame->pc - !(frame->flags & PMP_FRAME_EXACT);
	const struct pmp_region *region = maps ? pmp_maps_find(maps, lookup) : NULL;
	struct pmp_location_key key = {
		.address = frame->pc,
		.module = module_at(symbolizer, maps, region),
		.flags = (uint32_t)(frame->flags & (PMP_FRAME_EXACT | PMP_FRAME_SIGNAL)),
	};
	struct pmp_mapping_key mapping_key = { .module = key.module };
	struct pmp_first_address origin = { .pc = frame->pc };
	struct pmp_dso_entry *module;
	pmp_location number;

	if (key.module == PMP_LOCATION_NONE)
		return PMP_LOCATION_NONE;
	module = symbolizer->modules.items[key.module];
	if (region) {
		mapping_key.start = region->start;
		mapping_key.end = region->end;
		mapping_key.offset = region->offset;
		if (module->file)
			key.address = frame->pc - region->start + region->offset;
	}
	origin.mapping =
		pmp_intern(symbolizer->regions, &mapping_key, sizeof(mapping_key));
	if (origin.mapping == PMP_INTERN_NONE)
		return PMP_LOCATION_NONE;
	number = pmp_locations_find(&symbolizer->locations, &key, &origin);
	if (number != PMP_LOCATION_NONE &&
	    !symbolizer->locations.items[number].frame_count)
		module->wanted = true;
	return number;
}

pmp_location pmp_symbolizer_locate_frame(struct pmp_symbolizer *symbolizer,
					 const struct pmp_sample *sample, size_t thread,
					 size_t i)
{
	const struct pmp_raw_frame *frame = pmp_sample_raw_frame(sample, thread, i);

	return frame ? pmp_symbolizer_locate(symbolizer, sample->maps, frame)
		     : PMP_LOCATION_NONE;
}

void pmp_symbolizer_first_address(const struct pmp_symbolizer *symbolizer,
				  pmp_location number, struct pmp_first_address *origin)
{
	const struct pmp_location_entry *location;

	*origin = (struct pmp_first_address){ .mapping = PMP_INTERN_NONE };
	if (number >= symbolizer->locations.count)
		return;
	location = &symbolizer->locations.items[number];
	origin->pc = location->pc;
	origin->mapping = location->mapping;
	origin->exact = location->key.flags & PMP_FRAME_EXACT;
}

void pmp_symbolizer_mapping(struct pmp_symbolizer *symbolizer, uint32_t number,
			    struct pmp_mapping *mapping)
{
	const struct pmp_mapping_key *region =
		pmp_intern_data(symbolizer->regions, number, NULL);
	struct pmp_dso_entry *module;

	*mapping = (struct pmp_mapping){ .path = PMP_STRINGS_UNKNOWN, .build_id = "" };
	if (!region)
		return;
	module = symbolizer->modules.items[region->module];
	if (!module->saved_id)
		pmp_state_open_module(symbolizer, module);
	mapping->start = region->start;
	mapping->end = region->end;
	mapping->offset = region->offset;
	mapping->path = module->path;
	mapping->build_id = pmp_dso_table_build_id(module);
}

/* ---- locations of saved profiles ----------------------------------------- */

uint32_t pmp_symbolizer_add_mapping(struct pmp_symbolizer *symbolizer,
				    const struct pmp_mapping *mapping)
{
	struct pmp_mapping_key mapping_key = {
		.start = mapping->start,
		.end = mapping->end,
		.offset = mapping->offset,
		.module = pmp_dso_table_of_saved(&symbolizer->modules, mapping),
	};

	if (mapping_key.module == PMP_LOCATION_NONE)
		return PMP_INTERN_NONE;
	return pmp_intern(symbolizer->regions, &mapping_key, sizeof(mapping_key));
}

void pmp_state_name_function(struct pmp_symbolizer *symbolizer, struct pmp_frame *frame,
			     const char *name, const char *linkage)
{
	struct pmp_strings *strings = &symbolizer->strings;

	if (linkage && pmp_demangle(linkage, &strings->scratch))
		frame->function = pmp_strings_keep_scratch_name(strings);
	else
		frame->function = pmp_strings_keep_name(strings, name);
	pmp_state_choose_name(symbolizer, frame, linkage);
}

void pmp_state_choose_name(struct pmp_symbolizer *symbolizer, struct pmp_frame *frame,
			   const char *linkage)
{
	struct pmp_strings *strings = &symbolizer->strings;

	frame->linkage = frame->readable = NULL;
	if (!linkage || strcmp(frame->function, linkage) == 0)
		return;
	if (symbolizer->options.no_demangle) {
		frame->readable = frame->function;
		frame->function = pmp_strings_keep_name(strings, linkage);
	} else if (strlen(linkage) <= PMP_NAME_MAX) {
		/* A part of a longer one would be of no use. */
		frame->linkage = pmp_strings_keep(strings, linkage);
	}
}

/* The number, from 1 on, of the names of a location; equal names have equal numbers. 0: out
 * of memory. */
static uint32_t number_names(struct pmp_symbolizer *symbolizer,
			     const struct pmp_frame *frames, size_t count)
{
	struct pmp_buf *text = &symbolizer->strings.scratch;
	uint32_t id = PMP_INTERN_NONE;

	for (size_t i = 0; i < count; i++)
		pmp_buf_printf(text, "%s%c%s%c%s%c%u%c%d", frames[i].function, 0,
			       frames[i].linkage ? frames[i].linkage : "", 0,
			       frames[i].file ? frames[i].file : "", 0, frames[i].line, 0,
			       frames[i].signal);
	if (!pmp_buf_failed(text))
		id = pmp_intern(symbolizer->names, text->data, text->length);
	else
		pmp_buf_free(text);
	pmp_buf_clear(text);
	return id < UINT32_MAX >> PMP_LOCATION_NAMES_SHIFT ? id + 1 : 0;
}

/* Keep the names of a frame, which are already demangled. */
static void keep_names(struct pmp_symbolizer *symbolizer, struct pmp_frame *kept,
		       const struct pmp_frame *frame)
{
	kept->function = pmp_strings_keep_name(&symbolizer->strings, frame->function);
	pmp_state_choose_name(symbolizer, kept, frame->linkage);
}

static struct pmp_frame *copy_names(struct pmp_symbolizer *symbolizer,
				    const struct pmp_location_key *key,
				    const struct pmp_frame *frames, size_t count)
{
	struct pmp_dso_entry *module = symbolizer->modules.items[key->module];
	struct pmp_frame *kept = calloc(count, sizeof(*kept));

	for (size_t i = 0; kept && i < count; i++) {
		kept[i] = (struct pmp_frame){
			.file = frames[i].file ? pmp_strings_keep(&symbolizer->strings,
								  frames[i].file)
					       : NULL,
			.line = frames[i].line,
			.inlined = i + 1 < count,
			.signal = frames[i].signal,
			.module = module->path,
			.address = key->address,
		};
		keep_names(symbolizer, &kept[i], &frames[i]);
	}
	module->frames++;
	return kept;
}

/* Names are not wanted, and there is an address to show instead. */
static bool is_address_enough(const struct pmp_symbolizer *symbolizer,
			      const struct pmp_mapping_key *region,
			      const struct pmp_first_address *origin,
			      const struct pmp_frame *frames, size_t count)
{
	return symbolizer->options.no_symbols && origin->pc &&
	       symbolizer->modules.items[region->module]->file &&
	       !(count && frames[0].signal);
}

pmp_location pmp_symbolizer_add_location(struct pmp_symbolizer *symbolizer,
					 const struct pmp_first_address *origin,
					 const struct pmp_frame *frames, size_t count)
{
	const struct pmp_mapping_key *region =
		pmp_intern_data(symbolizer->regions, origin->mapping, NULL);
	struct pmp_location_key key = { .address = origin->pc };
	pmp_location number;
	uint32_t names = 0;

	if (!region)
		return PMP_LOCATION_NONE;
	if (is_address_enough(symbolizer, region, origin, frames, count))
		count = 0;
	if (symbolizer->options.no_inline && count > 1) {
		frames += count - 1;
		count = 1;
	}
	if (count) {
		names = number_names(symbolizer, frames, count);
		if (!names)
			return PMP_LOCATION_NONE;
	}
	key.module = region->module;
	key.flags =
		names << PMP_LOCATION_NAMES_SHIFT | (origin->exact ? PMP_FRAME_EXACT : 0);
	if (symbolizer->modules.items[key.module]->file)
		key.address = origin->pc - region->start + region->offset;
	number = pmp_locations_find(&symbolizer->locations, &key, origin);
	if (number == PMP_LOCATION_NONE ||
	    symbolizer->locations.items[number].frame_count)
		return number;
	if (!count)
		symbolizer->modules.items[key.module]->wanted = true;
	else
		pmp_locations_name(&symbolizer->locations, number,
				   copy_names(symbolizer, &key, frames, count), count);
	return number;
}

/* ---- looking names up ---------------------------------------------------- */

/* Append [libfoo.so.1+0x1234], [vdso+0x7f0], [anon+0x7f0000001000]. */
static void put_placeholder(struct pmp_buf *text, const struct pmp_dso_entry *module,
			    uint64_t address)
{
	const char *slash = strrchr(module->path, '/');
	const char *name = slash && slash[1] ? slash + 1 : module->path;
	size_t length = strlen(name);

	if (length > 2 && name[0] == '[' && name[length - 1] == ']') {
		name++;
		length -= 2;
	}
	pmp_buf_putc(text, '[');
	pmp_buf_add(text, name, length);
	pmp_buf_printf(text, "+0x%llx]", (unsigned long long)address);
}

static const char *placeholder(struct pmp_symbolizer *symbolizer,
			       const struct pmp_dso_entry *module, uint64_t address)
{
	put_placeholder(&symbolizer->strings.scratch, module, address);
	return pmp_strings_keep_scratch(&symbolizer->strings);
}

bool pmp_state_may_name(const struct pmp_symbolizer *symbolizer,
			struct pmp_dso_entry *module)
{
	const bool may = module->names_size < PMP_NAMES_OF_MODULE &&
			 symbolizer->strings.size < PMP_NAMES_OF_ALL;

	module->names_refused |= !may;
	return may;
}

void pmp_state_count_names(const struct pmp_symbolizer *symbolizer,
			   struct pmp_dso_entry *module, size_t size)
{
	module->names_size += symbolizer->strings.size - size;
}

/* Names from debug information; the last frame is the physical function. Returns the
 * number of frames, at least 1. */
static size_t name_inlined(struct pmp_symbolizer *symbolizer,
			   struct pmp_dso_entry *module, uint64_t lookup,
			   struct pmp_frame *frames)
{
	const struct pmp_symbolizer_options *options = &symbolizer->options;
	struct pmp_place places[PMP_PLACES_MAX];
	size_t count = 0, first;

	if (!options->no_symbols && (!options->no_inline || options->lines)) {
		pmp_state_release(symbolizer);
		count = pmp_dso_places(module->dso, lookup, places);
		pmp_state_acquire(symbolizer);
	}
	if (count == 0)
		return 1;
	first = options->no_inline ? count - 1 : 0;
	for (size_t i = first; i < count; i++) {
		struct pmp_frame *frame = &frames[i - first];

		*frame = (struct pmp_frame){ .line = places[i].line,
					     .inlined = i + 1 < count };
		if (places[i].file)
			frame->file =
				pmp_strings_keep(&symbolizer->strings, places[i].file);
		if (places[i].function)
			pmp_state_name_function(symbolizer, frame, places[i].function,
						places[i].function);
	}
	return count - first;
}

/* Name a place in an ELF file. Returns the number of frames. */
static size_t name_in_file(struct pmp_symbolizer *symbolizer,
			   struct pmp_dso_entry *module,
			   const struct pmp_location_key *key, struct pmp_frame *frames)
{
	uint64_t lookup = key->address - !(key->flags & PMP_FRAME_EXACT);
	uint64_t address = key->address;
	const char *symbol = NULL;
	size_t count = 1;

	if (module->dso && pmp_dso_address(module->dso, lookup, &lookup)) {
		address = lookup + !(key->flags & PMP_FRAME_EXACT);
		count = name_inlined(symbolizer, module, lookup, frames);
		/* Afterwards, as running out of memory there makes it read more symbols. */
		pmp_state_release(symbolizer);
		symbol = pmp_dso_symbol(module->dso, lookup);
		pmp_state_acquire(symbolizer);
	}
	for (size_t i = 0; i < count; i++)
		frames[i].address = address;
	/* One address can have several valid names; other tools show the symbol. */
	if (symbol)
		pmp_state_name_function(symbolizer, &frames[count - 1], symbol, symbol);
	return count;
}

static size_t name_without_file(struct pmp_symbolizer *symbolizer,
				struct pmp_dso_entry *module,
				const struct pmp_location_key *key,
				struct pmp_frame *frames)
{
	uint64_t lookup = key->address - !(key->flags & PMP_FRAME_EXACT);
	const char *name = NULL;

	if (module->perf_map) {
		pmp_state_release(symbolizer);
		name = pmp_perf_map_find(module->perf_map, lookup);
		pmp_state_acquire(symbolizer);
		module->lacks_lines = pmp_perf_map_lacks_lines(module->perf_map);
	} else if (module->source && module->source->kind == PMP_MODULE_KERNEL) {
		name = pmp_kernel_names_find(&symbolizer->modules.kernel, lookup);
	}
	frames[0].address = key->address;
	if (name)
		pmp_state_name_function(symbolizer, &frames[0], name, name);
	return 1;
}

/* The first frame to be shown: as many as allowed, from the physical function inwards. */
static size_t first_shown(const struct pmp_frame *frames, size_t count)
{
	size_t first = count - 1, size = 0;

	for (size_t i = count; i-- > 0; first = i) {
		size += frames[i].function ? strlen(frames[i].function) : 0;
		size += frames[i].file ? strlen(frames[i].file) : 0;
		if (size > PMP_NAMES_OF_LOCATION)
			break;
	}
	return first;
}

void pmp_state_finish(struct pmp_symbolizer *symbolizer, pmp_location number,
		      struct pmp_frame *frames, size_t count)
{
	const struct pmp_location_key key = symbolizer->locations.items[number].key;
	struct pmp_dso_entry *module = symbolizer->modules.items[key.module];
	struct pmp_frame *kept;
	size_t first;

	if (key.flags & PMP_FRAME_SIGNAL) {
		frames[0] = (struct pmp_frame){
			.function = pmp_strings_keep(&symbolizer->strings,
						     "<signal handler called>"),
			.signal = true,
			.address = frames[0].address,
		};
		count = 1;
	}
	first = first_shown(frames, count);
	frames += first;
	count -= first;
	for (size_t i = 0; i < count; i++) {
		frames[i].module = module->path;
		frames[i].unnamed = !frames[i].function || !frames[i].function[0];
		if (frames[i].unnamed)
			frames[i].function =
				placeholder(symbolizer, module, frames[i].address);
	}
	module->frames++;
	module->unnamed += frames[count - 1].unnamed;
	kept = calloc(count, sizeof(*kept));
	if (kept)
		memcpy(kept, frames, count * sizeof(*kept));
	pmp_locations_name(&symbolizer->locations, number, kept, count);
}

/* Returns the number of frames. */
static size_t name_here(struct pmp_symbolizer *symbolizer, struct pmp_dso_entry *module,
			const struct pmp_location_key *key, struct pmp_frame *frames)
{
	size_t before, count;

	open_modules(symbolizer, module);
	if (!pmp_state_may_name(symbolizer, module))
		return 1;
	before = symbolizer->strings.size;
	count = module->file ? name_in_file(symbolizer, module, key, frames)
			     : name_without_file(symbolizer, module, key, frames);
	pmp_state_count_names(symbolizer, module, before);
	return count;
}

static void name_location(struct pmp_symbolizer *symbolizer, pmp_location number)
{
	const struct pmp_location_key key = symbolizer->locations.items[number].key;
	struct pmp_dso_entry *module = symbolizer->modules.items[key.module];
	struct pmp_frame frames[PMP_PLACES_MAX] = { { .address = key.address } };
	size_t count = 1;

	if (pmp_state_name_remote(symbolizer, number))
		return;
	symbolizer->naming = true;
	if (!pmp_state_is_remote(symbolizer, module))
		count = name_here(symbolizer, module, &key, frames);
	pmp_state_finish(symbolizer, number, frames, count);
	symbolizer->naming = false;
}

/* ---- names -------------------------------------------------------------- */

size_t pmp_symbolizer_frames(struct pmp_symbolizer *symbolizer, pmp_location location,
			     const struct pmp_frame **frames)
{
	if (!pmp_locations_has(&symbolizer->locations, location)) {
		*frames = &pmp_locations_unknown;
		return 1;
	}
	if (symbolizer->locations.items[location].frame_count == 0 &&
	    symbolizer->only_known) {
		*frames = &pmp_locations_unknown;
		return 1;
	}
	if (symbolizer->locations.items[location].frame_count == 0)
		name_location(symbolizer, location);
	*frames = symbolizer->locations.items[location].frames;
	return symbolizer->locations.items[location].frame_count;
}

bool pmp_symbolizer_has_names(const struct pmp_symbolizer *symbolizer,
			      pmp_location location)
{
	return !pmp_locations_has(&symbolizer->locations, location) ||
	       symbolizer->locations.items[location].frame_count;
}

void pmp_symbolizer_name(struct pmp_symbolizer *symbolizer, pmp_location location)
{
	const struct pmp_frame *frames;

	if (!pmp_state_name_object(symbolizer, location))
		pmp_symbolizer_frames(symbolizer, location, &frames);
}

void pmp_symbolizer_name_all(struct pmp_symbolizer *symbolizer)
{
	const size_t count = pmp_symbolizer_location_count(symbolizer);

	for (size_t i = 0; i < count; i++)
		pmp_symbolizer_name(symbolizer, (pmp_location)i);
}

size_t pmp_symbolizer_unnamed(const struct pmp_symbolizer *symbolizer)
{
	return symbolizer->locations.unnamed;
}

/* Is the module open, or without a file to be opened? */
static bool is_open(const struct pmp_symbolizer *symbolizer,
		    const struct pmp_dso_entry *module)
{
	if (module->saved_problem)
		return true;
	if (pmp_state_is_remote(symbolizer, module))
		return module->remote &&
		       pmp_remote_is_open(&symbolizer->remote, module->remote);
	return !module->file || module->dso;
}

static bool has_unnamed(const struct pmp_locations *locations, uint32_t module)
{
	pmp_location i = pmp_locations_first(locations, module);

	while (i != PMP_LOCATION_NONE && locations->items[i].frame_count)
		i = locations->items[i].next;
	return i != PMP_LOCATION_NONE;
}

/* .wanted is not enough: it is not set for objects, and stays set when locations have been
 * named together with others, or forgotten. */
bool pmp_symbolizer_must_open(const struct pmp_symbolizer *symbolizer)
{
	const struct pmp_locations *locations = &symbolizer->locations;

	for (size_t i = 0; locations->unnamed && i < symbolizer->modules.count; i++) {
		const struct pmp_dso_entry *module = symbolizer->modules.items[i];

		if (!is_open(symbolizer, module) &&
		    has_unnamed(locations, module->number))
			return true;
	}
	return false;
}

void pmp_symbolizer_only_known(struct pmp_symbolizer *symbolizer, bool only_known)
{
	symbolizer->only_known = only_known;
}

void pmp_symbolizer_leave_namer(struct pmp_symbolizer *symbolizer)
{
	pmp_remote_leave(&symbolizer->remote);
}

size_t pmp_symbolizer_frame(const struct pmp_symbolizer *symbolizer,
			    pmp_location location, size_t i, struct pmp_frame_info *info)
{
	const struct pmp_location_entry *known;

	if (!pmp_locations_has(&symbolizer->locations, location))
		return 0;
	known = &symbolizer->locations.items[location];
	return pmp_frame_describe(known->frames, known->frame_count, i, info);
}

char *pmp_symbolizer_place(const struct pmp_symbolizer *symbolizer, pmp_location location,
			   char *buffer, size_t size)
{
	struct pmp_buf text = { 0 };

	if (pmp_locations_has(&symbolizer->locations, location)) {
		const struct pmp_location_key *key =
			&symbolizer->locations.items[location].key;

		put_placeholder(&text, symbolizer->modules.items[key->module],
				key->address);
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
	const struct pmp_dso_entry *module = symbolizer->modules.items[i];
	const struct pmp_module *source = module->source;
	struct pmp_module_info all = {
		.path = module->path,
		.build_id = pmp_dso_table_build_id(module),
		.problem = pmp_dso_table_problem(module),
		.replaced = source && source->kind == PMP_MODULE_FILE &&
			    (source->deleted || source->open_errno == ESTALE),
		.frames = module->frames,
		.unnamed = module->unnamed,
	};

	pmp_sized_give(info, &all, sizeof(all));
}
