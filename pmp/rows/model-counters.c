/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes rows of counters. Counters (a thread, a stack, a count) that pass the filters are
 * merged by the names of their stacks.
 */
#include "libpmp-program.h"
#include "rows/model-rows.h"
#include "rows/model.h"

/* ---- states of threads --------------------------------------------------------- */

static pmp_marks marks_of(const struct model *model, size_t stack)
{
	return stack < model->stack_count ? model->stacks[stack].marks : 0;
}

char model_state(const struct model *model, char state, bool waits_for_lock, size_t stack)
{
	pmp_marks marks = marks_of(model, stack);

	if (state != 'S')
		return state;
	return waits_for_lock || pmp_filter_is_locked(marks) ? 'L' : state;
}

/* ---- filters ----------------------------------------------------------------- */

static bool matches(const struct text_filter *filter, const char *text)
{
	return !filter->filter ||
	       pmp_filter_matches(filter->filter, PMP_FILTER_FOCUS, text);
}

bool model_thread_passes(const struct model *model, const char *name)
{
	return matches(&model->threads, name);
}

static bool name_passes(const struct model *model, struct name *name)
{
	if (name->checked != model->filter_number)
		name->matches = matches(&model->frames, name->full);
	name->checked = model->filter_number;
	return name->matches;
}

/* Does any function in the chain match? */
static bool chain_passes(struct model *model, uint32_t number)
{
	struct name_chain *chain = &model->chains[number];

	if (!model->frames.filter)
		return true;
	if (chain->checked == model->filter_number)
		return chain->matches;
	chain->checked = model->filter_number;
	chain->matches = false;
	for (uint32_t i = 0; i < chain->count && !chain->matches; i++)
		chain->matches = name_passes(
			model,
			&model->names.names[model->names_of_chains[chain->first + i]]);
	return chain->matches;
}

/* The command line's filter and the pattern typed in the view. */
bool model_stack_passes(struct model *model, size_t stack, uint32_t chain)
{
	pmp_marks marks = marks_of(model, stack);

	if (!model->focused)
		marks |= PMP_MARK_FOCUS;
	return pmp_filter_passes(model->filter, marks) && chain_passes(model, chain);
}

/* A thread that waits for a lock, by its bytes, is not idle, whatever its functions. */
static bool idle_passes(const struct model *model, size_t stack, char state, bool locked,
			const char *syscall)
{
	bool idle;

	if (model->settings.idle == PMP_IDLE_SHOWN)
		return true;
	idle = !locked && pmp_filter_is_idle(marks_of(model, stack), state, syscall);
	return idle == (model->settings.idle == PMP_IDLE_ONLY);
}

bool model_passes(struct model *model, size_t stack, char state, bool locked,
		  const char *syscall, bool *passes)
{
	uint32_t chain = model_chain_of(model, stack);

	*passes = chain != NAME_NONE && model_stack_passes(model, stack, chain) &&
		  idle_passes(model, stack, state, locked, syscall);
	return chain != NAME_NONE;
}

/* ---- threads and processes ----------------------------------------------------- */

static bool prepare_thread(struct model *model, size_t i)
{
	struct pmp_live_thread thread = { .size = sizeof(thread) };
	struct thread_row *row = &model->thread_rows[i];
	char folded[64];

	pmp_live_thread(model->live, i, &thread);
	if (thread.present && (thread.kind || *thread.syscall) &&
	    !model_learn_wait(model, thread.stack, thread.kind))
		return false;
	row->process = (uint32_t)thread.process;
	row->tid = thread.tid;
	row->passes = matches(&model->threads, thread.name);
	row->name = names_add(&model->names, thread.name, "");
	pmp_filter_thread(model->filter, thread.name, folded, sizeof(folded));
	row->group = names_add(&model->names, folded, "");
	return row->name != NAME_NONE && row->group != NAME_NONE;
}

static bool prepare_processes(struct model *model)
{
	size_t count = pmp_live_process_count(model->live);

	if (!model_extend(&model->weights, &model->process_count, count,
			  sizeof(*model->weights)))
		return false;
	for (size_t i = 0; i < count; i++) {
		struct pmp_live_process process = { .size = sizeof(process) };

		pmp_live_process(model->live, i, model_window(model), &process);
		model->weights[i] = process.samples ? 1.0 / (double)process.samples : 0;
	}
	return true;
}

enum step_progress model_prepare(struct model *model, uint64_t until)
{
	size_t count = pmp_live_thread_count(model->live);

	if (!model_extend(&model->thread_rows, &model->thread_count, count,
			  sizeof(*model->thread_rows)) ||
	    !prepare_processes(model))
		return STEP_FAILED;
	while (model->build->at < count) {
		if (!prepare_thread(model, model->build->at))
			return STEP_FAILED;
		model->build->prepared = model->build->at + 1;
		if (model_next(model, until))
			return STEP_ON;
	}
	return STEP_DONE;
}

/* Add a row for a thread that exists. */
static bool list_thread(struct model *model, size_t i)
{
	const struct pmp_live_thread thread = model_thread(model, i);
	const struct thread_row *names = &model->thread_rows[i];
	struct view_row *row;
	uint32_t chain;
	char state;

	if (!thread.present || !names->passes)
		return true;
	chain = model_chain_of(model, thread.stack);
	if (chain == NAME_NONE)
		return false;
	state = model_state(model, thread.state, thread.waits_for_lock, thread.stack);
	if (!model_stack_passes(model, thread.stack, chain) ||
	    !idle_passes(model, thread.stack, thread.state, thread.waits_for_lock,
			 thread.syscall))
		return true;
	row = model_add_row(model, hash_mix((uint64_t)thread.process + 1,
					    thread.tid ? (uint64_t)thread.tid
						       : ~(uint64_t)names->name));
	if (!row)
		return false;
	row->process = (uint32_t)thread.process;
	row->group = names->name;
	row->thread = (uint32_t)i;
	row->stack = (uint32_t)thread.stack;
	row->chain = chain;
	row->state = state;
	row->count = thread.cpu;
	return true;
}

