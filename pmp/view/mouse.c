/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What clicks and the wheel do. */
#include <string.h>

#include "view/view.h"

static void click_column(struct view *view, int column)
{
	const struct view_type *type = view_type_of(&view->model);
	int begin = 0;

	for (size_t i = 0; i < type->column_count; i++) {
		const struct column *at = &type->columns[i];
		int width = at->width ? at->width + 1 : 10000;

		if (!view_type_has_column(&view->model, at, view->layout.columns))
			continue;
		if (column >= begin && column < begin + width && at->order)
			view_sort_by(view, i);
		begin += width;
	}
}

static void click_tab(struct view *view, int column)
{
	int begin = 0;

	for (size_t i = 0; i < view_type_count(); i++) {
		bool named = view->layout.named || view->model.settings.view == i;
		int width = named ? (int)strlen(view_type_at(i)->name) + 4 : 3;

		if (column >= begin && column < begin + width) {
			view_show(view, i);
			return;
		}
		begin += width;
	}
}

void view_mouse(struct view *view, int row, int column, int wheel)
{
	const struct layout *layout = &view->layout;
	long at;

	view_keep_valid(view);
	at = (long)view->top + row - layout->list_row;
	if (view->prompt)
		return;
	view->message[0] = '\0';
	if (wheel) {
		view_move_by(view, 3L * wheel);
		return;
	}
	if (row == layout->tabs_row) {
		click_tab(view, column);
		return;
	}
	if (view->screen != SCREEN_LIST)
		return;
	if (row == layout->columns_row)
		click_column(view, column);
	else if (row >= layout->list_row && row < layout->list_row + layout->list_rows &&
		 at < (long)view->model.list.order_count) {
		if (view->follows && (size_t)at == view->at)
			view_enter(view, model_row(&view->model, view->at));
		else
			view_move_to(view, at);
	}
}
