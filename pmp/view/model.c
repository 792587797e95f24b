/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of the views. Cells (a thread, a stack, how often) are put together by the
 * names of their functions: a chain is such a list of names, and equal lists are one.
 * The names of a location and the chain of a stack are kept once they are final.
 */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model-rows.h"

#define NAMES_MIN 65536 /* are kept in any case */
#define NAME_SIZE 8192 /* of a function; what is longer is cut off */

/* ---- life -------------------------------------------------------------------- */

void pmp_model_init(struct pmp_model *model, struct pmp_symbolizer *symbolizer)
{
	*model = (struct pmp_model){ .symbolizer = symbolizer,
				     .filter_number = 1,
				     .names_limit = NAMES_MIN };
}

static void clear_filter(struct pmp_match *filter)
{
	pmp_filter_free(filter->filter);
	*filter = (struct pmp_match){ 0 };
}

void pmp_model_free(struct pmp_model *model)
{
	clear_filter(&model->frames);
	clear_filter(&model->threads);
	pmp_names_free(&model->names);
	pmp_table_free(&model->chain_table);
	pmp_table_free(&model->nodes);
	free(model->places);
	free(model->names_of_places);
	free(model->marks_of_places);
	free(model->functions);
	free(model->left);
	free(model->marks);
	free(model->stacks);
	free(model->chains);
	free(model->names_of_chains);
	free(model->wanted);
	free(model->thread_rows);
	free(model->weights);
	pmp_model_drop_tree(model);
	free(model->stack_rows);
	free(model->rows);
	free(model->order);
	*model = (struct pmp_model){ 0 };
}

void pmp_model_set_live(struct pmp_model *model, const struct pmp_live *live)
{
	model->live = live;
	model->stack_count = 0;
	model->row_count = 0;
	model->order_count = 0;
	model->renumbered = 0;
	model->are_final = false;
}

void pmp_model_set_filter(struct pmp_model *model, const struct pmp_filter *filter)
{
	const char *focus = pmp_filter_text(filter, PMP_FILTER_FOCUS);

	model->filter = filter;
	model->focused = *focus != '\0';
	snprintf(model->frames.text, sizeof(model->frames.text), "%s", focus);
}

bool pmp_model_filter(struct pmp_model *model, struct pmp_match *filter, const char *text,
		      char *problem, size_t size)
{
	const struct pmp_filter_options options = { .size = sizeof(options),
						    .ignore_case = true };
	struct pmp_filter *new = NULL;
	struct pmp_error err;

	if (*text && pmp_filter_new(&new, &err) == 0)
		pmp_filter_set(new, &options);
	if (*text && (!new || pmp_filter_add(new, PMP_FILTER_FOCUS, text, &err) < 0)) {
		snprintf(problem, size, "%s", err.message);
		pmp_filter_free(new);
		return false;
	}
	clear_filter(filter);
	if (filter == &model->frames)
		model->focused = false;
	filter->filter = new;
	snprintf(filter->text, sizeof(filter->text), "%s", text);
	model->filter_number++;
	return true;
}

bool pmp_model_reserve(void *array, size_t *capacity, size_t need, size_t size)
{
	size_t wanted = *capacity;
	void *larger;

	if (need <= *capacity)
		return true;
	while (wanted < need)
		wanted = wanted ? 2 * wanted : 64;
	larger = reallocarray(*(void **)array, wanted, size);
	if (!larger)
		return false;
	*(void **)array = larger;
	*capacity = wanted;
	return true;
}

/* Make an array of things known by index as long as there are things; new ones are zero. */
static bool extend(void *array, size_t *count, size_t need, size_t size)
{
	size_t capacity = *count;

	if (need <= *count)
		return true;
	if (!pmp_model_reserve(array, &capacity, need, size))
		return false;
	memset(*(char **)array + *count * size, 0, (capacity - *count) * size);
	*count = capacity;
	return true;
}

/* ---- names ------------------------------------------------------------------- */

