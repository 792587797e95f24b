/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of the model share: the steps in which rows are made. Each step does as
 * much as there is time for, and goes on where it was when it is called again.
 */
#ifndef PMP_ROWS_MODEL_ROWS_H
#define PMP_ROWS_MODEL_ROWS_H

#include "rows/model-data.h"
#include "rows/sort.h"
#include "run/clock.h"

/* Room for need elements of size in an array of *capacity. False: no memory. */
bool model_reserve(void *array, size_t *capacity, size_t need, size_t size);
#define MODEL_RESERVE(array, capacity, need) \
	model_reserve((array), (capacity), (need), sizeof(**(array)))

/* Make an array of things known by index as long as there are things; new ones are zero.
 * False: no memory. */
bool model_extend(void *array, size_t *count, size_t need, size_t size);

/* The row that a chain or a name has in the current family; last: the stack that was
 * counted there last. */
struct row_of {
	uint64_t family;
	uint32_t row, last; /* row: NAME_NONE until it has one */
};

/* Rows that are being made. */
struct build {
	struct sorting sorting;
	unsigned step; /* of the view */
	bool begun;
	size_t at;	   /* how far the step is */
	size_t prepared;   /* threads whose rows of the model are up to date */
	struct hash table; /* rows by identity */
	struct row_of *row_of;
	size_t row_of_count;
	bool final;  /* all stacks that were counted have all of their names */
	bool same;   /* they need not be counted: they are there */
	bool shares; /* these are those of the list that is shown */
	struct sorter sort;
	size_t counters;     /* of locks: so many are counted before threads */
	uint32_t root, node; /* of the tree */
	bool opened;	     /* nodes were opened or closed meanwhile */
};

/* What is the same for all counters of a thread: its name, its group, does it pass? */
model_step model_prepare;
/* Stacks as rows: they are the rows from now on. */
model_step model_collect;
/* Rows for threads, for functions of stacks; in no order. */
model_step model_threads;
model_step model_functions;
/* Locks that threads wait for or have waited for. */
model_step model_locks;
/* Stacks or functions of a heap. */
model_step model_heap;
/* What a heap holds. */
model_step model_objects;
/* The order of rows. */
model_step model_order;
/* The tree of stacks, and the order of its nodes. */
model_step model_paths;
model_step model_tree;

/* One more is done; is it time to stop? The clock is read once in so many times. */
#define MODEL_CLOCK 256
static inline bool model_next(struct model *model, uint64_t until)
{
	return ++model->build->at % MODEL_CLOCK == 0 && clock_is_past(until);
}

/* Rows for chains or names, none yet. False: no memory. */
bool model_reserve_row_of(struct model *model, size_t count);
/* The row of one of them in a family, made if it is new, which *added says. NULL: no memory. */
struct view_row *model_row_of(struct model *model, struct row_of *row_of, uint64_t family,
			      uint64_t identity, bool *added);

/* Does a stack pass the filters, in this state? locked: it waits for a lock, as its bytes
 * say. False: no memory. */
bool model_passes(struct model *model, size_t stack, char state, bool locked,
		  const char *syscall, bool *passes);

/* Do the stacks of a list answer what is asked for? */
bool model_is_collected(const struct model *model, const struct row_list *list);
/* Stacks are no rows any more, if they were. */
void model_part_rows(struct row_list *list);

/* Have a location named, if it has not been asked for. False: no memory. */
bool model_want(struct model *model, pmp_location location);

/* What the functions of a stack say of a wait of that kind is known from then on, as far
 * as they have names. False: no memory. */
bool model_learn_wait(struct model *model, size_t stack, unsigned kind);
/* It is not known any more. */
void model_forget_waits(struct model *model);
/* A counter; whether it waits for a lock is what its functions say, which is learnt for
 * that. False: no memory. */
bool model_counter(struct model *model, size_t i, struct pmp_live_counter *counter);

/* The row of a wait: what it is known by, what is known of it before anything is counted,
 * and a location that has to be named for that, or PMP_LOCATION_NONE. lock: SIZE_MAX, if
 * only functions say that it is one. */
struct lock_key {
	uint64_t identity;
	pmp_location wanted;
	struct lock_row row;
};
struct lock_key model_lock_key(const struct model *model, uint32_t process, size_t stack,
			       size_t lock, unsigned kind);

/* Does the stack, of these names, pass the filters but that of idle threads? */
bool model_stack_passes(struct model *model, size_t stack, uint32_t chain);
/* Does the name of a thread pass its filter? */
bool model_thread_passes(const struct model *model, const char *name);

/* A new row, valid until the next, or NULL. */
struct view_row *model_add_row(struct model *model, uint64_t identity);
/* Add what part has to a row: for each function of each stack. */
static inline void model_count(struct view_row *row, const struct view_row *part)
{
	row->count += part->count;
	row->average += part->average;
	row->groups |=
		part->groups || (row->group != NAME_NONE && row->group != part->group);
	if (row->most == 0)
		row->process = part->process;
	else if (row->process != part->process)
		row->process = NAME_NONE;
	if (part->count <= row->most)
		return;
	row->most = part->count;
	row->group = part->group;
	row->thread = part->thread;
	row->stack = part->stack;
	row->state = part->state;
}

/* What keeps functions and trees of processes and threads apart; 0: nothing. */
uint64_t model_family(const struct model *model, const struct view_row *stack);

/* Free what the tree of a list is made from; it takes none. */
void model_drop_tree(struct row_list *list);

#endif