enum step_progress model_threads(struct model *model, uint64_t until)
{
	/* Threads newer than that must wait for the next build. */
	while (model->build->at < model->build->prepared) {
		if (!list_thread(model, model->build->at))
			return STEP_FAILED;
		if (model_next(model, until))
			return STEP_ON;
	}
	return STEP_DONE;
}

/* ---- stacks ---------------------------------------------------------------------- */

uint64_t model_family(const struct model *model, const struct view_row *stack)
{
	uint64_t family = 0;

	if (pmp_live_process_count(model->live) > 1)
		family = hash_mix(1, stack->process + 1);
	if (model->settings.split)
		family = hash_mix(family, stack->group + UINT64_C(1));
	return family;
}

/* The row of a stack by its names; per process if there are several, and per thread name
 * if rows are split. */
static struct view_row *find_sum(struct model *model, const struct view_row *part)
{
	uint64_t family = model_family(model, part);
	uint64_t identity = model->chains[part->chain].hash;
	struct row_of *row_of;
	struct view_row *row;
	bool added;

	/* Chains may be added during counting: these have no row yet. */
	if (part->chain >= model->build->row_of_count &&
	    !model_reserve_row_of(model, model->chain_capacity))
		return NULL;
	row_of = &model->build->row_of[part->chain];
	row = model_row_of(model, row_of, family,
			   family ? hash_mix(identity, family) : identity, &added);
	if (row && added)
		row->chain = part->chain;
	return row;
}

static bool count_counter(struct model *model, size_t i)
{
	struct pmp_live_counter counter;
	const struct thread_row *thread;
	struct view_row part = { 0 }, *row;

	if (!model_counter(model, i, &counter))
		return false;
	part.count = counter.count;
	/* A thread newer than that must wait for the next build. */
	if (!part.count || counter.thread >= model->build->prepared)
		return true;
	thread = &model->thread_rows[counter.thread];
	if (!thread->passes)
		return true;
	part.chain = model_chain_of(model, counter.stack);
	if (part.chain == NAME_NONE)
		return false;
	/* A stack that is not final will get another name. */
	model->build->final &= model->stacks[counter.stack].final;
	if (!model_stack_passes(model, counter.stack, part.chain) ||
	    !idle_passes(model, counter.stack, counter.state, counter.waits_for_lock,
			 counter.syscall))
		return true;
	part.state =
		model_state(model, counter.state, counter.waits_for_lock, counter.stack);
	part.average = (double)part.count * model->weights[thread->process];
	part.process = thread->process;
	part.group = model->settings.ungrouped ? thread->name : thread->group;
	part.thread = (uint32_t)counter.thread;
	part.stack = (uint32_t)counter.stack;
	row = find_sum(model, &part);
	if (!row)
		return false;
	model_count(row, &part);
	/* Stacks have no callees. */
	row->self = row->count;
	row->self_average = row->average;
	model->list.collected_total += part.count;
	model->list.collected_average += part.average;
	return true;
}

static struct collected wanted_of(const struct model *model)
{
	const struct settings *settings = &model->settings;

	return (struct collected){
		.time = model->info.time,
		.stacks = model->all.stacks,
		.renumbered = model->info.renumbered,
		.moved = model->info.moved,
		.filter_number = model->filter_number,
		.window = model_window(model),
		.idle = settings->idle,
		.ungrouped = settings->ungrouped,
		.split = settings->split,
	};
}

bool model_is_collected(const struct model *model, const struct row_list *list)
{
	const struct collected one = wanted_of(model), *other = &list->collected;

	return list->are_final && one.time == other->time &&
	       one.stacks == other->stacks && one.renumbered == other->renumbered &&
	       one.moved == other->moved && one.filter_number == other->filter_number &&
	       one.window == other->window && one.idle == other->idle &&
	       one.ungrouped == other->ungrouped && one.split == other->split;
}

/* Swap the rows with the rows of stacks. */
static void exchange(struct row_list *list)
{
	struct view_row *rows = list->rows;
	size_t count = list->row_count, capacity = list->row_capacity;

	list->rows = list->stack_rows;
	list->row_count = list->stack_row_count;
	list->row_capacity = list->stack_row_capacity;
	list->stack_rows = rows;
	list->stack_row_count = count;
	list->stack_row_capacity = capacity;
	list->are_rows ^= true;
}

void model_part_rows(struct row_list *list)
{
	if (list->are_rows)
		exchange(list);
}

static bool begin_collecting(struct model *model)
{
	struct row_list *list = &model->list;

	exchange(list);
	model->build->same = model_is_collected(model, list);
	if (model->build->same)
		return true;
	list->are_final = false;
	list->row_count = 0;
	list->collected = wanted_of(model);
	list->collected_total = 0;
	list->collected_average = 0;
	model->build->final = true;
	return model_reserve_row_of(model, model->chain_count);
}

enum step_progress model_collect(struct model *model, uint64_t until)
{
	struct build *build = model->build;

	if (!build->begun && !begin_collecting(model))
		return STEP_FAILED;
	build->begun = true;
	while (!build->same && build->at < pmp_live_counter_count(model->live)) {
		if (!count_counter(model, build->at))
			return STEP_FAILED;
		if (model_next(model, until))
			return STEP_ON;
	}
	if (!build->same)
		model->list.are_final = build->final;
	model->list.total = model->list.collected_total;
	model->list.total_average = model->list.collected_average;
	return STEP_DONE;
}
