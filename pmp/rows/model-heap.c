/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A heap as rows: stacks by names, or allocating functions. These are the callers of
 * malloc() and the allocator's other functions, which allocate nothing for themselves.
 */
#include <stdio.h>
#include <string.h>

#include "libpmp-program.h"
#include "rows/model-rows.h"
#include "rows/model.h"
#include "rows/view-type.h"

/* Prefixes of the C library and other allocators for the functions below. */
static const char *const prefixes[] = { "__libc_", "__", "tc_", "je_", "mi_" };
static const char *const allocators[] = {
	"malloc",	 "calloc",	   "realloc", "reallocarray", "memalign",
	"aligned_alloc", "posix_memalign", "valloc",  "pvalloc",
};
static const char *const operators[] = { "operator new(", "operator new[](" };

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static bool is_allocator(const struct model *model, uint32_t name)
{
	const char *text = model->names.names[name].full;
	size_t skipped = 0;

	for (size_t i = 0; i < COUNT(operators); i++)
		if (strncmp(text, operators[i], strlen(operators[i])) == 0)
			return true;
	for (size_t i = 0; i < COUNT(prefixes) && !skipped; i++)
		if (strncmp(text, prefixes[i], strlen(prefixes[i])) == 0)
			skipped = strlen(prefixes[i]);
	for (size_t i = 0; i < COUNT(allocators); i++)
		if (strcmp(text + skipped, allocators[i]) == 0)
			return true;
	return false;
}

/* Index of the allocating function, the innermost that is not the allocator's; else 0. */
static uint32_t allocating(const struct model *model, const struct name_chain *chain)
{
	const uint32_t *names = model->names_of_chains + chain->first;
	uint32_t i = 0;

	while (i < chain->count && is_allocator(model, names[i]))
		i++;
	return i < chain->count ? i : 0;
}

/* ---- rows ------------------------------------------------------------------------- */

/* A stack as read, and what all its rows share. */
struct heap_part {
	struct pmp_live_heap_stack stack;
	uint32_t chain, group, process; /* numbers of names */
	uint64_t family;
	uint32_t number;
};

static struct heap_row *more_of(struct model *model, const struct view_row *row)
{
	return &model->list.heaps[row - model->list.rows];
}

/* The row of a chain or a name, made if needed. NULL: no memory. */
static struct view_row *find_row(struct model *model, const struct heap_part *part,
				 uint32_t index, uint64_t identity)
{
	struct row_list *list = &model->list;
	struct view_row *row;
	bool added;

	/* Names may be added during counting: these have no row yet. */
	if (index >= model->build->row_of_count &&
	    !model_reserve_row_of(model, 2 * (size_t)index))
		return NULL;
	if (!MODEL_RESERVE(&list->heaps, &list->heap_capacity, list->row_count + 1))
		return NULL;
	row = model_row_of(model, &model->build->row_of[index], part->family,
			   part->family ? hash_mix(identity, part->family) : identity,
			   &added);
	if (!row || !added)
		return row;
	*more_of(model, row) =
		(struct heap_row){ .pid = part->stack.pid, .process = part->process };
	row->group = part->group;
	row->thread = NAME_NONE;
	row->stack = (uint32_t)part->stack.stack;
	return row;
}

static void add_own(struct heap_row *more, const struct pmp_live_heap_stack *stack)
{
	more->live += stack->live;
	more->allocated += stack->allocated;
	more->blocks += stack->blocks;
	more->allocs += stack->allocs;
	more->live_variance += stack->live_error * stack->live_error;
	more->alloc_variance += stack->alloc_error * stack->alloc_error;
	more->stays += stack->stays;
	if (more->oldest < stack->oldest)
		more->oldest = stack->oldest;
	for (size_t i = 0; i < PMP_LIVE_AGES; i++) {
		more->age_bytes[i] += stack->age_bytes[i];
		more->age_blocks[i] += stack->age_blocks[i];
	}
}

static uint64_t positive(int64_t value)
{
	return value > 0 ? (uint64_t)value : 0;
}

/* own: it is the allocating function. */
static void add_part(struct model *model, struct view_row *row,
		     const struct heap_part *part, bool own)
{
	const struct pmp_live_heap_stack *stack = &part->stack;
	struct heap_row *more = more_of(model, row);
	/* To choose the stack shown with the row: own allocations first, then
	 * the largest. */
	const uint64_t weight = positive(stack->live) / 2 + (own ? INT64_MAX / 2 : 0) + 1;

	more->total += stack->live;
	more->total_allocated += stack->allocated;
	if (own)
		add_own(more, stack);
	row->groups |= row->group != part->group;
	if (more->process != part->process)
		more->process = NAME_NONE;
	if (more->pid != part->stack.pid)
		more->pid = 0;
	row->count = positive(more->total);
	if (weight <= row->most)
		return;
	row->most = weight;
	row->stack = (uint32_t)stack->stack;
	row->group = part->group;
}