static bool keep_names(struct pmp_model *model, struct pmp_place *place,
		       pmp_location location, size_t count)
{
	size_t first = model->names_of_places_count;
	char shown[NAME_SIZE];

	if (!PMP_MODEL_RESERVE(&model->names_of_places, &model->names_of_places_capacity,
			       first + count) ||
	    !PMP_MODEL_RESERVE(&model->marks_of_places, &model->marks_of_places_capacity,
			       first + count))
		return false;
	for (size_t i = 0; i < count; i++) {
		struct pmp_frame_info info = { .size = sizeof(info) };
		uint32_t name;

		pmp_symbolizer_frame(model->symbolizer, location, i, &info);
		model->marks_of_places[first + i] =
			pmp_filter_function(model->filter, info.function, info.module,
					    shown, sizeof(shown));
		name = pmp_names_add(&model->names, shown, info.module);
		if (name == PMP_NAME_NONE)
			return false;
		model->names_of_places[first + i] = name;
	}
	model->names_of_places_count += count;
	place->first = (uint32_t)first;
	place->count = (uint32_t)count;
	place->named = true;
	return true;
}

static bool want(struct pmp_model *model, struct pmp_place *place, pmp_location location)
{
	if (place->asked)
		return true;
	if (!PMP_MODEL_RESERVE(&model->wanted, &model->wanted_capacity,
			       model->wanted_count + 1))
		return false;
	model->wanted[model->wanted_count++] = location;
	place->asked = true;
	return true;
}

static bool add_name(struct pmp_model *model, uint32_t name)
{
	if (name == PMP_NAME_NONE ||
	    !PMP_MODEL_RESERVE(&model->names_of_chains, &model->names_of_chains_capacity,
			       model->names_of_chains_count + 1))
		return false;
	model->names_of_chains[model->names_of_chains_count++] = name;
	return true;
}

/* Append a function to the stack at hand. */
static bool add_function(struct pmp_model *model, uint32_t name, pmp_marks marks)
{
	size_t need = model->function_count + 1;

	if (name == PMP_NAME_NONE ||
	    !PMP_MODEL_RESERVE(&model->functions, &model->function_capacity, need) ||
	    !PMP_MODEL_RESERVE(&model->left, &model->left_capacity, need) ||
	    !PMP_MODEL_RESERVE(&model->marks, &model->mark_capacity, need))
		return false;
	model->functions[model->function_count] = name;
	model->marks[model->function_count++] = marks;
	return true;
}

/* Append the names of a location; *final is cleared when they are not known yet. */
static bool add_location(struct pmp_model *model, pmp_location location, bool *final)
{
	struct pmp_frame_info info = { .size = sizeof(info) };
	struct pmp_place *place;
	char text[512];
	size_t count;

	if (!extend(&model->places, &model->place_count, (size_t)location + 1,
		    sizeof(*place)))
		return false;
	place = &model->places[location];
	if (!place->named) {
		count = pmp_symbolizer_frame(model->symbolizer, location, 0, &info);
		if (count && !keep_names(model, place, location, count))
			return false;
	}
	for (uint32_t i = 0; place->named && i < place->count; i++) {
		if (!add_function(model, model->names_of_places[place->first + i],
				  model->marks_of_places[place->first + i]))
			return false;
	}
	if (place->named)
		return true;
	*final = false;
	pmp_symbolizer_place(model->symbolizer, location, text, sizeof(text));
	return want(model, place, location) &&
	       add_function(model, pmp_names_add(&model->names, text, ""), 0);
}

static bool add_end(struct pmp_model *model, const char *end)
{
	char text[160];

	snprintf(text, sizeof(text), "[%s]", end);
	return add_name(model, pmp_names_add(&model->names, text, ""));
}

/* The names from first on become a chain, or are one already. */
static uint32_t make_chain(struct pmp_model *model, size_t first)
{
	size_t count = model->names_of_chains_count - first;
	struct pmp_chain *chain;
	uint64_t hash = count;
	uint32_t *number;
	bool added;

	/* By the text of the names: the hash is what a row is known by. */
	for (size_t i = 0; i < count; i++)
		hash = pmp_hash_mix(hash, model->names_of_chains[first + i] + 1);
	number = pmp_table_get(&model->chain_table, hash, (uint32_t)model->chain_count, &added);
	if (number && !added)
		model->names_of_chains_count = first;
	if (!number || !added)
		return number ? *number : PMP_NAME_NONE;
	if (!PMP_MODEL_RESERVE(&model->chains, &model->chain_capacity,
			       model->chain_count + 1)) {
		*number = PMP_NAME_NONE;
		return PMP_NAME_NONE;
	}
	chain = &model->chains[model->chain_count];
	*chain = (struct pmp_chain){ .first = (uint32_t)first,
				     .count = (uint32_t)count,
				     .hash = hash };
	return (uint32_t)model->chain_count++;
}

