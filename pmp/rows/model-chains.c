/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of stacks. A chain is a list of names; equal lists are one chain. The names
 * of a location and the chain of a stack are cached once final. A location without names
 * yet is shown by its address, and its names are requested.
 */
#include "libpmp-program.h"
#include "rows/model-rows.h"
#include "rows/model.h"

#include <stdio.h>

#define NAME_SIZE 8192 /* of a function; longer names are cut off */

static bool rotate_names(struct model *model, struct frame_names *frames,
			 pmp_location location, size_t count)
{
	size_t first = model->names_of_locations_count;
	char shown[NAME_SIZE];

	if (!MODEL_RESERVE(&model->names_of_locations,
			   &model->names_of_locations_capacity, first + count) ||
	    !MODEL_RESERVE(&model->marks_of_locations,
			   &model->marks_of_locations_capacity, first + count))
		return false;
	for (size_t i = 0; i < count; i++) {
		struct pmp_frame_info info = { .size = sizeof(info) };
		uint32_t name;

		pmp_symbolizer_frame(model->symbolizer, location, i, &info);
		model->marks_of_locations[first + i] =
			pmp_filter_function(model->filter, info.function, info.readable,
					    info.module, shown, sizeof(shown));
		name = names_add(&model->names, shown, info.module);
		if (name == NAME_NONE)
			return false;
		model->names_of_locations[first + i] = name;
	}
	model->names_of_locations_count += count;
	frames->first = (uint32_t)first;
	frames->count = (uint32_t)count;
	frames->named = true;
	return true;
}

static bool want(struct model *model, struct frame_names *frames, pmp_location location)
{
	if (frames->wanted)
		return true;
	if (!MODEL_RESERVE(&model->wanted, &model->wanted_capacity,
			   model->wanted_count + 1))
		return false;
	model->wanted[model->wanted_count++] = location;
	frames->wanted = true;
	return true;
}

bool model_want(struct model *model, pmp_location location)
{
	return model_extend(&model->location_names, &model->location_names_count,
			    (size_t)location + 1, sizeof(*model->location_names)) &&
	       want(model, &model->location_names[location], location);
}

static bool add_name(struct model *model, uint32_t name)
{
	if (name == NAME_NONE ||
	    !MODEL_RESERVE(&model->names_of_chains, &model->names_of_chains_capacity,
			   model->names_of_chains_count + 1))
		return false;
	model->names_of_chains[model->names_of_chains_count++] = name;
	return true;
}

/* Append a function to the current stack. */
static bool add_function(struct model *model, uint32_t name, pmp_marks marks)
{
	size_t need = model->function_count + 1;

	if (name == NAME_NONE ||
	    !MODEL_RESERVE(&model->functions, &model->function_capacity, need) ||
	    !MODEL_RESERVE(&model->kept, &model->kept_capacity, need) ||
	    !MODEL_RESERVE(&model->marks, &model->mark_capacity, need))
		return false;
	model->functions[model->function_count] = name;
	model->marks[model->function_count++] = marks;
	return true;
}

/* Append the names of a location; clears *final if they are not known yet. */
static bool add_location(struct model *model, pmp_location location, bool *final)
{
	struct pmp_frame_info info = { .size = sizeof(info) };
	struct frame_names *frames;
	char text[512];
	size_t count;

	if (!model_extend(&model->location_names, &model->location_names_count,
			  (size_t)location + 1, sizeof(*frames)))
		return false;
	frames = &model->location_names[location];
	if (!frames->named) {
		count = pmp_symbolizer_frame(model->symbolizer, location, 0, &info);
		if (count && !rotate_names(model, frames, location, count))
			return false;
	}
	for (uint32_t i = 0; frames->named && i < frames->count; i++) {
		if (!add_function(model, model->names_of_locations[frames->first + i],
				  model->marks_of_locations[frames->first + i]))
			return false;
	}
	if (frames->named)
		return true;
	*final = false;
	pmp_symbolizer_place(model->symbolizer, location, text, sizeof(text));
	return want(model, frames, location) &&
	       add_function(model, names_add(&model->names, text, ""), 0);
}

