/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What keys do: one function per binding in keys.c. */
#include "view/on-key.h"

#include <limits.h>
#include <stdio.h>

#include "libpmp-program.h"
#include "view/prompt.h"

#define SIDEWAYS_STEP 16
#define SIDEWAYS_MAX 3000
#define FAR 1000000000L /* rows: beyond the last one */

/* ---- views -------------------------------------------------------------------- */

void on_next_view(struct view *view)
{
	size_t next = view->model.settings.view;

	view_show(view, (next + 1) % view_type_count());
}

/* ---- moving ------------------------------------------------------------------- */

void on_up(struct view *view)
{
	view_move_by(view, -1);
}

void on_down(struct view *view)
{
	view_move_by(view, 1);
}

static long page_of(const struct view *view)
{
	return view->layout.list_rows > 1 ? view->layout.list_rows - 1 : 1;
}

void on_page_up(struct view *view)
{
	view_move_by(view, -page_of(view));
}

void on_page_down(struct view *view)
{
	view_move_by(view, page_of(view));
}

void on_home(struct view *view)
{
	if (view->screen != SCREEN_LIST) {
		view->help_top = view->stack_top = 0;
		return;
	}
	view_move_to(view, 0);
	view->follows = false;
	view->sideways = 0;
}

void on_end(struct view *view)
{
	view_move_by(view, FAR);
}

static void close_node(struct view *view, const struct view_row *row)
{
	if (row->open) {
		model_open(&view->model, row, false);
	} else if (row->parent != NAME_NONE) {
		long at =
			model_find(&view->model,
				   view->model.list.rows[row->parent].identity, view->at);

		view_move_to(view, at < 0 ? (long)view->at : at);
	}
}

static void open_node(struct view *view, const struct view_row *row)
{
	if (!model_has_children(row))
		return;
	if (row->open)
		view_move_to(view, (long)view->at + 1);
	else
		model_open(&view->model, row, true);
}

static void go_sideways(struct view *view, int step)
{
	const struct view_row *row = model_row(&view->model, view->at);

	if (view_is_tree(view) && row && view->screen == SCREEN_LIST) {
		if (step < 0)
			close_node(view, row);
		else
			open_node(view, row);
		return;
	}
	view->sideways += step * SIDEWAYS_STEP;
	if (view->sideways < 0)
		view->sideways = 0;
	if (view->sideways > SIDEWAYS_MAX)
		view->sideways = SIDEWAYS_MAX;
}

void on_left(struct view *view)
{
	go_sideways(view, -1);
}

void on_right(struct view *view)
{
	go_sideways(view, 1);
}

void on_enter(struct view *view)
{
	view_enter(view, model_row(&view->model, view->at));
}

void on_hot_path(struct view *view)
{
	const struct view_row *row = model_row(&view->model, view->at);

	if (row && view_is_tree(view))
		model_open_hot(&view->model, row);
}

/* ---- what is shown -------------------------------------------------------------- */

void on_invert(struct view *view)
{
	struct settings *settings = &view->model.settings;

	settings->inverted ^= true;
	view_refresh(view);
}

/* Sort by the next column in this direction that has an order. Considers columns that
 * only a wide screen shows. */
static void sort_beside(struct view *view, int step)
{
	const struct view_type *type = view_type_of(&view->model);
	size_t count = type->column_count, now = view_type_sort(&view->model), at = now;

	do
		at = (at + count + (size_t)step) % count;
	while (at != now &&
	       !(type->columns[at].order &&
		 view_type_has_column(&view->model, &type->columns[at], INT_MAX)));
	if (at != now)
		view_sort_by(view, at);
	else
		view_say(view, "The tree is in the order of its counts");
}

void on_sort_left(struct view *view)
{
	sort_beside(view, -1);
}

void on_sort_right(struct view *view)
{
	sort_beside(view, 1);
}

void on_sort_reverse(struct view *view)
{
	struct settings *settings = &view->model.settings;

	settings->reverse[settings->view] ^= true;
	view_refresh(view);
}

void on_search(struct view *view)
{
	prompt_begin(view, &prompt_search, "");
}

void on_search_next(struct view *view)
{
	search_begin(view, (long)view->at + 1, 1, false);
	view_go_on(view);
}

void on_search_back(struct view *view)
{
	search_begin(view, (long)view->at - 1, -1, false);
	view_go_on(view);
}

void on_filter_frames(struct view *view)
{
	prompt_begin(view, &prompt_frames, view->model.frames.text);
}

void on_filter_threads(struct view *view)
{
	prompt_begin(view, &prompt_threads, view->model.threads.text);
}

void on_idle(struct view *view)
{
	struct settings *settings = &view->model.settings;

	settings->idle = (settings->idle + 1) % PMP_IDLE_COUNT;
	view_refresh(view);
}

void on_group(struct view *view)
{
	struct settings *settings = &view->model.settings;

	settings->ungrouped ^= true;
	view_refresh(view);
}

void on_split(struct view *view)
{
	struct settings *settings = &view->model.settings;

	settings->split ^= true;
	view_refresh(view);
}

void on_functions(struct view *view)
{
	struct settings *settings = &view->model.settings;

	if (view_type_of(&view->model)->row != ROW_HEAP) {
		view_say(view, "Rows of the heap (6) can be functions; f is for these");
		return;
	}
	settings->functions ^= true;
	view_show_again(view);
}