/* What the filter leaves of the stack at hand, as names of a chain. */
static bool add_left(struct pmp_model *model)
{
	size_t count = pmp_filter_trim(model->marks, model->function_count), n = 0;
	bool good = true;

	for (size_t i = 0; i < count; i++)
		if (!pmp_filter_is_hidden(model->marks[i]))
			model->functions[n++] = model->functions[i];
	if (count && !n)
		return add_end(model, "hidden");
	n = n ? pmp_filter_fold(model->filter, model->functions, n, model->left) : 0;
	for (size_t i = 0; i < n && good; i++)
		good = add_name(model, model->functions[model->left[i]]);
	return good;
}

uint32_t pmp_model_chain_of(struct pmp_model *model, size_t index)
{
	struct pmp_live_stack stack = { .size = sizeof(stack) };
	size_t first = model->names_of_chains_count;
	struct pmp_known_stack *known;
	bool final = true, good = true;

	if (!extend(&model->stacks, &model->stack_count, index + 1, sizeof(*known)))
		return PMP_NAME_NONE;
	known = &model->stacks[index];
	if (known->final)
		return known->chain;
	pmp_live_stack(model->live, index, &stack);
	model->function_count = 0;
	for (size_t i = 0; i < stack.count && good; i++)
		good = add_location(model, stack.locations[i], &final);
	known->marks = pmp_filter_stack(model->marks, model->function_count);
	good = good && add_left(model);
	if (good && !pmp_filter_is_trimmed(known->marks) && (*stack.end || stack.count == 0))
		good = add_end(model, *stack.end ? stack.end : "no stack");
	if (!good) {
		model->names_of_chains_count = first;
		return PMP_NAME_NONE;
	}
	known->chain = make_chain(model, first);
	known->final = final && known->chain != PMP_NAME_NONE;
	/* What is collected will have another name. */
	model->are_final &= known->final;
	return known->chain;
}

const char *pmp_model_name(const struct pmp_model *model, uint32_t name)
{
	if (name >= model->names.count)
		return "?";
	return model->settings.full ? model->names.names[name].full
				    : model->names.names[name].brief;
}

char *pmp_model_chain(const struct pmp_model *model, uint32_t number, char *buffer,
		      size_t size)
{
	const struct pmp_chain *chain = &model->chains[number];
	size_t length = 0;

	buffer[0] = '\0';
	if (number >= model->chain_count)
		return buffer;
	for (uint32_t i = 0; i < chain->count && length < size; i++)
		length += (size_t)snprintf(
			buffer + length, size - length, "%s%s", i ? "<" : "",
			pmp_model_name(model, model->names_of_chains[chain->first + i]));
	return buffer;
}

/* ---- what a thread is at ----------------------------------------------------- */

static pmp_marks marks_of(const struct pmp_model *model, size_t stack)
{
	return stack < model->stack_count ? model->stacks[stack].marks : 0;
}

char pmp_model_state(const struct pmp_model *model, char state, bool waits_for_lock,
		     size_t stack)
{
	pmp_marks marks = marks_of(model, stack);

	if (state != 'S')
		return state;
	/* What parks threads, Go's runtime for instance, makes the same call as a lock. */
	if (waits_for_lock && !pmp_filter_is_idle(marks, state, "futex"))
		return 'L';
	return pmp_filter_is_locked(marks) ? 'L' : state;
}

/* ---- filters ----------------------------------------------------------------- */

static bool matches(const struct pmp_match *filter, const char *text)
{
	return !filter->filter || pmp_filter_matches(filter->filter, PMP_FILTER_FOCUS, text);
}

static bool name_passes(const struct pmp_model *model, struct pmp_name *name)
{
	if (name->checked != model->filter_number)
		name->matches = matches(&model->frames, name->full);
	name->checked = model->filter_number;
	return name->matches;
}

