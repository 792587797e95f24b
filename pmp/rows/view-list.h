/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of views, and what is the same for all of them. */
#ifndef PMP_ROWS_VIEW_LIST_H
#define PMP_ROWS_VIEW_LIST_H

#include "rows/view-type.h"

#include <stdbool.h>
#include <stddef.h>

extern const struct view_type view_stacks;
extern const struct view_type view_functions;
extern const struct view_type view_tree;
extern const struct view_type view_threads;
extern const struct view_type view_locks;
extern const struct view_type view_heap;
extern const struct view_type view_objects;

/** All of them, in the order of their tabs; settings count them so. */
size_t view_type_count(void);
const struct view_type *view_type_at(size_t i);
/** The number of the one with that word, or view_type_count(). */
size_t view_type_find(const char *word);
/** The same by its key. */
size_t view_type_find_key(int key);
/** The one that is shown, or will be. */
const struct view_type *view_type_of(const struct model *model);

/** The column that rows are sorted by. */
size_t view_type_sort(const struct model *model);
/** Is the column there, on a screen of that width? */
bool view_type_has_column(const struct model *model, const struct column *column,
			  int width);
/** What stands above it. */
const char *view_type_title(const struct model *model, const struct column *column);
/** Make the rows of the view again; see model_begin(). */
void view_type_begin(struct model *model);

#endif
