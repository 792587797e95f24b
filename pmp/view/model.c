/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of a view, made step by step: each step does as much as there is time for, and
 * what was shown before is shown until the last is done. So a key is answered at once,
 * whatever there is to count. What the steps are is said in model-rows.h.
 */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../clock.h"
#include "model-rows.h"

#define NAMES_MIN 65536 /* are kept in any case */

/* ---- life -------------------------------------------------------------------- */

void pmp_model_init(struct pmp_model *model, struct pmp_symbolizer *symbolizer)
{
	*model = (struct pmp_model){ .symbolizer = symbolizer,
				     .filter_number = 1,
				     .names_limit = NAMES_MIN };
}

/* Its stacks are another list's. */
static void disown(struct pmp_list *list)
{
	pmp_model_part_rows(list);
	list->stack_rows = NULL;
	list->stack_row_count = list->stack_row_capacity = 0;
	list->row_count = list->order_count = 0;
	list->are_final = false;
}

static void give_up(struct pmp_model *model)
{
	if (!model->making)
		return;
	if (model->making->shares)
		disown(&model->spare);
	pmp_table_free(&model->making->table);
	pmp_sort_free(&model->making->sort);
	pmp_model_drop_tree(&model->spare);
	free(model->making->known);
	free(model->making);
	model->making = NULL;
}

/* There is nothing in it; it keeps its memory. */
static void clear_list(struct pmp_list *list)
{
	pmp_model_drop_tree(list);
	list->row_count = list->stack_row_count = list->order_count = 0;
	list->are_final = false;
}

static void free_list(struct pmp_list *list)
{
	pmp_model_drop_tree(list);
	free(list->rows);
	free(list->stack_rows);
	free(list->order);
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
	give_up(model);
	free_list(&model->list);
	free_list(&model->spare);
	*model = (struct pmp_model){ 0 };
}