/* Does any of its functions match? */
static bool chain_passes(struct pmp_model *model, uint32_t number)
{
	struct pmp_chain *chain = &model->chains[number];

	if (!model->frames.filter)
		return true;
	if (chain->checked == model->filter_number)
		return chain->matches;
	chain->checked = model->filter_number;
	chain->matches = false;
	for (uint32_t i = 0; i < chain->count && !chain->matches; i++)
		chain->matches = name_passes(
			model, &model->names.names[model->names_of_chains[chain->first + i]]);
	return chain->matches;
}

/* What the command line wants, and what is asked for here. */
static bool stack_passes(struct pmp_model *model, size_t stack, uint32_t chain)
{
	pmp_marks marks = marks_of(model, stack);

	if (!model->focused)
		marks |= PMP_MARK_FOCUS;
	return pmp_filter_passes(model->filter, marks) && chain_passes(model, chain);
}

static bool idle_passes(const struct pmp_model *model, size_t stack, char state,
			const char *syscall)
{
	bool idle = pmp_filter_is_idle(marks_of(model, stack), state, syscall);

	switch (model->settings.idle) {
	case PMP_IDLE_HIDDEN: return !idle;
	case PMP_IDLE_ONLY: return idle;
	default: return true;
	}
}

enum pmp_window pmp_model_window(const struct pmp_model *model)
{
	return model->saved ? PMP_WINDOW_START : (enum pmp_window)model->settings.window;
}

/* What is the same for all cells of a thread. */
static bool look_at_threads(struct pmp_model *model)
{
	size_t count = pmp_live_thread_count(model->live);
	char folded[64];

	if (!extend(&model->thread_rows, &model->thread_count, count,
		    sizeof(*model->thread_rows)))
		return false;
	for (size_t i = 0; i < count; i++) {
		struct pmp_live_thread thread = { .size = sizeof(thread) };
		struct pmp_thread_row *row = &model->thread_rows[i];

		pmp_live_thread(model->live, i, &thread);
		row->process = (uint32_t)thread.process;
		row->tid = thread.tid;
		row->passes = matches(&model->threads, thread.name);
		row->name = pmp_names_add(&model->names, thread.name, "");
		row->group = pmp_names_add(
			&model->names,
			pmp_filter_thread(model->filter, thread.name, folded,
					  sizeof(folded)),
			"");
	}
	return true;
}

static bool look_at_processes(struct pmp_model *model)
{
	size_t count = pmp_live_process_count(model->live);

	if (!extend(&model->weights, &model->process_count, count, sizeof(*model->weights)))
		return false;
	for (size_t i = 0; i < count; i++) {
		struct pmp_live_process process = { .size = sizeof(process) };
		uint64_t samples;

		pmp_live_process(model->live, i, &process);
		samples = process.samples[pmp_model_window(model)];
		model->weights[i] = samples ? 1.0 / (double)samples : 0;
	}
	return true;
}

/* ---- rows -------------------------------------------------------------------- */

struct pmp_row *pmp_model_add_row(struct pmp_model *model, uint64_t key)
{
	struct pmp_row *row;

	if (!PMP_MODEL_RESERVE(&model->rows, &model->row_capacity, model->row_count + 1))
		return NULL;
	row = &model->rows[model->row_count++];
	*row = (struct pmp_row){ .key = key,
				 .process = PMP_NAME_NONE,
				 .group = PMP_NAME_NONE,
				 .chain = PMP_NAME_NONE,
				 .name = PMP_NAME_NONE,
				 .first = PMP_NAME_NONE,
				 .next = PMP_NAME_NONE,
				 .last = PMP_NAME_NONE,
				 .parent = PMP_NAME_NONE };
	return row;
}

/* The row of a stack by names: of a process if there are several, of a group of threads
 * if rows are split. */
