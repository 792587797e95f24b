/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of views, and what applies to all of them. */
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

/** All views in the order of their tabs, which is also how settings number them. */
size_t view_type_count(void);
const struct view_type *view_type_at(size_t i);
/** The number of the view with that word; view_type_count(): none. */
size_t view_type_find(const char *word);
/** The number of the view with that key; view_type_count(): none. */
size_t view_type_find_key(int key);
/** The view that is, or will be, shown. */
const struct view_type *view_type_of(const struct model *model);

/** The sort column. */
size_t view_type_sort(const struct model *model);
/** Is the column shown on a screen of that width? */
bool view_type_has_column(const struct model *model, const struct column *column,
			  int width);
/** The title of a column. */
const char *view_type_title(const struct model *model, const struct column *column);
/** Begin to make the rows of the view; see model_begin(). */
void view_type_begin(struct model *model);

#endif
