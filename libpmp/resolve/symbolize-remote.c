/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Naming locations in modules that another process reads. As a request takes longer than
 * naming a location, all unnamed locations of the module are named with the first one; for
 * a view, which waits for what is on its screen, only a few of them.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "resolve/symbolizer-state.h"

#define FOR_VIEW 64 /* locations named at a time for a view */
#define NEAR 64	    /* modules that are checked for others to open */

/* A batch of locations to be named. */
struct remote_batch {
	struct pmp_symbolizer *symbolizer;
	struct pmp_dso_entry *module;
	bool objects;
	pmp_location *numbers;
	uint64_t *places;
	size_t count, numbers_capacity, places_capacity;
};

static bool has_files(const struct pmp_dso_entry *module)
{
	return module->file ||
	       (module->source && module->source->kind == PMP_MODULE_PERF_MAP);
}

bool pmp_state_is_remote(const struct pmp_symbolizer *symbolizer,
			 const struct pmp_dso_entry *module)
{
	return symbolizer->remote.calls && has_files(module);
}

/* ---- modules ------------------------------------------------------------------------------ */

static uint32_t remote_options(const struct pmp_symbolizer *symbolizer)
{
	const struct pmp_symbolizer_options *options = &symbolizer->options;

	return (options->no_symbols ? PMP_REMOTE_NO_SYMBOLS : 0) |
	       (options->no_inline && !options->lines ? PMP_REMOTE_NO_DWARF : 0) |
	       (options->lines ? PMP_REMOTE_LINES : 0) |
	       (options->no_inline ? PMP_REMOTE_NO_INLINE : 0) |
	       (symbolizer->log.line ? PMP_REMOTE_DEBUGS : 0);
}

/* Open source->fd in the process. False: it is of another build, and closed. */
static bool try_saved(struct pmp_symbolizer *symbolizer, struct pmp_dso_entry *module,
		      const struct pmp_remote_options *options,
		      const struct pmp_asked *asked)
{
	struct pmp_remote_module *remote = module->remote;

	pmp_remote_open(&symbolizer->remote, remote, module->source, options,
			asked->places, asked->count);
	if (remote->build_id[0] || remote->failed)
		return true;
	pmp_remote_close(&symbolizer->remote, remote);
	close(module->source->fd);
	module->source->fd = -1;
	return false;
}

/* Open a file of a saved profile: on this machine, else fetched. Returns NULL or why there
 * is none. */
static const char *open_saved(struct pmp_symbolizer *symbolizer,
			      struct pmp_dso_entry *module,
			      struct pmp_remote_options *options,
			      const struct pmp_asked *asked)
{
	struct pmp_module *source = module->source;
	bool here = source->fd >= 0;
	int fd;

	options->only = module->saved_id;
	if (here && try_saved(symbolizer, module, options, asked))
		return NULL;
	for (unsigned place = 0; pmp_dso_open_place(symbolizer->symfs, place, source);
	     place++) {
		here |= source->fd >= 0;
		if (source->fd >= 0 && try_saved(symbolizer, module, options, asked))
			return NULL;
	}
	fd = pmp_fetch_file(&options->fetch, module->saved_id, source->path, true);
	if (fd >= 0) {
		source->fd = fd;
		source->open_errno = 0;
		if (try_saved(symbolizer, module, options, asked))
			return NULL;
	}
	return here ? "this machine has another version of it" : "not on this machine";
}

/* With the lock: publish what other threads may read about a module. */
static void publish(struct pmp_symbolizer *symbolizer, struct pmp_dso_entry *module)
{
	const char *id = module->remote->build_id, *problem = module->remote->problem;

	module->remote_id = *id ? pmp_strings_keep(&symbolizer->strings, id) : NULL;
	module->remote_problem =
		*problem ? pmp_strings_keep(&symbolizer->strings, problem) : NULL;
}

void pmp_state_open_remote(struct pmp_symbolizer *symbolizer,
			   struct pmp_dso_entry *module)
{
	struct pmp_remote_options options = {
		.options = remote_options(symbolizer),
		.debug_dir = symbolizer->debug_dir,
		.log = &symbolizer->log,
	};
	const char *problem = NULL;
	struct pmp_asked asked = { 0 };