static struct pmp_row *find_sum(struct pmp_model *model, struct pmp_table *table,
				const struct pmp_row *part)
{
	uint64_t key = model->chains[part->chain].hash;
	struct pmp_row *row;
	uint32_t *number;
	bool added;

	if (pmp_live_process_count(model->live) > 1)
		key = pmp_hash_mix(key, part->process + 1);
	if (model->settings.split)
		key = pmp_hash_mix(key, (uint64_t)part->group + (UINT64_C(1) << 32));
	number = pmp_table_get(table, key, (uint32_t)model->row_count, &added);
	if (!number)
		return NULL;
	if (!added)
		return &model->rows[*number];
	row = pmp_model_add_row(model, key);
	if (row)
		row->chain = part->chain;
	return row;
}

static bool count_cell(struct pmp_model *model, struct pmp_table *table, size_t i)
{
	struct pmp_live_cell cell = { .size = sizeof(cell) };
	const struct pmp_thread_row *thread;
	struct pmp_row part = { 0 }, *row;

	pmp_live_cell(model->live, i, &cell);
	part.count = part.most = cell.counts[pmp_model_window(model)];
	thread = &model->thread_rows[cell.thread];
	if (!part.count || !thread->passes)
		return true;
	part.chain = pmp_model_chain_of(model, cell.stack);
	if (part.chain == PMP_NAME_NONE)
		return false;
	part.state = pmp_model_state(model, cell.state, cell.waits_for_lock, cell.stack);
	if (!stack_passes(model, cell.stack, part.chain) ||
	    !idle_passes(model, cell.stack, cell.state, cell.syscall))
		return true;
	part.average = (double)part.count * model->weights[thread->process];
	part.process = thread->process;
	part.group = model->settings.ungrouped ? thread->name : thread->group;
	part.thread = (uint32_t)cell.thread;
	part.stack = (uint32_t)cell.stack;
	row = find_sum(model, table, &part);
	if (!row)
		return false;
	pmp_model_count(row, &part);
	model->total += part.count;
	model->total_average += part.average;
	return true;
}

/* Stacks as rows become the rows, or leave them. */
static void exchange(struct pmp_model *model)
{
	struct pmp_row *rows = model->rows;
	size_t count = model->row_count, capacity = model->row_capacity;

	model->rows = model->stack_rows;
	model->row_count = model->stack_row_count;
	model->row_capacity = model->stack_row_capacity;
	model->stack_rows = rows;
	model->stack_row_count = count;
	model->stack_row_capacity = capacity;
	model->are_rows ^= true;
}

/* The list is in this order at first: then there is nothing to sort. */
static int by_count(const void *a, const void *b)
{
	const struct pmp_row *one = a, *other = b;

	if (one->count != other->count)
		return one->count < other->count ? 1 : -1;
	return (one->key > other->key) - (one->key < other->key);
}

static struct pmp_collected wanted_of(const struct pmp_model *model)
{
	const struct pmp_settings *settings = &model->settings;

	return (struct pmp_collected){
		.time = model->info.time,
		.stacks = model->info.stacks[PMP_WINDOW_START],
		.renumbered = model->info.renumbered,
		.filter_number = model->filter_number,
		.window = pmp_model_window(model),
		.idle = settings->idle,
		.ungrouped = settings->ungrouped,
		.split = settings->split,
	};
}

static bool is_same(const struct pmp_collected *one, const struct pmp_collected *other)
{
	return one->time == other->time && one->stacks == other->stacks &&
	       one->renumbered == other->renumbered &&
	       one->filter_number == other->filter_number && one->window == other->window &&
	       one->idle == other->idle && one->ungrouped == other->ungrouped &&
	       one->split == other->split;
}

/* One row for each stack by names, unless they are there already. They are the rows when
 * it returns true. */
static bool collect(struct pmp_model *model)
{
	const struct pmp_collected wanted = wanted_of(model);
	size_t count = pmp_live_cell_count(model->live);
	struct pmp_table table = { 0 };
	bool good = true;

	exchange(model);
	if (model->are_final && is_same(&wanted, &model->collected)) {
		model->total = model->collected_total;
		model->total_average = model->collected_average;
		return true;
	}
	model->row_count = 0;
	model->are_final = true;
	for (size_t i = 0; i < count && good; i++)
		good = count_cell(model, &table, i);
	pmp_table_free(&table);
	model->are_final &= good;
	model->collected = wanted;
	model->collected_total = model->total;
	model->collected_average = model->total_average;
	for (size_t i = 0; i < model->row_count; i++) {
		model->rows[i].self = model->rows[i].count;
		model->rows[i].self_average = model->rows[i].average;
	}
	if (model->row_count)
		qsort(model->rows, model->row_count, sizeof(*model->rows), by_count);
	return good;
}

