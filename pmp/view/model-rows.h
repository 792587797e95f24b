/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of the model share: the steps in which rows are made. Each step does as
 * much as there is time for, and goes on where it was when it is called again.
 */
#ifndef PMP_PMP_VIEW_MODEL_ROWS_H
#define PMP_PMP_VIEW_MODEL_ROWS_H

#include "model.h"
#include "sort.h"

/* Room for need elements of size in an array of *capacity. False: no memory. */
bool pmp_model_reserve(void *array, size_t *capacity, size_t need, size_t size);
#define PMP_MODEL_RESERVE(array, capacity, need) \
	pmp_model_reserve((array), (capacity), (need), sizeof(**(array)))

/* Make an array of things known by index as long as there are things; new ones are zero.
 * False: no memory. */
bool pmp_model_extend(void *array, size_t *count, size_t need, size_t size);

/* The row that a chain or a name has in the family at hand; last: the stack that was
 * counted there last. */
struct pmp_known {
	uint64_t family;
	uint32_t row, last; /* row: PMP_NAME_NONE until it has one */
};

/* Rows that are being made. */
struct pmp_making {
	struct pmp_sorting sorting;
	unsigned step; /* of the view */
	bool begun;
	size_t at;     /* how far the step is */
	size_t looked; /* threads that were looked at */
	struct pmp_table table; /* rows by key */
	struct pmp_known *known;
	size_t known_count;
	bool final; /* all stacks that were counted have all of their names */
	bool same;  /* they need not be counted: they are there */
	bool shares; /* these are those of the list that is shown */
	struct pmp_sorter sort;
	uint32_t root, node; /* of the tree */
	bool opened; /* nodes were opened or closed meanwhile */
};

enum pmp_progress_of_step { PMP_STEP_FAILED, PMP_STEP_ON, PMP_STEP_DONE };
/* Until that time; PMP_STEP_ON: it is to be called again. They make model->list. */
typedef enum pmp_progress_of_step pmp_model_step(struct pmp_model *model, uint64_t until);

/* What is the same for all cells of a thread. */
pmp_model_step pmp_model_look;
/* Stacks as rows: they are the rows from now on. */
pmp_model_step pmp_model_collect;
/* Rows for threads, for functions of stacks; in no order. */
pmp_model_step pmp_model_threads;
pmp_model_step pmp_model_functions;
/* The order of rows. */
pmp_model_step pmp_model_order;
/* The tree of stacks, and the order of its nodes. */
pmp_model_step pmp_model_paths;
pmp_model_step pmp_model_tree;

/* One more is done; is it time to stop? The clock is asked each so many times. */
#define PMP_MODEL_CLOCK 256
static inline bool pmp_model_next(struct pmp_model *model, uint64_t until)
{
	return ++model->making->at % PMP_MODEL_CLOCK == 0 && pmp_model_is_late(until);
}

/* Rows for chains or names, none yet. False: no memory. */
bool pmp_model_know(struct pmp_model *model, size_t count);
/* The row of one of them in a family, made if it is new; *added tells. NULL: no memory. */
struct pmp_row *pmp_model_known_row(struct pmp_model *model, struct pmp_known *known,
				    uint64_t family, uint64_t key, bool *added);

/* Do the stacks of a list answer what is asked for? */
bool pmp_model_is_collected(const struct pmp_model *model, const struct pmp_list *list);
/* Stacks are no rows any more, if they were. */
void pmp_model_part_rows(struct pmp_list *list);

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
	if (part->count <= row->most)
		return;
	row->most = part->count;
	row->group = part->group;
	row->thread = part->thread;
	row->stack = part->stack;
	row->state = part->state;
}

/* What keeps functions and trees of processes and threads apart; 0: nothing. */
uint64_t pmp_model_family(const struct pmp_model *model, const struct pmp_row *stack);

/* Free what the tree of a list is made from; it takes none. */
void pmp_model_drop_tree(struct pmp_list *list);

#endif
