/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of the view: its rows, the chosen one, and when rows are made again. */
#include "view/view.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libpmp-program.h"
#include "run/clock.h"

/* ---- life -------------------------------------------------------------------- */

void view_init(struct view *view, struct pmp_profile *profile,
	       struct pmp_symbolizer *symbolizer, const struct view_actions *actions,
	       void *actions_arg)
{
	*view = (struct view){ .actions = actions,
			       .actions_arg = actions_arg,
			       .title = "" };
	model_init(&view->model, symbolizer);
	view_set_profile(view, profile);
}

void view_free(struct view *view)
{
	pmp_filter_free(view->search.match.filter);
	model_free(&view->model);
}

void view_set_profile(struct view *view, struct pmp_profile *profile)
{
	view->profile = profile;
	view->resumed.any = false;
	model_set_profile(&view->model, profile);
	model_set_live(&view->model, profile ? pmp_profile_live(profile) : NULL);
}

void view_say(struct view *view, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(view->message, sizeof(view->message), format, args);
	va_end(args);
}

/* ---- rows -------------------------------------------------------------------- */

static bool is_of_stacks(const struct model *model)
{
	const enum row_kind row = model->list.type->row;

	return row == ROW_STACK || (row == ROW_HEAP && !model->settings.functions);
}

/* The chosen row may have moved, or changed its identity when names became known. */
static void follow(struct view *view)
{
	struct model *model = &view->model;
	long found;

	if (!view->follows) {
		view->at = 0;
		return;
	}
	found = model_find(model, view->chosen, view->at);
	if (found < 0 && is_of_stacks(model) && model->live &&
	    view->chosen_stack < pmp_live_stack_count(model->live)) {
		uint32_t chain = model_chain_of(model, view->chosen_stack);

		for (size_t i = 0; i < model->list.order_count && found < 0; i++) {
			if (model_row(model, i)->chain == chain)
				found = (long)i;
		}
	}
	if (found >= 0)
		view->at = (size_t)found;
}

static void choose(struct view *view)
{
	const struct view_row *row;

	if (view->at >= view->model.list.order_count)
		view->at = view->model.list.order_count ? view->model.list.order_count - 1
							: 0;
	row = model_row(&view->model, view->at);
	if (!row)
		return;
	view->chosen = row->identity;
	view->chosen_stack = row->stack;
}

/* Announce it once; the header shows it as long as it exists. */
static void announce_deadlock(struct view *view)
{
	size_t count = deadlock_count(&view->model);

	if (count > view->deadlocks)
		view_say(view, "DEADLOCK: threads wait for each other; d shows them");
	view->deadlocks = count;
}

/* Repeated as long as the expression is set, as its matches are unknown. */
static void tell_problem(struct view *view)
{
	const struct pmp_filter *const filters[] = {
		view->model.filter,
		view->model.frames.filter,
		view->model.threads.filter,
		view->search.match.filter,
	};
	struct pmp_error err;

	for (size_t i = 0; i < sizeof(filters) / sizeof(*filters); i++)
		if (pmp_filter_problem(filters[i], &err))
			view_say(view, "%s", err.message);
}

/* Note the first snapshot after a pause. */
static void note_resumed(struct view *view)
{
	const uint64_t samples = view->model.all.samples;

	if (!view->resumed.any || view->resumed.time || samples <= view->resumed.samples)
		return;
	view->resumed.samples = samples;
	view->resumed.time = view->model.info.time;
}

void view_refresh(struct view *view)
{
	view_type_begin(&view->model);
	note_resumed(view);
	view_go_on(view);
}

bool view_is_busy(const struct view *view)
{
	return model_is_busy(&view->model) || view->searching.left;
}

void view_go_on(struct view *view)
{
	uint64_t until = view->slice ? now_ns() + view->slice : UINT64_MAX;

	if (!model_is_valid(&view->model)) {
		/* The rows made so far refer to obsolete numbers. */
		view_refresh(view);
		return;
	}
	if (model_is_busy(&view->model) && model_go_on(&view->model, until)) {
		follow(view);
		choose(view);
		announce_deadlock(view);
	}
	if (view->searching.left)
		search_go_on(view, until);
	tell_problem(view);
}

void view_move_to(struct view *view, long at)
{
	long last = (long)view->model.list.order_count - 1;

	view->at = at < 0 || last < 0 ? 0 : at > last ? (size_t)last : (size_t)at;
	view->follows = true;
	choose(view);
}

/* Everything has changed: start at the top. */
void view_show_again(struct view *view)
{
	view->follows = false;
	view->at = view->top = 0;
	view->sideways = 0;
	view_refresh(view);
}

/* ---- shared by keys and clicks ---------------------------------------------------- */

bool view_is_tree(const struct view *view)
{
	return view_type_of(&view->model)->row == ROW_NODE;
}

void view_show(struct view *view, size_t number)
{
	view->screen = SCREEN_LIST;
	if (view->model.settings.view == number)
		return;
	view->model.settings.view = (unsigned)number;
	view_show_again(view);
}

bool view_next_deadlock(struct view *view)
{
	const struct model *model = &view->model;
	size_t locks = view_type_find("locks"), next = view->at + 1;
	const struct view_row *row, *now;

	if (!deadlock_count(model))
		return false;
	if (model->settings.view != locks) {
		view_show(view, locks);
		return true;
	}
	/* Deadlocks are the first rows. */
	now = model_row(model, view->at);
	row = model_row(model, next);
	if (!row || lock_row(model, row)->rank != LOCK_ROW_DEADLOCK ||
	    lock_row(model, now)->rank != LOCK_ROW_DEADLOCK)
		next = 0;
	view_move_to(view, (long)next);
	return true;
}

void view_sort_by(struct view *view, size_t column)
{
	struct settings *settings = &view->model.settings;

	if (view_type_sort(&view->model) == column)
		settings->reverse[settings->view] ^= true;
	else
		settings->reverse[settings->view] = false;
	settings->sort[settings->view] = (unsigned)column + 1;
	view_refresh(view);
}

void view_enter(struct view *view, const struct view_row *row)
{
	if (!row)
		return;
	if (view->screen == SCREEN_STACK) {
		view->screen = SCREEN_LIST;
	} else if (view_is_tree(view) && model_has_children(row)) {
		model_open(&view->model, row, !row->open);
	} else {
		view->screen = SCREEN_STACK;
		view->stack_top = 0;
	}
}

void view_move_by(struct view *view, long step)
{
	size_t *top = view->screen == SCREEN_HELP ? &view->help_top : &view->stack_top;

	if (view->screen == SCREEN_LIST)
		view_move_to(view, (long)view->at + step);
	else
		*top = step < 0 && *top < (size_t)-step ? 0 : *top + (size_t)step;
}

void view_keep_valid(struct view *view)
{
	if (!model_is_valid(&view->model))
		view_refresh(view);
}