/* One row for each thread that is there. */
static bool list_threads(struct pmp_model *model)
{
	size_t count = pmp_live_thread_count(model->live);

	for (size_t i = 0; i < count; i++) {
		struct pmp_live_thread thread = { .size = sizeof(thread) };
		struct pmp_thread_row *known = &model->thread_rows[i];
		struct pmp_row *row;
		uint32_t chain;
		char state;

		pmp_live_thread(model->live, i, &thread);
		if (!thread.present || !known->passes)
			continue;
		chain = pmp_model_chain_of(model, thread.stack);
		if (chain == PMP_NAME_NONE)
			return false;
		state = pmp_model_state(model, thread.state, thread.waits_for_lock,
					thread.stack);
		if (!stack_passes(model, thread.stack, chain) ||
		    !idle_passes(model, thread.stack, thread.state, thread.syscall))
			continue;
		row = pmp_model_add_row(model,
					pmp_hash_mix((uint64_t)thread.process + 1,
						     thread.tid ? (uint64_t)thread.tid
								: ~(uint64_t)known->name));
		if (!row)
			return false;
		row->process = (uint32_t)thread.process;
		row->group = known->name;
		row->thread = (uint32_t)i;
		row->stack = (uint32_t)thread.stack;
		row->chain = chain;
		row->state = state;
		row->count = thread.cpu;
	}
	return true;
}

static bool show_all(struct pmp_model *model)
{
	if (!PMP_MODEL_RESERVE(&model->order, &model->order_capacity, model->row_count))
		return false;
	for (size_t i = 0; i < model->row_count; i++)
		model->order[i] = (uint32_t)i;
	model->order_count = model->row_count;
	return true;
}

static bool build(struct pmp_model *model)
{
	bool good;

	if (!look_at_threads(model) || !look_at_processes(model))
		return false;
	switch (model->settings.view) {
	case PMP_VIEW_THREADS: return list_threads(model) && show_all(model);
	case PMP_VIEW_FUNCTIONS:
		good = collect(model);
		exchange(model);
		return good && pmp_model_functions(model) && show_all(model);
	case PMP_VIEW_TREE:
		good = collect(model);
		exchange(model);
		return good && pmp_model_tree(model);
	default: return collect(model) && show_all(model);
	}
}

/* Numbers of stacks and locations mean others now, or there are many names of threads
 * that have ended. */
static void forget(struct pmp_model *model)
{
	pmp_names_free(&model->names);
	pmp_table_clear(&model->chain_table);
	pmp_table_clear(&model->nodes);
	model->place_count = 0;
	model->names_of_places_count = 0;
	model->stack_count = 0;
	model->chain_count = 0;
	model->names_of_chains_count = 0;
	model->wanted_count = 0;
	model->renumbered = model->info.renumbered;
	model->names_limit = 0;
	model->are_final = false;
}

void pmp_model_build(struct pmp_model *model)
{
	pmp_model_drop_tree(model);
	if (model->are_rows)
		exchange(model);
	model->row_count = 0;
	model->order_count = 0;
	model->total = 0;
	model->total_average = 0;
	model->info = (struct pmp_live_info){ .size = sizeof(model->info) };
	if (!model->live)
		return;
	pmp_live_info(model->live, &model->info);
	if (model->info.renumbered != model->renumbered ||
	    model->names.count > model->names_limit)
		forget(model);
	model->failed = !build(model);
	if (!model->names_limit)
		model->names_limit = 2 * model->names.count + NAMES_MIN;
}

const struct pmp_row *pmp_model_row(const struct pmp_model *model, size_t i)
{
	return i < model->order_count ? &model->rows[model->order[i]] : NULL;
}

long pmp_model_find(const struct pmp_model *model, uint64_t key)
{
	for (size_t i = 0; i < model->order_count; i++) {
		if (model->rows[model->order[i]].key == key)
			return (long)i;
	}
	return -1;
}
