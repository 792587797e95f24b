/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the model's files share: the steps that make rows. Each step does as much as there
 * is time for, and continues there when it is called again.
 */
#ifndef PMP_ROWS_MODEL_ROWS_H
#define PMP_ROWS_MODEL_ROWS_H

#include "rows/model-data.h"
#include "rows/sort.h"
#include "run/clock.h"

/* Make room for need elements of size in an array of *capacity. False: no memory. */
bool model_reserve(void *array, size_t *capacity, size_t need, size_t size);
#define MODEL_RESERVE(array, capacity, need) \
	model_reserve((array), (capacity), (need), sizeof(**(array)))

/* Extend an array indexed by things to need; new elements are zero. False: no memory. */
bool model_extend(void *array, size_t *count, size_t need, size_t size);

/* The row of a chain or a name in the current family; last: the last stack
 * counted there. */
struct row_of {
	uint64_t family;
	uint32_t row, last; /* row: NAME_NONE: none yet */
};

/* A list of rows being made. */
struct build {
	struct sorting sorting;
	unsigned step; /* index in the view's steps */
	bool begun;
	size_t at;	   /* progress of the step */
	size_t prepared;   /* threads whose thread_rows are up to date */
	struct hash table; /* rows by identity */
	struct row_of *row_of;
	size_t row_of_count;
	bool final;  /* all stacks counted so far have final names */
	bool same;   /* the stacks need no counting: they are valid */
	bool shares; /* shares the stacks with the list shown */
	struct sorter sort;
	size_t counters;     /* for locks: this many are counted before threads */
	uint32_t root, node; /* for the tree */
	bool opened;	     /* nodes were opened or closed meanwhile */
};

/* Learn what all counters of a thread share: name, group, does it pass the filter? */
model_step model_prepare;
/* Make rows of stacks. */
model_step model_collect;
/* Make rows of threads, or of the functions of stacks; unsorted. */
model_step model_threads;
model_step model_functions;
/* Make rows of locks that threads wait for or waited for. */
model_step model_locks;
/* Make rows of a heap's stacks or functions. */
model_step model_heap;
/* Make rows of a heap's contents. */
model_step model_objects;
/* Sort the rows. */
model_step model_order;
/* Make the tree of stacks, and its visible nodes in order. */
model_step model_paths;
model_step model_tree;

/* Count one more item; is it time to stop? Reads the clock once per MODEL_CLOCK items. */
#define MODEL_CLOCK 256
static inline bool model_next(struct model *model, uint64_t until)
{
	return ++model->build->at % MODEL_CLOCK == 0 && clock_is_past(until);
}

/* Make room for rows by chain or name; entries start without a row. False: no memory. */
bool model_reserve_row_of(struct model *model, size_t count);
/* The row of one of these in a family, made if needed (*added). NULL: no memory. */
struct view_row *model_row_of(struct model *model, struct row_of *row_of, uint64_t family,
			      uint64_t identity, bool *added);

/* Does a stack in this state pass the filters? locked: it waits for a lock, by its bytes.
 * False: no memory. */
bool model_passes(struct model *model, size_t stack, char state, bool locked,
		  const char *syscall, bool *passes);

/* Are the list's rows of stacks valid for what is to be shown? */
bool model_is_collected(const struct model *model, const struct row_list *list);
/* If the rows of the list are its stacks, separate the two. */
void model_part_rows(struct row_list *list);

/* Ask for the names of a location, once. False: no memory. */
bool model_want(struct model *model, pmp_location location);

/* Learn what the functions of a stack say of this kind of wait, as far as they have
 * names. False: no memory. */
bool model_learn_wait(struct model *model, size_t stack, unsigned kind);
/* Forget all that was learnt of waits. */
void model_forget_waits(struct model *model);
/* Get a counter; its functions tell whether it waits for a lock. False: no memory. */
bool model_counter(struct model *model, size_t i, struct pmp_live_counter *counter);

/* The key of the row of a wait: its identity, the row's initial contents, and a location
 * whose name it needs, or PMP_LOCATION_NONE. lock: SIZE_MAX if only functions tell that
 * it is a lock. */
struct lock_key {
	uint64_t identity;
	pmp_location wanted;
	struct lock_row row;
};
struct lock_key model_lock_key(const struct model *model, uint32_t process, size_t stack,
			       size_t lock, unsigned kind);

/* Does a stack with these names pass all filters except that of idle threads? */
bool model_stack_passes(struct model *model, size_t stack, uint32_t chain);
/* Does the name of a thread pass the filter for threads? */
bool model_thread_passes(const struct model *model, const char *name);

/* Append a row, valid until the next call. NULL: no memory. */
struct view_row *model_add_row(struct model *model, uint64_t identity);
/* Add a part to a row; called for each function of each stack. */
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

/* Identifies the process or thread that has functions and trees of its own; 0: none has. */
uint64_t model_family(const struct model *model, const struct view_row *stack);

/* Free what the tree of a list is made from; does nothing if there is no tree. */
void model_drop_tree(struct row_list *list);

#endif
