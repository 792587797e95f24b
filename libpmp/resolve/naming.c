/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The symbol says what the function at an address is called, the debug information
 * which functions are inlined there. All strings are kept by the symbolizer.
 */
#include "resolve/naming.h"

#include <stdlib.h>
#include <string.h>

#include "resolve/demangle.h"
#include "resolve/opening.h"

static const char *readable(struct pmp_symbolizer *symbolizer, const char *name)
{
	if (!symbolizer->options.no_demangle &&
	    pmp_demangle(name, &symbolizer->strings.scratch))
		return pmp_strings_keep_scratch(&symbolizer->strings);
	return pmp_strings_keep(&symbolizer->strings, name);
}

void pmp_naming_placeholder(struct pmp_buf *text, const struct pmp_known_module *module,
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
			       const struct pmp_known_module *module, uint64_t address)
{
	pmp_naming_placeholder(&symbolizer->strings.scratch, module, address);
	return pmp_strings_keep_scratch(&symbolizer->strings);
}

/* Names from the debug information; the last frame is the function itself.
 * Returns the number of frames, at least 1. */
static size_t name_inlined(struct pmp_symbolizer *symbolizer,
			   struct pmp_known_module *module, uint64_t lookup,
			   struct pmp_frame *frames)
{
	const struct pmp_symbolizer_options *options = &symbolizer->options;
	struct pmp_place places[PMP_PLACES_MAX];
	size_t count = 0, first = 0;

	if (!options->no_symbols && (!options->no_inline || options->lines)) {
		pmp_state_release(symbolizer);
		count = pmp_opened_places(module->opened, lookup, places);
		pmp_state_acquire(symbolizer);
	}
	if (count == 0)
		return 1;
	if (options->no_inline)
		first = count - 1;
	for (size_t i = first; i < count; i++) {
		struct pmp_frame *frame = &frames[i - first];

		*frame = (struct pmp_frame){ .line = places[i].line,
					     .inlined = i + 1 < count };
		if (places[i].file)
			frame->file =
				pmp_strings_keep(&symbolizer->strings, places[i].file);
		if (places[i].function)
			frame->function = readable(symbolizer, places[i].function);
	}
	return count - first;
}

/* A place in an ELF file. */
static size_t name_in_file(struct pmp_symbolizer *symbolizer,
			   struct pmp_known_module *module, const struct pmp_spot *spot,
			   struct pmp_frame *frames)
{
	uint64_t lookup = spot->address - !(spot->flags & PMP_FRAME_EXACT);
	uint64_t address = spot->address;
	const char *symbol = NULL;
	size_t count = 1;

	if (module->opened && pmp_opened_address(module->opened, lookup, &lookup)) {
		address = lookup + !(spot->flags & PMP_FRAME_EXACT);
		pmp_state_release(symbolizer);
		symbol = pmp_opened_symbol(module->opened, lookup);
		pmp_state_acquire(symbolizer);
		count = name_inlined(symbolizer, module, lookup, frames);
	}
	for (size_t i = 0; i < count; i++)
		frames[i].address = address;
	/* One address can have several right names; the symbol is what others show. */
	if (symbol)
		frames[count - 1].function = readable(symbolizer, symbol);
	return count;
}

static size_t name_without_file(struct pmp_symbolizer *symbolizer,
				struct pmp_known_module *module,
				const struct pmp_spot *spot, struct pmp_frame *frames)
{
	uint64_t lookup = spot->address - !(spot->flags & PMP_FRAME_EXACT);
	const char *name = NULL;

	if (module->jitmap)
		name = pmp_jitmap_find(module->jitmap, lookup);
	else if (module->source && module->source->kind == PMP_MODULE_KERNEL)
		name = pmp_kernel_names_find(&symbolizer->modules.kernel, lookup);
	frames[0].address = spot->address;
	if (name)
		frames[0].function = readable(symbolizer, name);
	return 1;
}

void pmp_naming_location(struct pmp_symbolizer *symbolizer, pmp_location number)
{
	const struct pmp_spot spot = symbolizer->locations.items[number].spot;
	struct pmp_known_module *module = symbolizer->modules.items[spot.module];
	struct pmp_frame frames[PMP_PLACES_MAX] = { { 0 } }, *kept;
	size_t count = 1;

	symbolizer->naming = true;
	pmp_opening_all(symbolizer, module);
	if (module->file)
		count = name_in_file(symbolizer, module, &spot, frames);
	else
		count = name_without_file(symbolizer, module, &spot, frames);
	if (spot.flags & PMP_FRAME_SIGNAL) {
		frames[0] = (struct pmp_frame){
			.function = pmp_strings_keep(&symbolizer->strings,
						     "<signal handler called>"),
			.signal = true,
			.address = frames[0].address,
		};
		count = 1;
	}
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
	symbolizer->naming = false;
}
