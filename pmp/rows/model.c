/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of a view, made step by step: each step does as much as there is time for, and
 * the old rows are shown until the last step is done. So keys are answered at once,
 * however much there is to count. The steps are described in model-rows.h.
 */
#include "rows/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libpmp-program.h"
#include "rows/model-rows.h"
#include "rows/view-type.h"

#define NAMES_MIN 65536 /* always keep this many */

/* ---- life -------------------------------------------------------------------- */

void model_init(struct model *model, struct pmp_symbolizer *symbolizer)
{
	*model = (struct model){ .symbolizer = symbolizer,
				 .unit = "",
				 .filter_number = 1,
				 .names_limit = NAMES_MIN };
}

/* Give up stacks that belong to another list. */
static void disown(struct row_list *list)
{
	model_part_rows(list);
	list->stack_rows = NULL;
	list->stack_row_count = list->stack_row_capacity = 0;
	list->row_count = list->order_count = 0;
	list->are_final = false;
}

static void give_up(struct model *model)
{
	if (!model->build)
		return;
	if (model->build->shares)
		disown(&model->spare);
	hash_free(&model->build->table);
	sort_free(&model->build->sort);
	model_drop_tree(&model->spare);
	free(model->build->row_of);
	free(model->build);
	model->build = NULL;
}

/* Empty a list, but keep its memory. */
static void clear_list(struct row_list *list)
{
	model_drop_tree(list);
	list->row_count = list->stack_row_count = list->order_count = 0;
	list->are_final = false;
}

static void free_list(struct row_list *list)
{
	model_drop_tree(list);
	free(list->rows);
	free(list->stack_rows);
	free(list->locks);
	free(list->heaps);
	free(list->objects);
	free(list->order);
}

static void clear_filter(struct text_filter *filter)
{
	pmp_filter_free(filter->filter);
	*filter = (struct text_filter){ 0 };
}

void model_free(struct model *model)
{
	clear_filter(&model->frames);
	clear_filter(&model->threads);
	names_free(&model->names);
	hash_free(&model->chain_table);
	hash_free(&model->nodes);
	free(model->location_names);
	free(model->names_of_locations);
	free(model->marks_of_locations);
	free(model->functions);
	free(model->kept);
	free(model->marks);
	free(model->stacks);
	model_forget_waits(model);
	free(model->waits);
	free(model->chains);
	free(model->names_of_chains);
	free(model->wanted);
	free(model->thread_rows);
	free(model->weights);
	give_up(model);
	free_list(&model->list);
	free_list(&model->spare);
	model_free_census(model);
	*model = (struct model){ 0 };
}

void model_set_live(struct model *model, const struct pmp_live *live)
{
	give_up(model);
	clear_list(&model->list);
	clear_list(&model->spare);
	model->live = live;
	model->stack_count = 0;
	model_forget_waits(model);
	model->renumbered = 0;
}

void model_set_profile(struct model *model, struct pmp_profile *profile)
{
	model->profile = profile;
	model->heap = (struct pmp_live_heap){ .size = sizeof(model->heap) };
	model->heap_time = 0;
}

void model_set_filter(struct model *model, const struct pmp_filter *filter)
{
	const char *focus = pmp_filter_text(filter, PMP_FILTER_FOCUS);

	model->filter = filter;
	model->focused = *focus != '\0';
	snprintf(model->frames.text, sizeof(model->frames.text), "%s", focus);
}