	module->wanted = false;
	if (module->saved_problem)
		return;
	if (!module->remote)
		module->remote = calloc(1, sizeof(*module->remote));
	if (!module->remote || pmp_remote_is_open(&symbolizer->remote, module->remote))
		return;
	if (!symbolizer->options.no_symbols)
		options.fetch = (struct pmp_fetch){ symbolizer->options.fetch,
						    symbolizer->options.fetch_arg };
	if (module->file)
		pmp_state_collect_asked(symbolizer, module, false, &asked);
	pmp_state_release(symbolizer);
	if (module->saved_id)
		problem = open_saved(symbolizer, module, &options, &asked);
	else
		pmp_remote_open(&symbolizer->remote, module->remote, module->source,
				&options, asked.places, asked.count);
	pmp_state_acquire(symbolizer);
	publish(symbolizer, module);
	module->saved_problem = problem;
	free(asked.places);
}

/* Writing needs all names: while the debug information of one module is being unpacked
 * there, open others. */
static void open_modules(struct pmp_symbolizer *symbolizer, struct pmp_dso_entry *first)
{
	const struct pmp_dso_table *modules = &symbolizer->modules;
	const bool others = first->wanted && pmp_state_names_all(symbolizer);
	size_t opened = 0;

	pmp_state_open_remote(symbolizer, first);
	for (size_t i = first->number + 1;
	     others && i < modules->count && i - first->number < NEAR &&
	     opened < PMP_UNPACKING_MAX;
	     i++) {
		struct pmp_dso_entry *module = modules->items[i];

		if (!module->wanted || !pmp_state_is_remote(symbolizer, module))
			continue;
		pmp_state_open_remote(symbolizer, module);
		opened++;
	}
	/* One of them may have killed the process. */
	pmp_state_open_remote(symbolizer, first);
}

/* ---- what is asked for ------------------------------------------------------------------- */

static bool add_location(struct remote_batch *batch, pmp_location number)
{
	const struct pmp_location_entry *location =
		&batch->symbolizer->locations.items[number];
	const struct pmp_location_key *key = &location->key;
	const bool before = !batch->objects && !(key->flags & PMP_FRAME_EXACT);

	if (PMP_RESERVE(&batch->numbers, &batch->numbers_capacity, batch->count + 1) ||
	    PMP_RESERVE(&batch->places, &batch->places_capacity, batch->count + 1))
		return false;
	batch->numbers[batch->count] = number;
	batch->places[batch->count++] = key->address - before;
	return true;
}

static bool belongs(const struct remote_batch *batch, pmp_location number)
{
	const struct pmp_location_entry *location =
		&batch->symbolizer->locations.items[number];

	return !location->frame_count &&
	       !(location->key.flags & PMP_LOCATION_OBJECT) == !batch->objects;
}

static void fill_batch(struct remote_batch *batch, pmp_location first)
{
	const struct pmp_locations *locations = &batch->symbolizer->locations;
	const size_t most =
		pmp_state_names_all(batch->symbolizer) ? PMP_REMOTE_PLACES_MAX : FOR_VIEW;

	add_location(batch, first);
	for (pmp_location i = pmp_locations_first(locations, batch->module->number);
	     i != PMP_LOCATION_NONE && batch->count < most;
	     i = locations->items[i].next) {
		if (i != first && belongs(batch, i) && !add_location(batch, i))
			return;
	}
}

/* ---- what comes ------------------------------------------------------------------------------ */

/* Keep a string of a place. NULL: there is none, or it is empty. */
static const char *keep(struct pmp_symbolizer *symbolizer,
			const struct pmp_remote_place *place, uint32_t offset)
{
	const char *text = pmp_remote_string(place, offset);

	return text && *text ? pmp_strings_keep(&symbolizer->strings, text) : NULL;
}

