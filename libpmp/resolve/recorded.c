/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mappings and locations that a saved profile tells of. Their names are part of what
 * makes a location: two profiles may have named one address differently.
 */
#include <stdlib.h>

#include "base/buf.h"
#include "resolve/state.h"
#include "resolve/symbolizer.h"

uint32_t pmp_symbolizer_add_mapping(struct pmp_symbolizer *symbolizer,
				    const struct pmp_mapping *mapping)
{
	struct pmp_region_key key = {
		.start = mapping->start,
		.end = mapping->end,
		.offset = mapping->offset,
		.module = pmp_modules_of_saved(&symbolizer->modules, mapping),
	};

	if (key.module == PMP_LOCATION_NONE)
		return PMP_INTERN_NONE;
	return pmp_intern(symbolizer->regions, &key, sizeof(key));
}

/* Names as bytes: equal ones get the same number, from 1 on. 0: no memory. */
static uint32_t number_names(struct pmp_symbolizer *symbolizer,
			     const struct pmp_frame *frames, size_t count)
{
	struct pmp_buf *text = &symbolizer->strings.scratch;
	uint32_t id = PMP_INTERN_NONE;

	for (size_t i = 0; i < count; i++)
		pmp_buf_printf(text, "%s%c%s%c%u%c%d", frames[i].function, 0,
			       frames[i].file ? frames[i].file : "", 0, frames[i].line, 0,
			       frames[i].signal);
	if (!pmp_buf_failed(text))
		id = pmp_intern(symbolizer->names, text->data, text->length);
	else
		pmp_buf_free(text);
	pmp_buf_clear(text);
	return id < UINT32_MAX >> PMP_SPOT_NAMES_SHIFT ? id + 1 : 0;
}

static struct pmp_frame *copy_names(struct pmp_symbolizer *symbolizer,
				    const struct pmp_spot *spot,
				    const struct pmp_frame *frames, size_t count)
{
	struct pmp_known_module *module = symbolizer->modules.items[spot->module];
	struct pmp_frame *kept = calloc(count, sizeof(*kept));

	for (size_t i = 0; kept && i < count; i++)
		kept[i] = (struct pmp_frame){
			.function = pmp_strings_keep(&symbolizer->strings,
						     frames[i].function),
			.file = frames[i].file ? pmp_strings_keep(&symbolizer->strings,
								  frames[i].file)
					       : NULL,
			.line = frames[i].line,
			.inlined = i + 1 < count,
			.signal = frames[i].signal,
			.module = module->path,
			.address = spot->address,
		};
	module->frames++;
	return kept;
}

pmp_location pmp_symbolizer_add_location(struct pmp_symbolizer *symbolizer,
					 const struct pmp_origin *origin,
					 const struct pmp_frame *frames, size_t count)
{
	const struct pmp_region_key *region =
		pmp_intern_data(symbolizer->regions, origin->mapping, NULL);
	struct pmp_spot spot = { .address = origin->pc };
	pmp_location number;
	uint32_t names = 0;

	if (!region)
		return PMP_LOCATION_NONE;
	if (symbolizer->options.no_inline && count > 1) {
		frames += count - 1;
		count = 1;
	}
	if (count) {
		names = number_names(symbolizer, frames, count);
		if (!names)
			return PMP_LOCATION_NONE;
	}
	spot.module = region->module;
	spot.flags =
		names << PMP_SPOT_NAMES_SHIFT | (origin->exact ? PMP_FRAME_EXACT : 0);
	if (symbolizer->modules.items[spot.module]->file)
		spot.address = origin->pc - region->start + region->offset;
	number = pmp_locations_find(&symbolizer->locations, &spot, origin);
	if (number == PMP_LOCATION_NONE ||
	    symbolizer->locations.items[number].frame_count)
		return number;
	if (!count)
		symbolizer->modules.items[spot.module]->wanted = true;
	else
		pmp_locations_name(&symbolizer->locations, number,
				   copy_names(symbolizer, &spot, frames, count), count);
	return number;
}