bool model_filter(struct model *model, struct text_filter *filter, const char *text,
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

bool model_reserve(void *array, size_t *capacity, size_t need, size_t size)
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

bool model_extend(void *array, size_t *count, size_t need, size_t size)
{
	size_t capacity = *count;

	if (need <= *count)
		return true;
	if (!model_reserve(array, &capacity, need, size))
		return false;
	memset(*(char **)array + *count * size, 0, (capacity - *count) * size);
	*count = capacity;
	return true;
}

bool model_is_several(const struct model *model)
{
	return model->live &&
	       (pmp_live_process_count(model->live) > 1 || model->heap.processes > 1);
}

enum pmp_window model_window(const struct model *model)
{
	return model->file ? PMP_WINDOW_START : (enum pmp_window)model->settings.window;
}

bool model_has_average(const struct model *model)
{
	return !*model->unit && !model->guessed;
}

bool model_shows_average(const struct model *model)
{
	return model->settings.average && model_has_average(model);
}

/* ---- making rows ------------------------------------------------------------- */

struct view_row *model_add_row(struct model *model, uint64_t identity)
{
	struct row_list *list = &model->list;
	struct view_row *row;

	if (!MODEL_RESERVE(&list->rows, &list->row_capacity, list->row_count + 1))
		return NULL;
	row = &list->rows[list->row_count++];
	*row = (struct view_row){ .identity = identity,
				  .process = NAME_NONE,
				  .group = NAME_NONE,
				  .chain = NAME_NONE,
				  .name = NAME_NONE,
				  .first = NAME_NONE,
				  .next = NAME_NONE,
				  .parent = NAME_NONE };
	return row;
}

bool model_reserve_row_of(struct model *model, size_t count)
{
	struct build *build = model->build;
	struct row_of *row_of = reallocarray(build->row_of, count + 1, sizeof(*row_of));

	if (!row_of)
		return false;
	for (size_t i = build->row_of_count; i <= count; i++)
		row_of[i] = (struct row_of){ .row = NAME_NONE };
	build->row_of = row_of;
	build->row_of_count = count + 1;
	return true;
}

/* Most have rows in one family only; rows of other families are in the table. */
struct view_row *model_row_of(struct model *model, struct row_of *row_of, uint64_t family,
			      uint64_t identity, bool *added)
{
	struct row_list *list = &model->list;
	struct hash *table = &model->build->table;
	uint32_t *number;

	*added = row_of->row == NAME_NONE;
	if (!*added && row_of->family == family)
		return &list->rows[row_of->row];
	if (!*added) {
		/* Put the previous row into the table, to find it there from now on. */
		if (!hash_get(table, list->rows[row_of->row].identity, row_of->row, NULL))
			return NULL;
		number = hash_get(table, identity, (uint32_t)list->row_count, added);
		if (!number)
			return NULL;
		row_of->row = *number;
	} else {
		row_of->row = (uint32_t)list->row_count;
	}
	row_of->family = family;
	return *added ? model_add_row(model, identity) : &list->rows[row_of->row];
}

static void fill_ranks(struct model *model, struct sorter *sort)
{
	const struct sorting *by = &model->build->sorting;
	bool threads = model->list.type->row == ROW_THREAD;
	const struct view_row *row = &model->list.rows[sort->count];
	uint64_t order = by->order(model, row);

	sort->ranks[sort->count++] = (struct rank){
		.order = by->reverse ? ~order : order,
		.count = threads ? 0 : ~row->count,
		.tie = threads ? row->thread : row->identity,
		.row = (uint32_t)(row - model->list.rows),
	};
}

static int compare_rows(const void *arg, uint32_t a, uint32_t b)
{
	const struct model *model = arg;
	const struct sorting *by = &model->build->sorting;
	int order = by->compare(model, &model->list.rows[a], &model->list.rows[b]);

	return by->reverse ? -order : order;
}

enum step_progress model_order(struct model *model, uint64_t until)
{
	struct build *build = model->build;
	struct row_list *list = &model->list;
	struct sorter *sort = &build->sort;

	if (!build->begun && (!names_sort(&model->names, model->settings.full) ||
			      !sort_begin(sort, list->row_count)))
		return STEP_FAILED;
	build->begun = true;
	while (sort->count < list->row_count) {
		fill_ranks(model, sort);
		if (model_next(model, until))
			return STEP_ON;
	}
	sort->compare = build->sorting.compare ? compare_rows : NULL;
	sort->arg = model;
	if (!sort_go_on(sort, until))
		return STEP_ON;
	if (!MODEL_RESERVE(&list->order, &list->order_capacity, list->row_count))
		return STEP_FAILED;
	for (size_t i = 0; i < list->row_count; i++)
		list->order[i] = sort->ranks[i].row;
	list->order_count = list->row_count;
	return STEP_DONE;
}

/* ---- step by step ------------------------------------------------------------- */

/* Stacks and locations were renumbered, or there are many names of ended threads. */
static void forget(struct model *model)
{
	names_free(&model->names);
	hash_clear(&model->chain_table);
	hash_clear(&model->nodes);
	clear_list(&model->list);
	clear_list(&model->spare);
	model->location_names_count = 0;
	model->names_of_locations_count = 0;
	model->stack_count = 0;
	model_forget_waits(model);
	model->chain_count = 0;
	model->names_of_chains_count = 0;
	model->wanted_count = 0;
	model->renumbered = model->info.renumbered;
	model->names_limit = 0;
}

static void exchange_lists(struct model *model)
{
	struct row_list list = model->list;

	model->list = model->spare;
	model->spare = list;
}

/* The stacks shown need no counting: both lists have them until one gives them up. */
static void share_stacks(struct model *model)
{
	const struct row_list *from = &model->list;
	struct row_list *to = &model->spare;

	free(to->stack_rows);
	to->stack_rows = from->are_rows ? from->rows : from->stack_rows;
	to->stack_row_count = from->are_rows ? from->row_count : from->stack_row_count;
	to->stack_row_capacity =
		from->are_rows ? from->row_capacity : from->stack_row_capacity;
	to->are_final = from->are_final;
	to->collected = from->collected;
	to->collected_total = from->collected_total;
	to->collected_average = from->collected_average;
	model->build->shares = true;
}

static bool collects(const struct view_type *type)
{
	for (size_t i = 0; type->steps[i]; i++)
		if (type->steps[i] == model_collect)
			return true;
	return false;
}

/* Prepare the next list, and what is shown until it is complete. */
static void prepare_lists(struct model *model, const struct view_type *type)
{
	struct row_list *list = &model->list, *spare = &model->spare;

	model_part_rows(spare);
	if (collects(type) && !model_is_collected(model, spare) &&
	    model_is_collected(model, list))
		share_stacks(model);
	if (list->type != type) {
		model_drop_tree(list);
		list->order_count = 0;
	}
	spare->type = type;
	spare->row_count = spare->order_count = 0;
	spare->total = 0;
	spare->total_average = 0;
}

void model_begin(struct model *model, const struct view_type *type,
		 const struct sorting *sorting)
{
	uint64_t moved = model->info.moved;

	give_up(model);
	model->info = (struct pmp_live_info){ .size = sizeof(model->info) };
	model->all = (struct pmp_live_window){ .size = sizeof(model->all) };
	if (!model->live) {
		clear_list(&model->list);
		return;
	}
	pmp_live_info(model->live, &model->info);
	pmp_live_window(model->live, PMP_WINDOW_START, &model->all);
	if (model->info.moved != moved) {
		clear_list(&model->list);
		clear_list(&model->spare);
	}
	if (model->info.renumbered != model->renumbered ||
	    model->names.count > model->names_limit)
		forget(model);
	model->build = calloc(1, sizeof(*model->build));
	model->failed = !model->build;
	if (!model->build)
		return;
	model->build->sorting = *sorting;
	prepare_lists(model, type);
}

/* False: no memory. *done: the list is complete. */
static bool go_on(struct model *model, uint64_t until, bool *done)
{
	struct build *build = model->build;
	enum step_progress progress = STEP_DONE;

	for (;;) {
		model_step *step = model->list.type->steps[build->step];

		*done = !step;
		if (!step)
			return true;
		progress = step(model, until);
		if (progress != STEP_DONE)
			return progress == STEP_ON;
		build->step++;
		build->begun = false;
		build->at = 0;
	}
}

bool model_go_on(struct model *model, uint64_t until)
{
	bool done = false;

	if (!model->build)
		return true;
	exchange_lists(model);
	model->failed = !go_on(model, until, &done);
	if (!done && !model->failed) {
		exchange_lists(model);
		return false;
	}
	give_up(model);
	if (!model->names_limit)
		model->names_limit = 2 * model->names.count + NAMES_MIN;
	return true;
}

bool model_is_busy(const struct model *model)
{
	return model->build;
}

bool model_is_valid(const struct model *model)
{
	struct pmp_live_info info = { .size = sizeof(info) };

	if (!model->live)
		return true;
	pmp_live_info(model->live, &info);
	return info.moved == model->info.moved &&
	       info.renumbered == model->info.renumbered;
}

/* ---- what is shown ------------------------------------------------------------- */

const struct view_row *model_row(const struct model *model, size_t i)
{
	const struct row_list *list = &model->list;

	return i < list->order_count ? &list->rows[list->order[i]] : NULL;
}

static bool is_at(const struct row_list *list, uint64_t identity, size_t at)
{
	return at < list->order_count && list->rows[list->order[at]].identity == identity;
}

long model_find(const struct model *model, uint64_t identity, size_t around)
{
	const struct row_list *list = &model->list;

	/* Search up and down in turn: most rows move only a little. */
	for (size_t i = 0; i <= around || around + i < list->order_count; i++) {
		if (is_at(list, identity, around + i))
			return (long)(around + i);
		if (i <= around && is_at(list, identity, around - i))
			return (long)(around - i);
	}
	return -1;
}