static void keep_names(struct pmp_symbolizer *symbolizer, struct pmp_frame *frame,
		       const struct pmp_remote_place *place,
		       const struct pmp_remote_name *name)
{
	const char *linkage = pmp_remote_string(place, name->linkage);

	frame->function = keep(symbolizer, place, name->function);
	if (frame->function)
		pmp_state_choose_name(symbolizer, frame,
				      linkage && *linkage ? linkage : NULL);
}

static void name_code(struct pmp_symbolizer *symbolizer, pmp_location number,
		      const struct pmp_remote_place *place)
{
	const struct pmp_location_key key = symbolizer->locations.items[number].key;
	struct pmp_dso_entry *module = symbolizer->modules.items[key.module];
	const size_t before = symbolizer->strings.size;
	const struct pmp_remote_name *names = pmp_remote_names(place);
	const size_t shown = pmp_state_may_name(symbolizer, module) ? place->count : 0;
	struct pmp_frame frames[PMP_PLACES_MAX] = { { 0 } };
	const size_t count = shown ? shown : 1;
	uint64_t address = key.address;

	if (place->code == 1)
		address = place->address + !(key.flags & PMP_FRAME_EXACT);
	for (size_t i = 0; i < shown; i++) {
		frames[i] = (struct pmp_frame){
			.file = keep(symbolizer, place, names[i].file),
			.line = names[i].line,
			.inlined = i + 1 < count,
			.address = address,
		};
		keep_names(symbolizer, &frames[i], place, &names[i]);
	}
	frames[0].address = address;
	pmp_state_count_names(symbolizer, module, before);
	pmp_state_finish(symbolizer, number, frames, count);
}

static void name_object(struct pmp_symbolizer *symbolizer, pmp_location number,
			const struct pmp_remote_place *place)
{
	const struct pmp_remote_name *names = pmp_remote_names(place);
	struct pmp_dso_entry *module =
		symbolizer->modules.items[symbolizer->locations.items[number].key.module];
	const size_t before = symbolizer->strings.size;
	const struct pmp_dso_object found = { .address = place->address,
					      .start = place->start };
	struct pmp_frame names_of = { 0 };

	if (place->count && pmp_state_may_name(symbolizer, module))
		keep_names(symbolizer, &names_of, place, &names[0]);
	pmp_state_count_names(symbolizer, module, before);
	pmp_state_finish_object(symbolizer, number, place->code, &found, &names_of);
}

static void take(void *arg, const struct pmp_remote_place *place)
{
	const struct remote_batch *batch = arg;
	struct pmp_symbolizer *symbolizer = batch->symbolizer;
	const pmp_location number = batch->numbers[place->index];

	pmp_state_acquire(symbolizer);
	if (symbolizer->locations.items[number].frame_count == 0) {
		if (batch->objects)
			name_object(symbolizer, number, place);
		else
			name_code(symbolizer, number, place);
	}
	pmp_state_release(symbolizer);
}

bool pmp_state_name_remote(struct pmp_symbolizer *symbolizer, pmp_location number)
{
	const struct pmp_location_key key = symbolizer->locations.items[number].key;
	struct pmp_dso_entry *module = symbolizer->modules.items[key.module];
	struct remote_batch batch = {
		symbolizer, module, (key.flags & PMP_LOCATION_OBJECT) != 0, NULL, NULL, 0,
		0,	    0
	};

	struct pmp_remote_wanted wanted;

	if (!pmp_state_is_remote(symbolizer, module))
		return false;
	symbolizer->naming = true;
	open_modules(symbolizer, module);
	if (module->remote && !module->remote->failed && !module->saved_problem) {
		fill_batch(&batch, number);
		pmp_state_release(symbolizer);
		wanted = (struct pmp_remote_wanted){ batch.objects, batch.places,
						     batch.count, take, &batch };
		if (batch.count)
			pmp_remote_name(&symbolizer->remote, module->remote, &wanted);
		pmp_state_acquire(symbolizer);
		publish(symbolizer, module);
	}
	free(batch.numbers);
	free(batch.places);
	symbolizer->naming = false;
	return symbolizer->locations.items[number].frame_count != 0;
}