static bool add_stack(struct model *model, const struct heap_part *part)
{
	struct view_row *row =
		find_row(model, part, part->chain, model->chains[part->chain].hash);

	if (!row)
		return false;
	row->chain = part->chain;
	add_part(model, row, part, true);
	return true;
}

/* A recursive function counts once per stack. */
static bool add_functions(struct model *model, const struct heap_part *part)
{
	const struct name_chain *chain = &model->chains[part->chain];
	const uint32_t *names = model->names_of_chains + chain->first;
	const uint32_t own = chain->count ? names[allocating(model, chain)] : NAME_NONE;

	for (uint32_t i = 0; i < chain->count; i++) {
		struct view_row *row =
			find_row(model, part, names[i], (UINT64_C(1) << 33) + names[i]);
		struct row_of *row_of = &model->build->row_of[names[i]];

		if (!row)
			return false;
		row->name = names[i];
		if (row_of->last != part->number)
			add_part(model, row, part, names[i] == own);
		row_of->last = part->number;
	}
	return true;
}

/* ---- counting ---------------------------------------------------------------------- */

/* Identifies the process or thread for which rows are kept apart; 0: all together. */
static uint64_t family_of(const struct model *model, const struct heap_part *part)
{
	uint64_t family = 0;

	if (model->heap.processes > 1)
		family = hash_mix(1, part->process + UINT64_C(1));
	if (model->settings.split)
		family = hash_mix(family, part->group + UINT64_C(1));
	return family;
}

/* "4100 mariadbd" */
static uint32_t name_process(struct model *model, const struct pmp_live_heap_stack *stack)
{
	char text[96];

	snprintf(text, sizeof(text), "%d %s", (int)stack->pid, stack->process);
	return names_add(&model->names, text, "");
}

/* Has nothing changed in the window? */
static bool is_same(const struct pmp_live_heap_stack *stack)
{
	return !stack->live && !stack->allocated && !(stack->allocs > 0) &&
	       !(stack->blocks > 0) && !(stack->blocks < 0);
}

static bool count_stack(struct model *model, size_t i)
{
	struct heap_part part = { .stack = { .size = sizeof(part.stack) },
				  .number = (uint32_t)i + 1 };
	char folded[64];
	int code = pmp_profile_heap_stack(model->profile, i, model->heap_time,
					  model_window(model), &part.stack);

	if (code)
		return code != PMP_ENOMEM;
	if (is_same(&part.stack) || !model_thread_passes(model, part.stack.thread))
		return true;
	part.chain = model_chain_of(model, part.stack.stack);
	if (part.chain == NAME_NONE)
		return false;
	if (!model_stack_passes(model, part.stack.stack, part.chain))
		return true;
	pmp_filter_thread(model->filter, part.stack.thread, folded, sizeof(folded));
	part.group =
		names_add(&model->names,
			  model->settings.ungrouped ? part.stack.thread : folded, "");
	part.process = name_process(model, &part.stack);
	if (part.group == NAME_NONE || part.process == NAME_NONE)
		return false;
	part.family = family_of(model, &part);
	model->list.total += positive(part.stack.live);
	return model->settings.functions ? add_functions(model, &part)
					 : add_stack(model, &part);
}

static bool begin(struct model *model)
{
	struct build *build = model->build;

	model_part_rows(&model->list);
	model->list.row_count = 0;
	build->row_of_count = 0;
	build->begun = true;
	model->heap.size = sizeof(model->heap);
	model->heap_time = now_ns();
	pmp_profile_sum_heap(model->profile, model->heap_time, model_window(model),
			     &model->heap);
	return model_reserve_row_of(model, model->settings.functions
						   ? model->names.count
						   : model->chain_count);
}

enum step_progress model_heap(struct model *model, uint64_t until)
{
	struct build *build = model->build;

	if (!model->profile)
		return STEP_DONE;
	if (!build->begun && !begin(model))
		return STEP_FAILED;
	while (build->at < model->heap.stacks) {
		if (!count_stack(model, build->at))
			return STEP_FAILED;
		if (model_next(model, until))
			return STEP_ON;
	}
	return STEP_DONE;
}