/* The process of the chosen row, or the one whose heap is shown; 0: none. */
static pid_t chosen_process(const struct view *view)
{
	const struct model *model = &view->model;
	const struct view_row *row = model_row(model, view->at);
	struct pmp_live_process process = { .size = sizeof(process) };

	if (view_type_of(model)->row == ROW_OBJECT)
		return model->census.pid;
	if (row && view_type_of(model)->row == ROW_HEAP)
		return heap_row(model, row)->pid;
	if (!row || !model->live || row->process >= pmp_live_process_count(model->live))
		return 0;
	pmp_live_process(model->live, row->process, PMP_WINDOW_START, &process);
	return process.pid;
}

void on_objects(struct view *view)
{
	const pid_t pid = chosen_process(view);

	if (view->ended) {
		view_say(view, "No process is left whose heap can be read");
		return;
	}
	view_show(view, view_type_find("objects"));
	if (view->model.census.reading)
		view_say(view, "The heap of %d is being read",
			 (int)view->model.census.pid);
	else
		view->actions->read_heap(view->actions_arg, pid);
}

void on_window(struct view *view)
{
	struct settings *settings = &view->model.settings;

	settings->window = (settings->window + 1) % PMP_WINDOW_COUNT;
	view_refresh(view);
}

void on_share(struct view *view)
{
	struct settings *settings = &view->model.settings;
	char type[64];

	if (view->model.guessed) {
		view_say(view, "The file does not say how many snapshots there were");
		return;
	}
	if (!model_has_average(&view->model)) {
		view_say(view, "The profile counts %s, not threads",
			 pmp_escape(view->metadata.type, type, sizeof(type)));
		return;
	}
	settings->average ^= true;
	view_refresh(view);
}

void on_lines(struct view *view)
{
	struct settings *settings = &view->model.settings;

	settings->no_lines ^= true;
	view_refresh(view);
}

void on_names(struct view *view)
{
	struct settings *settings = &view->model.settings;

	settings->full ^= true;
	view_refresh(view);
}

void on_wait(struct view *view)
{
	struct settings *settings = &view->model.settings;

	settings->wait ^= true;
	view_refresh(view);
}

void on_deadlock(struct view *view)
{
	if (view_next_deadlock(view))
		return;
	if (view->model.file)
		view_say(view, "No deadlock found");
	else
		prompt_begin(view, &prompt_no_deadlock, "");
}

/* ---- sampling --------------------------------------------------------------------- */

void on_pause(struct view *view)
{
	if (view->ended)
		return;
	view->paused ^= true;
	view->resumed.any = true;
	view->resumed.samples = view->model.all.samples;
	view->resumed.time = 0;
	view->actions->pause(view->actions_arg, view->paused);
}

void on_refresh(struct view *view)
{
	if (view->paused) {
		view_say(view, "Paused, so no snapshot is taken: Z goes on");
		return;
	}
	view->actions->refresh(view->actions_arg);
	view_refresh(view);
}

static void change_rate(struct view *view, bool faster)
{
	static const unsigned steps[] = { 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000 };
	double now = 1e9 / (double)view->interval;
	unsigned wanted = 0;

	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		if (faster && !wanted && (double)steps[i] > now * 1.01)
			wanted = steps[i];
		if (!faster && (double)steps[i] < now * 0.99)
			wanted = steps[i];
	}
	if (wanted)
		view_set_interval(view, 1000000000 / wanted);
	else
		view_say(view, "%s",
			 faster ? "1000 snapshots a second at most"
				: "One a second; s sets any time between snapshots");
}

void on_faster(struct view *view)
{
	change_rate(view, true);
}

void on_slower(struct view *view)
{
	change_rate(view, false);
}

void on_interval(struct view *view)
{
	prompt_begin(view, &prompt_interval, "");
}

void on_reset(struct view *view)
{
	if (view->ended) {
		view_say(view, "No more snapshots come: what there is stays");
		return;
	}
	view->actions->reset(view->actions_arg);
	view_show_again(view);
}

/* ---- other ------------------------------------------------------------------------ */

void on_write(struct view *view)
{
	prompt_begin(view, &prompt_file, "");
}

void on_save(struct view *view)
{
	view->actions->save(view->actions_arg);
}

void on_mouse(struct view *view)
{
	struct settings *settings = &view->model.settings;

	settings->no_mouse ^= true;
	view_say(view, "The mouse is %s",
		 settings->no_mouse ? "the terminal's" : "pmp's");
}

void on_redraw(struct view *view)
{
	view->redraw = true;
}

void on_help(struct view *view)
{
	view->screen = view->screen == SCREEN_HELP ? SCREEN_LIST : SCREEN_HELP;
	view->help_top = 0;
}

/* Back to the list; in the list, clear the filters. */
void on_back(struct view *view)
{
	struct model *model = &view->model;
	bool filtered = model->frames.filter || model->focused || model->threads.filter;

	if (view->screen != SCREEN_LIST) {
		view->screen = SCREEN_LIST;
		return;
	}
	if (!filtered && model->settings.idle == PMP_IDLE_SHOWN)
		return;
	model_filter(model, &model->frames, "", NULL, 0);
	model_filter(model, &model->threads, "", NULL, 0);
	model->settings.idle = PMP_IDLE_SHOWN;
	view_refresh(view);
}

void on_quit(struct view *view)
{
	if (view->screen != SCREEN_LIST)
		view->screen = SCREEN_LIST;
	else
		view->actions->quit(view->actions_arg);
}
