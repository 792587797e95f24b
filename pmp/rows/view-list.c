/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See view-list.h. */
#include "rows/view-list.h"

#include <string.h>

#include "rows/model.h"

static const struct view_type *const types[] = {
	&view_stacks, &view_functions, &view_tree,    &view_threads,
	&view_locks,  &view_heap,      &view_objects,
};

_Static_assert(sizeof(types) / sizeof(*types) <= VIEWS_MAX,
	       "settings have room for each");

size_t view_type_count(void)
{
	return sizeof(types) / sizeof(*types);
}

const struct view_type *view_type_at(size_t i)
{
	return types[i];
}

size_t view_type_find(const char *word)
{
	size_t i = 0;

	while (i < view_type_count() &&
	       !(types[i]->word && strcmp(types[i]->word, word) == 0))
		i++;
	return i;
}

size_t view_type_find_key(int key)
{
	size_t i = 0;

	while (i < view_type_count() && types[i]->key != key)
		i++;
	return i;
}

const struct view_type *view_type_of(const struct model *model)
{
	return types[model->settings.view];
}

size_t view_type_sort(const struct model *model)
{
	const struct view_type *type = view_type_of(model);
	unsigned sort = model->settings.sort[model->settings.view];

	return sort && sort <= type->column_count && type->columns[sort - 1].order
		       ? sort - 1
		       : type->sort;
}

bool view_type_has_column(const struct model *model, const struct column *column,
			  int width)
{
	if (width < column->narrow)
		return false;
	if ((column->flags & COLUMN_SEVERAL) && !model_is_several(model))
		return false;
	if ((column->flags & COLUMN_FUNCTION) && !model->settings.functions)
		return false;
	if ((column->flags & COLUMN_NOW) && model_window(model) != PMP_WINDOW_START)
		return false;
	return !(column->flags & COLUMN_WAIT) || model->settings.wait;
}

const char *view_type_title(const struct model *model, const struct column *column)
{
	if (column->averaged && model_shows_average(model))
		return column->averaged;
	if (model->settings.inverted && column->inverted)
		return column->inverted;
	if (model_window(model) != PMP_WINDOW_START && column->changed)
		return column->changed;
	return column->title;
}

void view_type_begin(struct model *model)
{
	const struct view_type *type = view_type_of(model);
	const struct column *column = &type->columns[view_type_sort(model)];
	const struct sorting sorting = {
		.order = column->order,
		.compare = column->compare,
		.reverse = model->settings.reverse[model->settings.view],
	};

	model_begin(model, type, &sorting);
}
