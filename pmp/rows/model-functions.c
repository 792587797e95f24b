/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions, from rows of stacks: alone, and with callees. */
#include "rows/model-rows.h"
#include "rows/model.h"

/* A recursive function counts once per stack. */
static bool count_stack(struct model *model, const struct view_row *stack,
			uint32_t number)
{
	const struct name_chain *chain = &model->chains[stack->chain];
	const uint32_t *names = model->names_of_chains + chain->first;
	uint64_t family = model_family(model, stack);

	for (uint32_t i = 0; i < chain->count; i++) {
		struct row_of *row_of = &model->build->row_of[names[i]];
		bool added = false;
		struct view_row *row;

		if (row_of->family == family && row_of->row != NAME_NONE)
			row = &model->list.rows[row_of->row];
		else
			row = model_row_of(
				model, row_of, family,
				hash_mix(family, (UINT64_C(1) << 33) + names[i]), &added);
		if (!row)
			return false;
		if (added)
			row->name = names[i];
		if (i == 0) {
			row->self += stack->count;
			row->self_average += stack->average;
		}
		if (row_of->last != number)
			model_count(row, stack);
		row_of->last = number;
	}
	return true;
}

static bool begin(struct model *model)
{
	struct build *build = model->build;

	model_part_rows(&model->list);
	model->list.row_count = 0;
	hash_free(&build->table);
	build->row_of_count = 0;
	build->begun = true;
	return model_reserve_row_of(model, model->names.count);
}

enum step_progress model_functions(struct model *model, uint64_t until)
{
	struct build *build = model->build;
	struct row_list *list = &model->list;

	if (!build->begun && !begin(model))
		return STEP_FAILED;
	while (build->at < list->stack_row_count) {
		if (!count_stack(model, &list->stack_rows[build->at],
				 (uint32_t)build->at + 1))
			return STEP_FAILED;
		if (model_next(model, until))
			return STEP_ON;
	}
	return STEP_DONE;
}