static bool add_end(struct model *model, const char *end)
{
	char text[160];

	snprintf(text, sizeof(text), "[%s]", end);
	return add_name(model, names_add(&model->names, text, ""));
}

/* Make the names from first on a chain, or find the equal one. */
static uint32_t make_chain(struct model *model, size_t first)
{
	size_t count = model->names_of_chains_count - first;
	struct name_chain *chain;
	uint64_t hash = count;
	uint32_t *number;
	bool added;

	/* The identity of rows comes from this hash. */
	for (size_t i = 0; i < count; i++)
		hash = hash_mix(hash, model->names_of_chains[first + i] + 1);
	if (!MODEL_RESERVE(&model->chains, &model->chain_capacity,
			   model->chain_count + 1))
		return NAME_NONE;
	number =
		hash_get(&model->chain_table, hash, (uint32_t)model->chain_count, &added);
	if (number && !added)
		model->names_of_chains_count = first;
	if (!number || !added)
		return number ? *number : NAME_NONE;
	chain = &model->chains[model->chain_count];
	*chain = (struct name_chain){ .first = (uint32_t)first,
				      .count = (uint32_t)count,
				      .hash = hash };
	return (uint32_t)model->chain_count++;
}

/* Make what the filter leaves of the current stack the names of a chain. */
static bool add_left(struct model *model)
{
	size_t count = pmp_filter_trim(model->marks, model->function_count), n = 0;
	bool good = true;

	for (size_t i = 0; i < count; i++)
		if (!pmp_filter_is_hidden(model->marks[i]))
			model->functions[n++] = model->functions[i];
	if (count && !n)
		return add_end(model, "hidden");
	n = n ? pmp_filter_fold(model->filter, model->functions, n, model->kept) : 0;
	for (size_t i = 0; i < n && good; i++)
		good = add_name(model, model->functions[model->kept[i]]);
	return good;
}

uint32_t model_chain_of(struct model *model, size_t index)
{
	struct pmp_live_stack stack = { .size = sizeof(stack) };
	size_t first = model->names_of_chains_count;
	struct stack_names *stack_names;
	bool final = true, good = true;

	if (!model_extend(&model->stacks, &model->stack_count, index + 1,
			  sizeof(*stack_names)))
		return NAME_NONE;
	stack_names = &model->stacks[index];
	if (stack_names->final)
		return stack_names->chain;
	pmp_live_stack(model->live, index, &stack);
	model->function_count = 0;
	for (size_t i = 0; i < stack.count && good; i++)
		good = add_location(model, stack.locations[i], &final);
	stack_names->marks = pmp_filter_stack_marks(model->marks, model->function_count);
	good = good && add_left(model);
	if (good && !pmp_filter_is_trimmed(stack_names->marks) &&
	    (*stack.end || stack.count == 0))
		good = add_end(model, *stack.end ? stack.end : "no stack");
	if (!good) {
		model->names_of_chains_count = first;
		return NAME_NONE;
	}
	stack_names->chain = make_chain(model, first);
	stack_names->final = final && stack_names->chain != NAME_NONE;
	return stack_names->chain;
}

const char *model_name(const struct model *model, uint32_t name)
{
	if (name >= model->names.count)
		return "?";
	return model->settings.full ? model->names.names[name].full
				    : model->names.names[name].brief;
}

char *model_chain(const struct model *model, uint32_t number, char *buffer, size_t size)
{
	const struct name_chain *chain = &model->chains[number];
	size_t length = 0;

	buffer[0] = '\0';
	if (number >= model->chain_count)
		return buffer;
	for (uint32_t i = 0; i < chain->count && length < size; i++)
		length += (size_t)snprintf(
			buffer + length, size - length, "%s%s", i ? "<" : "",
			model_name(model, model->names_of_chains[chain->first + i]));
	return buffer;
}
