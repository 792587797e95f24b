/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the views show, as rows: what was counted is filtered, put together by names,
 * and sorted. No terminal is known here, and nothing is slow: a function that has no
 * name yet is shown by its address, and its names are asked for.
 */
#ifndef PMP_ROWS_MODEL_H
#define PMP_ROWS_MODEL_H

#include "rows/model-data.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void model_init(struct model *model, struct pmp_symbolizer *symbolizer);
void model_free(struct model *model);
/** Count from another live from now on; what was known of the old one is forgotten. */
void model_set_live(struct model *model, const struct pmp_live *live);
/** The profile that it is of, where a heap is read; borrowed. */
void model_set_profile(struct model *model, struct pmp_profile *profile);

/** Show this as what a heap holds, which is taken over, and how that differs from what was
 * shown before, if it is of the same process. NULL: nothing. */
void model_set_census(struct model *model, struct pmp_named_census *named);
/** Forget it all. */
void model_free_census(struct model *model);

/** The window of time that is counted. */
enum pmp_window model_window(const struct model *model);
/** Show what passes a filter, which is borrowed, and only that; to be called once, before
 * anything is shown. The frames filter begins as what it focuses on. */
void model_set_filter(struct model *model, const struct pmp_filter *filter);

/**
 * Make the rows of a view again, in this order: to be gone on with until it returns true; what was
 * shown stays until then, unless it would mean something else. What was begun before is
 * given up. To be called while no other thread counts or names.
 */
void model_begin(struct model *model, const struct view_type *type,
		 const struct sorting *sorting);
/** Until that time (ns of CLOCK_MONOTONIC; UINT64_MAX: until it is done). */
bool model_go_on(struct model *model, uint64_t until);
bool model_is_busy(const struct model *model);
/** False: threads or stacks were put together, and rows mean something else now. */
bool model_is_valid(const struct model *model);

/** The row shown at a place, or NULL. */
const struct view_row *model_row(const struct model *model, size_t i);
/** Where a row is shown, or -1; it is looked for around a place. */
long model_find(const struct model *model, uint64_t identity, size_t around);

/** Set a filter, an extended regular expression without regard to case; "": none. False: it
 * is none, and *problem (size bytes) says why. */
bool model_filter(struct model *model, struct text_filter *filter, const char *text,
		  char *problem, size_t size);

/** Open or close a node of the tree; rebuilds what is shown. */
void model_open(struct model *model, const struct view_row *row, bool open);
/** Open the hottest path below a node. */
void model_open_hot(struct model *model, const struct view_row *row);

/** Are there several processes? */
bool model_is_several(const struct model *model);
/** Is a name what is searched for? */
bool model_finds_name(struct model *model, const struct search *search, uint32_t name);

/** Has the row a node of the tree below it? */
bool model_has_children(const struct view_row *row);

/** The name to show of a function. */
const char *model_name(const struct model *model, uint32_t name);
/** Its names, leaf first, joined by '<'. Returns buffer. */
char *model_chain(const struct model *model, uint32_t chain, char *buffer, size_t size);
/** The names of a stack by index, for details. */
uint32_t model_chain_of(struct model *model, size_t stack);
/** A thread that is there, with what the functions of its stack say of its wait. */
struct pmp_live_thread model_thread(const struct model *model, size_t i);
/** The state of a thread with that stack; L: it waits for a lock, which is proven, or names
 * say so. */
char model_state(const struct model *model, char state, bool waits_for_lock,
		 size_t stack);

#endif
