/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Searches row by row while there is time, and continues in the next turn. */
#include "view/view.h"

#include <string.h>

#include "run/clock.h"

#define CLOCK_ROWS 64 /* rows between two readings of the clock */

bool search_set(struct view *view, const char *text, char *problem, size_t size)
{
	unsigned number = view->model.filter_number;

	if (!model_filter(&view->model, &view->search.match, text, problem, size))
		return false;
	/* The search pattern does not affect which rows are shown. */
	view->model.filter_number = number;
	view->search.number++;
	return true;
}

static bool row_matches(struct view *view, const struct view_row *row)
{
	const struct view_type *type = view_type_of(&view->model);
	char text[ROW_TEXT];

	for (size_t i = 0; i < type->column_count; i++) {
		const struct column *column = &type->columns[i];

		if (!(column->flags & COLUMN_LEFT) || column->flags & COLUMN_BRIEF ||
		    !view_type_has_column(&view->model, column, column->narrow))
			continue;
		if (column->has) {
			if (column->has(&view->model, &view->search, row))
				return true;
			continue;
		}
		column->text(&view->model, row, text, sizeof(text));
		if (pmp_filter_matches(view->search.match.filter, PMP_FILTER_FOCUS, text))
			return true;
	}
	return false;
}

void search_begin(struct view *view, long from, int step, bool returns)
{
	long count = (long)view->model.list.order_count;

	if (!view->search.match.filter) {
		view_say(view, "Nothing has been searched for: / searches");
		return;
	}
	view->searching = (struct search_state){ .left = (size_t)count,
						 .step = step,
						 .returns = returns };
	if (count)
		view->searching.at = (size_t)((from % count + count) % count);
	else
		view_say(view, "Not found: %s", view->search.match.text);
}

static void found(struct view *view)
{
	struct search_state *searching = &view->searching;
	size_t before = view->at;

	searching->left = 0;
	view->message[0] = '\0';
	view_move_to(view, (long)searching->at);
	if (searching->returns)
		return;
	if (searching->step > 0 && searching->at <= before)
		view_say(view, "Goes on from the beginning: %s", view->search.match.text);
	if (searching->step < 0 && searching->at >= before)
		view_say(view, "Goes on from the end: %s", view->search.match.text);
}

void search_go_on(struct view *view, uint64_t until)
{
	struct search_state *searching = &view->searching;
	size_t count = view->model.list.order_count;

	while (searching->left) {
		/* The list may have become shorter. */
		if (searching->at >= count)
			searching->at = searching->step > 0 || !count ? 0 : count - 1;
		if (count && row_matches(view, model_row(&view->model, searching->at))) {
			found(view);
			return;
		}
		searching->left--;
		searching->at += (size_t)searching->step;
		if (searching->left % CLOCK_ROWS == 0 && searching->left &&
		    clock_is_past(until)) {
			view_say(view, "Searching: %s", view->search.match.text);
			return;
		}
	}
	if (searching->returns)
		view_move_to(view, (long)view->origin);
	view_say(view, "Not found: %s", view->search.match.text);
}
