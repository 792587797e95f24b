/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of the views: counts are filtered, merged by names, and sorted. The model
 * knows no terminal and never blocks: a function without a name yet is shown by its
 * address, and its name is requested.
 */
#ifndef PMP_ROWS_MODEL_H
#define PMP_ROWS_MODEL_H

#include "rows/model-data.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void model_init(struct model *model, struct pmp_symbolizer *symbolizer);
void model_free(struct model *model);
/** Count from another live; forgets what was known of the old one. */
void model_set_live(struct model *model, const struct pmp_live *live);
/** The profile, from which the heap is read; borrowed. */
void model_set_profile(struct model *model, struct pmp_profile *profile);

/** Show the contents of a heap, which becomes owned, and the change since the contents
 * shown before, if they are of the same process. NULL: show nothing. */
void model_set_census(struct model *model, struct pmp_named_census *named);
/** Free all contents of heaps. */
void model_free_census(struct model *model);

/** The window of time to count. */
enum pmp_window model_window(const struct model *model);
/** Does a count tell how many threads there were on average? Bytes and times do not,
 * nor does any if the number of snapshots is a guess. */
bool model_has_average(const struct model *model);
/** Are averages shown instead of shares? */
bool model_shows_average(const struct model *model);
/** Show only what passes this filter, which is borrowed. Call it once, before anything is
 * shown. The filter for frames starts with its focus. */
void model_set_filter(struct model *model, const struct pmp_filter *filter);

/**
 * Begin to make the rows of a view in this order; call model_go_on() until it returns
 * true. The old rows stay until then, unless they have become invalid. Discards
 * unfinished rows. Call it while no other thread counts or names.
 */
void model_begin(struct model *model, const struct view_type *type,
		 const struct sorting *sorting);
/** Continue until that time (ns of CLOCK_MONOTONIC; UINT64_MAX: the end). True: done. */
bool model_go_on(struct model *model, uint64_t until);
bool model_is_busy(const struct model *model);
/** False: threads or stacks were merged, which made the rows invalid. */
bool model_is_valid(const struct model *model);

/** The row shown at a position, or NULL. */
const struct view_row *model_row(const struct model *model, size_t i);
/** The position of a row, or -1; the search starts around a position. */
long model_find(const struct model *model, uint64_t identity, size_t around);

/** Set a filter to an extended regular expression that ignores case; "": none. False: it
 * is invalid, and *problem (size bytes) says why. */
bool model_filter(struct model *model, struct text_filter *filter, const char *text,
		  char *problem, size_t size);

/** Open or close a node of the tree; updates the list. */
void model_open(struct model *model, const struct view_row *row, bool open);
/** Open the hottest path below a node. */
void model_open_hot(struct model *model, const struct view_row *row);

/** Are there several processes? */
bool model_is_several(const struct model *model);
/** Does a name match the search? */
bool model_finds_name(struct model *model, const struct search *search, uint32_t name);

/** Does the row have nodes of the tree below it? */
bool model_has_children(const struct view_row *row);

/** A name as it is to be shown. */
const char *model_name(const struct model *model, uint32_t name);
/** The names of a chain, leaf first, joined by '<'. Returns buffer. */
char *model_chain(const struct model *model, uint32_t chain, char *buffer, size_t size);
/** The chain of a stack, for details. NAME_NONE: no memory. */
uint32_t model_chain_of(struct model *model, size_t stack);
/** A thread, including what the functions of its stack say of its wait. */
struct pmp_live_thread model_thread(const struct model *model, size_t i);
/** The state of a thread with that stack; L: waits for a lock, as proven or by names. */
char model_state(const struct model *model, char state, bool waits_for_lock,
		 size_t stack);

#endif