void pmp_model_set_live(struct pmp_model *model, const struct pmp_live *live)
{
	give_up(model);
	clear_list(&model->list);
	clear_list(&model->spare);
	model->live = live;
	model->stack_count = 0;
	model->renumbered = 0;
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

bool pmp_model_extend(void *array, size_t *count, size_t need, size_t size)
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

enum pmp_window pmp_model_window(const struct pmp_model *model)
{
	return model->saved ? PMP_WINDOW_START : (enum pmp_window)model->settings.window;
}

/* ---- making rows ------------------------------------------------------------- */

struct pmp_row *pmp_model_add_row(struct pmp_model *model, uint64_t key)
{
	struct pmp_list *list = &model->list;
	struct pmp_row *row;

	if (!PMP_MODEL_RESERVE(&list->rows, &list->row_capacity, list->row_count + 1))
		return NULL;
	row = &list->rows[list->row_count++];
	*row = (struct pmp_row){ .key = key,
				 .process = PMP_NAME_NONE,
				 .group = PMP_NAME_NONE,
				 .chain = PMP_NAME_NONE,
				 .name = PMP_NAME_NONE,
				 .first = PMP_NAME_NONE,
				 .next = PMP_NAME_NONE,
				 .parent = PMP_NAME_NONE };
	return row;
}

bool pmp_model_know(struct pmp_model *model, size_t count)
{
	struct pmp_making *making = model->making;
	struct pmp_known *known = reallocarray(making->known, count + 1, sizeof(*known));

	if (!known)
		return false;
	for (size_t i = making->known_count; i <= count; i++)
		known[i] = (struct pmp_known){ .row = PMP_NAME_NONE };
	making->known = known;
	making->known_count = count + 1;
	return true;
}

/* Most are of one family only: the others are in the table. */
struct pmp_row *pmp_model_known_row(struct pmp_model *model, struct pmp_known *known,
				    uint64_t family, uint64_t key, bool *added)
{
	struct pmp_list *list = &model->list;
	struct pmp_table *table = &model->making->table;
	uint32_t *number;

	*added = known->row == PMP_NAME_NONE;
	if (!*added && known->family == family)
		return &list->rows[known->row];
	if (!*added) {
		/* The one that was known before can be found there from now on. */
		if (!pmp_table_get(table, list->rows[known->row].key, known->row, NULL))
			return NULL;
		number = pmp_table_get(table, key, (uint32_t)list->row_count, added);
		if (!number)
			return NULL;
		known->row = *number;
	} else {
		known->row = (uint32_t)list->row_count;
	}
	known->family = family;
	return *added ? pmp_model_add_row(model, key) : &list->rows[known->row];
}

static void fill_ranks(struct pmp_model *model, struct pmp_sorter *sort)
{
	const struct pmp_sorting *by = &model->making->sorting;
	bool threads = model->list.view == PMP_VIEW_THREADS;
	const struct pmp_row *row = &model->list.rows[sort->count];
	uint64_t key = by->key(by->arg, row);

	sort->ranks[sort->count++] = (struct pmp_rank){
		.key = by->reverse ? ~key : key,
		.count = threads ? 0 : ~row->count,
		.tie = threads ? row->thread : row->key,
		.row = (uint32_t)(row - model->list.rows),
	};
}

static int compare_rows(const void *arg, uint32_t a, uint32_t b)
{
	const struct pmp_model *model = arg;
	const struct pmp_sorting *by = &model->making->sorting;
	int order = by->compare(by->arg, &model->list.rows[a], &model->list.rows[b]);

	return by->reverse ? -order : order;
}

enum pmp_progress_of_step pmp_model_order(struct pmp_model *model, uint64_t until)
{
	struct pmp_making *making = model->making;
	struct pmp_list *list = &model->list;
	struct pmp_sorter *sort = &making->sort;

	if (!making->begun && (!pmp_names_sort(&model->names, model->settings.full) ||
			       !pmp_sort_begin(sort, list->row_count)))
		return PMP_STEP_FAILED;
	making->begun = true;
	while (sort->count < list->row_count) {
		fill_ranks(model, sort);
		if (pmp_model_next(model, until))
			return PMP_STEP_ON;
	}
	sort->compare = making->sorting.compare ? compare_rows : NULL;
	sort->arg = model;
	if (!pmp_sort_go_on(sort, until))
		return PMP_STEP_ON;
	if (!PMP_MODEL_RESERVE(&list->order, &list->order_capacity, list->row_count))
		return PMP_STEP_FAILED;
	for (size_t i = 0; i < list->row_count; i++)
		list->order[i] = sort->ranks[i].row;
	list->order_count = list->row_count;
	return PMP_STEP_DONE;
}

/* ---- step by step ------------------------------------------------------------- */

static pmp_model_step *const steps[PMP_VIEW_COUNT][5] = {
	[PMP_VIEW_STACKS] = { pmp_model_look, pmp_model_collect, pmp_model_order },
	[PMP_VIEW_FUNCTIONS] = { pmp_model_look, pmp_model_collect, pmp_model_functions,
				 pmp_model_order },
	[PMP_VIEW_TREE] = { pmp_model_look, pmp_model_collect, pmp_model_paths,
			    pmp_model_tree },
	[PMP_VIEW_THREADS] = { pmp_model_look, pmp_model_threads, pmp_model_order },
};

bool pmp_model_is_late(uint64_t until)
{
	return until != UINT64_MAX && pmp_now() >= until;
}

/* Numbers of stacks and locations mean others now, or there are many names of threads
 * that have ended. */
static void forget(struct pmp_model *model)
{
	pmp_names_free(&model->names);
	pmp_table_clear(&model->chain_table);
	pmp_table_clear(&model->nodes);
	clear_list(&model->list);
	clear_list(&model->spare);
	model->place_count = 0;
	model->names_of_places_count = 0;
	model->stack_count = 0;
	model->chain_count = 0;
	model->names_of_chains_count = 0;
	model->wanted_count = 0;
	model->renumbered = model->info.renumbered;
	model->names_limit = 0;
}

static void exchange_lists(struct pmp_model *model)
{
	struct pmp_list list = model->list;

	model->list = model->spare;
	model->spare = list;
}

/* The stacks that are shown need not be counted again: both lists have them until one of
 * them is given up. */
static void share_stacks(struct pmp_model *model)
{
	const struct pmp_list *from = &model->list;
	struct pmp_list *to = &model->spare;

	free(to->stack_rows);
	to->stack_rows = from->are_rows ? from->rows : from->stack_rows;
	to->stack_row_count = from->are_rows ? from->row_count : from->stack_row_count;
	to->stack_row_capacity =
		from->are_rows ? from->row_capacity : from->stack_row_capacity;
	to->are_final = from->are_final;
	to->collected = from->collected;
	to->collected_total = from->collected_total;
	to->collected_average = from->collected_average;
	model->making->shares = true;
}

/* What the next list is made of, and what is shown until it is there. */
static void prepare_lists(struct pmp_model *model)
{
	struct pmp_list *list = &model->list, *spare = &model->spare;
	unsigned view = model->settings.view;

	pmp_model_part_rows(spare);
	if (view != PMP_VIEW_THREADS && !pmp_model_is_collected(model, spare) &&
	    pmp_model_is_collected(model, list))
		share_stacks(model);
	if (list->view != view) {
		pmp_model_drop_tree(list);
		list->order_count = 0;
	}
	spare->view = view;
	spare->row_count = spare->order_count = 0;
	spare->total = 0;
	spare->total_average = 0;
}

void pmp_model_begin(struct pmp_model *model, const struct pmp_sorting *sorting)
{
	uint64_t moved = model->info.moved;

	give_up(model);
	model->info = (struct pmp_live_info){ .size = sizeof(model->info) };
	if (!model->live) {
		clear_list(&model->list);
		return;
	}
	pmp_live_info(model->live, &model->info);
	if (model->info.moved != moved) {
		clear_list(&model->list);
		clear_list(&model->spare);
	}
	if (model->info.renumbered != model->renumbered ||
	    model->names.count > model->names_limit)
		forget(model);
	model->making = calloc(1, sizeof(*model->making));
	model->failed = !model->making;
	if (!model->making)
		return;
	model->making->sorting = *sorting;
	prepare_lists(model);
}

/* False: there is not enough memory. *done: it is all there. */
static bool go_on(struct pmp_model *model, uint64_t until, bool *done)
{
	struct pmp_making *making = model->making;
	enum pmp_progress_of_step progress = PMP_STEP_DONE;

	for (;;) {
		pmp_model_step *step = steps[model->list.view][making->step];

		*done = !step;
		if (!step)
			return true;
		progress = step(model, until);
		if (progress != PMP_STEP_DONE)
			return progress == PMP_STEP_ON;
		making->step++;
		making->begun = false;
		making->at = 0;
	}
}

bool pmp_model_go_on(struct pmp_model *model, uint64_t until)
{
	bool done = false;

	if (!model->making)
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

bool pmp_model_is_busy(const struct pmp_model *model)
{
	return model->making;
}

bool pmp_model_is_valid(const struct pmp_model *model)
{
	struct pmp_live_info info = { .size = sizeof(info) };

	if (!model->live)
		return true;
	pmp_live_info(model->live, &info);
	return info.moved == model->info.moved &&
	       info.renumbered == model->info.renumbered;
}

/* ---- what is shown ------------------------------------------------------------- */

const struct pmp_row *pmp_model_row(const struct pmp_model *model, size_t i)
{
	const struct pmp_list *list = &model->list;

	return i < list->order_count ? &list->rows[list->order[i]] : NULL;
}

static bool is_at(const struct pmp_list *list, uint64_t key, size_t at)
{
	return at < list->order_count && list->rows[list->order[at]].key == key;
}

long pmp_model_find(const struct pmp_model *model, uint64_t key, size_t around)
{
	const struct pmp_list *list = &model->list;

	/* Upwards and downwards in turn: most rows have moved a little. */
	for (size_t i = 0; i <= around || around + i < list->order_count; i++) {
		if (is_at(list, key, around + i))
			return (long)(around + i);
		if (i <= around && is_at(list, key, around - i))
			return (long)(around - i);
	}
	return -1;
}
