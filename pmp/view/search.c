/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Searching: row by row, as long as there is time for; it goes on at the next turn. */
#include "view.h"

#include <string.h>

#define CLOCK_ROWS 64 /* rows between two looks at the clock */

bool pmp_search_set(struct pmp_view *view, const char *text, char *problem, size_t size)
{
	unsigned number = view->model.filter_number;

	if (!pmp_model_filter(&view->model, &view->search, text, problem, size))
		return false;
	/* What is shown does not depend on it. */
	view->model.filter_number = number;
	view->search_number++;
	return true;
}

bool pmp_search_has_name(struct pmp_view *view, uint32_t number)
{
	struct pmp_name *name;

	if (number >= view->model.names.count)
		return false;
	name = &view->model.names.names[number];
	if (name->searched != view->search_number)
		name->found = pmp_filter_matches(view->search.filter, PMP_FILTER_FOCUS,
						 pmp_model_name(&view->model, number));
	name->searched = view->search_number;
	return name->found;
}

static bool row_matches(struct pmp_view *view, const struct pmp_row *row)
{
	const struct pmp_view_type *type = pmp_view_type_of(view);
	char text[PMP_VIEW_TEXT];

	for (size_t i = 0; i < type->column_count; i++) {
		const struct pmp_column *column = &type->columns[i];

		if (!(column->flags & PMP_COLUMN_LEFT) ||
		    column->flags & PMP_COLUMN_BRIEF ||
		    !pmp_view_has_column(view, column, column->narrow))
			continue;
		if (column->has) {
			if (column->has(view, row))
				return true;
			continue;
		}
		column->text(view, row, text, sizeof(text));
		if (pmp_filter_matches(view->search.filter, PMP_FILTER_FOCUS, text))
			return true;
	}
	return false;
}

void pmp_search_begin(struct pmp_view *view, long from, int step, bool returns)
{
	long count = (long)view->model.list.order_count;

	if (!view->search.filter) {
		pmp_view_say(view, "Nothing has been searched for: / searches");
		return;
	}
	view->hunt = (struct pmp_hunt){ .left = (size_t)count,
					.step = step,
					.returns = returns };
	if (count)
		view->hunt.at = (size_t)((from % count + count) % count);
	else
		pmp_view_say(view, "Not found: %s", view->search.text);
}

static void found(struct pmp_view *view)
{
	struct pmp_hunt *hunt = &view->hunt;
	size_t before = view->at;

	hunt->left = 0;
	view->message[0] = '\0';
	pmp_view_move_to(view, (long)hunt->at);
	if (hunt->returns)
		return;
	if (hunt->step > 0 && hunt->at <= before)
		pmp_view_say(view, "Goes on from the beginning: %s", view->search.text);
	if (hunt->step < 0 && hunt->at >= before)
		pmp_view_say(view, "Goes on from the end: %s", view->search.text);
}

void pmp_search_go_on(struct pmp_view *view, uint64_t until)
{
	struct pmp_hunt *hunt = &view->hunt;
	size_t count = view->model.list.order_count;

	while (hunt->left) {
		/* There are fewer rows now. */
		if (hunt->at >= count)
			hunt->at = hunt->step > 0 || !count ? 0 : count - 1;
		if (count && row_matches(view, pmp_model_row(&view->model, hunt->at))) {
			found(view);
			return;
		}
		hunt->left--;
		hunt->at += (size_t)hunt->step;
		if (hunt->left % CLOCK_ROWS == 0 && hunt->left &&
		    pmp_model_is_late(until)) {
			pmp_view_say(view, "Searching: %s", view->search.text);
			return;
		}
	}
	if (hunt->returns)
		pmp_view_move_to(view, (long)view->origin);
	pmp_view_say(view, "Not found: %s", view->search.text);
}
