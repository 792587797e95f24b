/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions, out of rows that are stacks: alone, and with what they call. */
#include "model-rows.h"

/* A function that is twice in a stack counts once. */
static bool count_stack(struct pmp_model *model, const struct pmp_row *stack,
			uint32_t number)
{
	const struct pmp_chain *chain = &model->chains[stack->chain];
	const uint32_t *names = model->names_of_chains + chain->first;
	uint64_t family = pmp_model_family(model, stack);

	for (uint32_t i = 0; i < chain->count; i++) {
		struct pmp_known *known = &model->making->known[names[i]];
		bool added = false;
		struct pmp_row *row;

		if (known->family == family && known->row != PMP_NAME_NONE)
			row = &model->list.rows[known->row];
		else
			row = pmp_model_known_row(
				model, known, family,
				pmp_hash_mix(family, (UINT64_C(1) << 33) + names[i]),
				&added);
		if (!row)
			return false;
		if (added)
			row->name = names[i];
		if (i == 0) {
			row->self += stack->count;
			row->self_average += stack->average;
		}
		if (known->last != number)
			pmp_model_count(row, stack);
		known->last = number;
	}
	return true;
}

static bool begin(struct pmp_model *model)
{
	struct pmp_making *making = model->making;

	pmp_model_part_rows(&model->list);
	model->list.row_count = 0;
	pmp_table_free(&making->table);
	making->known_count = 0;
	making->begun = true;
	return pmp_model_know(model, model->names.count);
}

enum pmp_progress_of_step pmp_model_functions(struct pmp_model *model, uint64_t until)
{
	struct pmp_making *making = model->making;
	struct pmp_list *list = &model->list;

	if (!making->begun && !begin(model))
		return PMP_STEP_FAILED;
	while (making->at < list->stack_row_count) {
		if (!count_stack(model, &list->stack_rows[making->at],
				 (uint32_t)making->at + 1))
			return PMP_STEP_FAILED;
		if (pmp_model_next(model, until))
			return PMP_STEP_ON;
	}
	return PMP_STEP_DONE;
}
