/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the model share. */
#ifndef PMP_PMP_VIEW_MODEL_ROWS_H
#define PMP_PMP_VIEW_MODEL_ROWS_H

#include "model.h"

/* Room for need elements of size in an array of *capacity. False: no memory. */
bool pmp_model_reserve(void *array, size_t *capacity, size_t need, size_t size);
#define PMP_MODEL_RESERVE(array, capacity, need) \
	pmp_model_reserve((array), (capacity), (need), sizeof(**(array)))

/* A new row, valid until the next, or NULL. */
struct pmp_row *pmp_model_add_row(struct pmp_model *model, uint64_t key);
/* Add what part has to a row: for each function of each stack. */
static inline void pmp_model_count(struct pmp_row *row, const struct pmp_row *part)
{
	row->count += part->count;
	row->average += part->average;
	row->groups |= part->groups ||
		       (row->group != PMP_NAME_NONE && row->group != part->group);
	if (row->most == 0)
		row->process = part->process;
	else if (row->process != part->process)
		row->process = PMP_NAME_NONE;
	if (part->most <= row->most)
		return;
	row->most = part->most;
	row->group = part->group;
	row->thread = part->thread;
	row->stack = part->stack;
	row->state = part->state;
}

/* Rows are stacks: make them functions, or the nodes of a tree and their order. */
bool pmp_model_functions(struct pmp_model *model);
bool pmp_model_tree(struct pmp_model *model);
/* Free what the tree is made from; it takes none. */
void pmp_model_drop_tree(struct pmp_model *model);

#endif
