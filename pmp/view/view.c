/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What keys and clicks do. */
#include "view.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../clock.h"
#include "../keys.h"
#include "../value.h"

#define SIDEWAYS_STEP 16
#define SIDEWAYS_MAX 3000
#define INTERVAL_MIN UINT64_C(1000000)	     /* 1 ms */
#define INTERVAL_MAX UINT64_C(3600000000000) /* an hour */

static const struct pmp_view_type *const types[PMP_VIEW_COUNT] = {
	[PMP_VIEW_STACKS] = &pmp_view_stacks,
	[PMP_VIEW_FUNCTIONS] = &pmp_view_functions,
	[PMP_VIEW_TREE] = &pmp_view_tree,
	[PMP_VIEW_THREADS] = &pmp_view_threads,
};

/* ---- life -------------------------------------------------------------------- */

void pmp_view_init(struct pmp_view *view, struct pmp_profile *profile,
		   struct pmp_symbolizer *symbolizer, const struct pmp_view_host *host,
		   void *host_arg)
{
	*view = (struct pmp_view){ .host = host, .host_arg = host_arg, .title = "" };
	pmp_model_init(&view->model, symbolizer);
	pmp_view_set_profile(view, profile);
}

void pmp_view_free(struct pmp_view *view)
{
	pmp_filter_free(view->search.filter);
	pmp_model_free(&view->model);
}

void pmp_view_set_profile(struct pmp_view *view, struct pmp_profile *profile)
{
	view->profile = profile;
	pmp_model_set_live(&view->model, profile ? pmp_profile_live(profile) : NULL);
}

void pmp_view_say(struct pmp_view *view, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(view->message, sizeof(view->message), format, args);
	va_end(args);
}

/* ---- rows -------------------------------------------------------------------- */

const struct pmp_view_type *pmp_view_type_of(const struct pmp_view *view)
{
	return types[view->model.settings.view];
}

bool pmp_view_is_several(const struct pmp_view *view)
{
	return view->model.live && pmp_live_process_count(view->model.live) > 1;
}

bool pmp_view_has_column(const struct pmp_view *view, const struct pmp_column *column,
			 int width)
{
	if (width < column->narrow)
		return false;
	if ((column->flags & PMP_COLUMN_SEVERAL) && !pmp_view_is_several(view))
		return false;
	return !(column->flags & PMP_COLUMN_WAIT) || view->model.settings.wait;
}

size_t pmp_view_sort_column(const struct pmp_view *view)
{
	const struct pmp_view_type *type = pmp_view_type_of(view);
	unsigned sort = view->model.settings.sort[view->model.settings.view];

	return sort && sort <= type->column_count && type->columns[sort - 1].key
		       ? sort - 1
		       : type->sort;
}

/* The row that was chosen may have another place now, or another key: names came. */
static void follow(struct pmp_view *view)
{
	struct pmp_model *model = &view->model;
	long found;

	if (!view->moved) {
		view->at = 0;
		return;
	}
	found = pmp_model_find(model, view->chosen, view->at);
	if (found < 0 && model->settings.view == PMP_VIEW_STACKS && model->live &&
	    view->chosen_stack < pmp_live_stack_count(model->live)) {
		uint32_t chain = pmp_model_chain_of(model, view->chosen_stack);

		for (size_t i = 0; i < model->list.order_count && found < 0; i++) {
			if (pmp_model_row(model, i)->chain == chain)
				found = (long)i;
		}
	}
	if (found >= 0)
		view->at = (size_t)found;
}

static void choose(struct pmp_view *view)
{
	const struct pmp_row *row;

	if (view->at >= view->model.list.order_count)
		view->at = view->model.list.order_count ? view->model.list.order_count - 1 : 0;
	row = pmp_model_row(&view->model, view->at);
	if (!row)
		return;
	view->chosen = row->key;
	view->chosen_stack = row->stack;
}

static uint64_t sort_key(const void *arg, const struct pmp_row *row)
{
	const struct pmp_view *view = arg;

	return pmp_view_type_of(view)->columns[pmp_view_sort_column(view)].key(view, row);
}

static int sort_compare(const void *arg, const struct pmp_row *a, const struct pmp_row *b)
{
	const struct pmp_view *view = arg;

	return pmp_view_type_of(view)->columns[pmp_view_sort_column(view)].compare(view, a, b);
}

void pmp_view_refresh(struct pmp_view *view)
{
	const struct pmp_settings *settings = &view->model.settings;
	const struct pmp_column *column =
		&pmp_view_type_of(view)->columns[pmp_view_sort_column(view)];
	const struct pmp_sorting sorting = {
		.key = sort_key,
		.compare = column->compare ? sort_compare : NULL,
		.arg = view,
		.reverse = settings->reverse[settings->view],
	};

	pmp_model_begin(&view->model, &sorting);
	pmp_view_go_on(view);
}

bool pmp_view_is_busy(const struct pmp_view *view)
{
	return pmp_model_is_busy(&view->model) || view->hunt.left;
}

void pmp_view_go_on(struct pmp_view *view)
{
	uint64_t until = view->slice ? pmp_now() + view->slice : UINT64_MAX;

	if (!pmp_model_is_valid(&view->model)) {
		/* What has been made so far is of things that are numbered otherwise now. */
		pmp_view_refresh(view);
		return;
	}
	if (pmp_model_is_busy(&view->model) && pmp_model_go_on(&view->model, until)) {
		follow(view);
		choose(view);
	}
	if (view->hunt.left)
		pmp_search_go_on(view, until);
}

void pmp_view_move_to(struct pmp_view *view, long at)
{
	long last = (long)view->model.list.order_count - 1;

	view->at = at < 0 || last < 0 ? 0 : at > last ? (size_t)last : (size_t)at;
	view->moved = true;
	choose(view);
}

/* Everything is shown in another way: begin at its top. */
static void show_anew(struct pmp_view *view)
{
	view->moved = false;
	view->at = view->top = 0;
	view->sideways = 0;
	pmp_view_refresh(view);
}

/* ---- the line at the bottom -------------------------------------------------- */

static void begin_prompt(struct pmp_view *view, enum pmp_prompt prompt, const char *text)
{
	view->prompt = prompt;
	view->origin = view->at;
	snprintf(view->input, sizeof(view->input), "%s", text);
}

static bool set_filter(struct pmp_view *view, struct pmp_match *filter)
{
	char problem[128];
	bool good = pmp_model_filter(&view->model, filter, view->input, problem,
				     sizeof(problem));

	if (good)
		show_anew(view);
	else
		pmp_view_say(view, "Not a regular expression: %s", problem);
	return good;
}

static void search(struct pmp_view *view, long from, int step, bool returns)
{
	pmp_search_begin(view, from, step, returns);
	pmp_view_go_on(view);
}

static bool set_search(struct pmp_view *view, bool finished)
{
	char problem[128];

	if (!pmp_search_set(view, view->input, problem, sizeof(problem))) {
		if (finished)
			pmp_view_say(view, "Not a regular expression: %s", problem);
		return false;
	}
	/* Each letter searches from where the search began, and goes back there in vain. */
	if (view->search.filter)
		search(view, (long)view->origin, 1, true);
	return true;
}

static bool set_interval(struct pmp_view *view, uint64_t interval)
{
	if (interval < INTERVAL_MIN || interval > INTERVAL_MAX) {
		pmp_view_say(view, "The time between snapshots is 1ms at least, 1h at most");
		return false;
	}
	view->interval = interval;
	view->host->set_interval(view->host_arg, interval);
	return true;
}

static bool enter_interval(struct pmp_view *view)
{
	uint64_t interval;

	if (!*view->input)
		return true;
	if (pmp_value_time(view->input, &interval))
		return set_interval(view, interval);
	pmp_view_say(view, "Not a time: %s (0.1, 10ms, 1m)", view->input);
	return false;
}

/* Do what was asked for. False: it is wrong, and has been said. */
static bool take_answer(struct pmp_view *view, enum pmp_prompt prompt)
{
	switch (prompt) {
	case PMP_PROMPT_SEARCH: return set_search(view, true);
	case PMP_PROMPT_FRAMES: return set_filter(view, &view->model.frames);
	case PMP_PROMPT_THREADS: return set_filter(view, &view->model.threads);
	case PMP_PROMPT_INTERVAL: return enter_interval(view);
	case PMP_PROMPT_WRITE:
		if (*view->input)
			view->host->write(view->host_arg, view->input);
		return true;
	default: return true;
	}
}

/* What is wrong can be corrected: else its letters would be taken for keys. */
static void finish_prompt(struct pmp_view *view)
{
	enum pmp_prompt prompt = view->prompt;

	view->prompt = PMP_PROMPT_NONE;
	view->message[0] = '\0';
	if (!take_answer(view, prompt))
		view->prompt = prompt;
}

static void erase_character(char *text)
{
	size_t length = strlen(text);

	while (length > 0 && ((unsigned char)text[length - 1] & 0xc0) == 0x80)
		length--;
	text[length ? length - 1 : 0] = '\0';
}

static void prompt_key(struct pmp_view *view, int key)
{
	view->message[0] = '\0';
	switch (key) {
	case PMP_KEY_ENTER: finish_prompt(view); return;
	case PMP_KEY_ESCAPE: view->prompt = PMP_PROMPT_NONE; return;
	case PMP_KEY_BACKSPACE: erase_character(view->input); break;
	case PMP_KEY_CLEAR: view->input[0] = '\0'; break;
	default:
		if (key < ' ' || key >= PMP_KEY_SPECIAL)
			return;
		pmp_canvas_append(view->input, sizeof(view->input), (uint32_t)key);
	}
	if (view->prompt == PMP_PROMPT_SEARCH && *view->input)
		set_search(view, false);
}

/* ---- keys -------------------------------------------------------------------- */

static void set_view(struct pmp_view *view, enum pmp_view_kind kind)
{
	view->screen = PMP_SCREEN_LIST;
	if (view->model.settings.view == (unsigned)kind)
		return;
	view->model.settings.view = kind;
	show_anew(view);
}

static void sort_by(struct pmp_view *view, size_t column)
{
	struct pmp_settings *settings = &view->model.settings;

	if (pmp_view_sort_column(view) == column)
		settings->reverse[settings->view] ^= true;
	else
		settings->reverse[settings->view] = false;
	settings->sort[settings->view] = (unsigned)column + 1;
	pmp_view_refresh(view);
}

/* The next column in a direction that can be sorted by and has an order of its own. */
static void sort_beside(struct pmp_view *view, int step)
{
	const struct pmp_view_type *type = pmp_view_type_of(view);
	size_t count = type->column_count, now = pmp_view_sort_column(view), at = now;

	do
		at = (at + count + (size_t)step) % count;
	while (at != now && !type->columns[at].key);
	if (at != now)
		sort_by(view, at);
	else
		pmp_view_say(view, "The tree is in the order of its counts");
}

static void change_rate(struct pmp_view *view, bool faster)
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
		set_interval(view, 1000000000 / wanted);
	else
		pmp_view_say(view, "%s",
			     faster ? "1000 snapshots a second at most" :
				      "One a second; s sets any time between snapshots");
}

static void pause_or_go_on(struct pmp_view *view)
{
	if (view->ended)
		return;
	view->paused ^= true;
	view->host->pause(view->host_arg, view->paused);
}

/* Back to the list; in the list, away with the filters. */
static void go_back(struct pmp_view *view)
{
	struct pmp_model *model = &view->model;
	bool filtered = model->frames.filter || model->focused || model->threads.filter;

	if (view->screen != PMP_SCREEN_LIST) {
		view->screen = PMP_SCREEN_LIST;
		return;
	}
	if (!filtered && model->settings.idle == PMP_IDLE_SHOWN)
		return;
	pmp_model_filter(model, &model->frames, "", NULL, 0);
	pmp_model_filter(model, &model->threads, "", NULL, 0);
	model->settings.idle = PMP_IDLE_SHOWN;
	pmp_view_refresh(view);
}

static void enter(struct pmp_view *view, const struct pmp_row *row)
{
	if (!row)
		return;
	if (view->screen == PMP_SCREEN_STACK) {
		view->screen = PMP_SCREEN_LIST;
	} else if (view->model.settings.view == PMP_VIEW_TREE &&
		   pmp_model_has_children(row)) {
		pmp_model_open(&view->model, row, !row->open);
	} else {
		view->screen = PMP_SCREEN_STACK;
		view->stack_top = 0;
	}
}

static void close_node(struct pmp_view *view, const struct pmp_row *row)
{
	if (row->open) {
		pmp_model_open(&view->model, row, false);
	} else if (row->parent != PMP_NAME_NONE) {
		long at = pmp_model_find(&view->model, view->model.list.rows[row->parent].key,
					 view->at);

		pmp_view_move_to(view, at < 0 ? (long)view->at : at);
	}
}

static void open_node(struct pmp_view *view, const struct pmp_row *row)
{
	if (!pmp_model_has_children(row))
		return;
	if (row->open)
		pmp_view_move_to(view, (long)view->at + 1);
	else
		pmp_model_open(&view->model, row, true);
}

static void go_sideways(struct pmp_view *view, const struct pmp_row *row, int step)
{
	if (view->model.settings.view == PMP_VIEW_TREE && row &&
	    view->screen == PMP_SCREEN_LIST) {
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

static void move_by(struct pmp_view *view, long step)
{
	size_t *top = view->screen == PMP_SCREEN_HELP ? &view->help_top : &view->stack_top;

	if (view->screen == PMP_SCREEN_LIST)
		pmp_view_move_to(view, (long)view->at + step);
	else
		*top = step < 0 && *top < (size_t)-step ? 0 : *top + (size_t)step;
}

static void go_home(struct pmp_view *view)
{
	if (view->screen != PMP_SCREEN_LIST) {
		view->help_top = view->stack_top = 0;
		return;
	}
	pmp_view_move_to(view, 0);
	view->moved = false;
	view->sideways = 0;
}

static void moving(struct pmp_view *view, enum pmp_action action)
{
	const struct pmp_row *row = pmp_model_row(&view->model, view->at);
	long page = view->layout.list_rows > 1 ? view->layout.list_rows - 1 : 1;

	switch (action) {
	case PMP_ACTION_UP: move_by(view, -1); break;
	case PMP_ACTION_DOWN: move_by(view, 1); break;
	case PMP_ACTION_PAGE_UP: move_by(view, -page); break;
	case PMP_ACTION_PAGE_DOWN: move_by(view, page); break;
	case PMP_ACTION_HOME: go_home(view); break;
	case PMP_ACTION_END: move_by(view, 1000000000); break;
	case PMP_ACTION_LEFT: go_sideways(view, row, -1); break;
	case PMP_ACTION_RIGHT: go_sideways(view, row, 1); break;
	case PMP_ACTION_ENTER: enter(view, row); break;
	case PMP_ACTION_HOT_PATH:
		if (row && view->model.settings.view == PMP_VIEW_TREE)
			pmp_model_open_hot(&view->model, row);
		break;
	default: break;
	}
}

static void switching(struct pmp_view *view, enum pmp_action action)
{
	struct pmp_settings *settings = &view->model.settings;

	switch (action) {
	case PMP_ACTION_INVERT: settings->inverted ^= true; break;
	case PMP_ACTION_SORT_REVERSE: settings->reverse[settings->view] ^= true; break;
	case PMP_ACTION_IDLE:
		settings->idle = (settings->idle + 1) % PMP_IDLE_COUNT;
		break;
	case PMP_ACTION_GROUP: settings->ungrouped ^= true; break;
	case PMP_ACTION_SPLIT: settings->split ^= true; break;
	case PMP_ACTION_WINDOW:
		settings->window = (settings->window + 1) % PMP_WINDOW_COUNT;
		break;
	case PMP_ACTION_SHARE: settings->average ^= true; break;
	case PMP_ACTION_LINES: settings->no_lines ^= true; break;
	case PMP_ACTION_NAMES: settings->full ^= true; break;
	case PMP_ACTION_WAIT: settings->wait ^= true; break;
	case PMP_ACTION_MOUSE:
		settings->no_mouse ^= true;
		pmp_view_say(view, "The mouse is %s",
			     settings->no_mouse ? "the terminal's" : "pmp's");
		break;
	default: return;
	}
	pmp_view_refresh(view);
}

static void asking(struct pmp_view *view, enum pmp_action action)
{
	switch (action) {
	case PMP_ACTION_SEARCH: begin_prompt(view, PMP_PROMPT_SEARCH, ""); break;
	case PMP_ACTION_SEARCH_NEXT: search(view, (long)view->at + 1, 1, false); break;
	case PMP_ACTION_SEARCH_BACK: search(view, (long)view->at - 1, -1, false); break;
	case PMP_ACTION_FILTER_FRAMES:
		begin_prompt(view, PMP_PROMPT_FRAMES, view->model.frames.text);
		break;
	case PMP_ACTION_FILTER_THREADS:
		begin_prompt(view, PMP_PROMPT_THREADS, view->model.threads.text);
		break;
	case PMP_ACTION_INTERVAL: begin_prompt(view, PMP_PROMPT_INTERVAL, ""); break;
	case PMP_ACTION_WRITE: begin_prompt(view, PMP_PROMPT_WRITE, ""); break;
	default: break;
	}
}

static void sampling(struct pmp_view *view, enum pmp_action action)
{
	switch (action) {
	case PMP_ACTION_REFRESH:
		view->host->refresh(view->host_arg);
		pmp_view_refresh(view);
		break;
	case PMP_ACTION_PAUSE: pause_or_go_on(view); break;
	case PMP_ACTION_FASTER: change_rate(view, true); break;
	case PMP_ACTION_SLOWER: change_rate(view, false); break;
	case PMP_ACTION_RESET:
		if (view->ended) {
			pmp_view_say(view, "No more snapshots come: what there is stays");
			break;
		}
		view->host->reset(view->host_arg);
		show_anew(view);
		break;
	case PMP_ACTION_SAVE: view->host->save(view->host_arg); break;
	default: break;
	}
}

bool pmp_view_has_action(const struct pmp_view *view, enum pmp_action action)
{
	switch (action) {
	case PMP_ACTION_PAUSE:
	case PMP_ACTION_REFRESH:
	case PMP_ACTION_FASTER:
	case PMP_ACTION_SLOWER:
	case PMP_ACTION_INTERVAL:
	case PMP_ACTION_RESET:
	case PMP_ACTION_WINDOW: return !view->model.saved;
	default: return true;
	}
}

static void act(struct pmp_view *view, enum pmp_action action)
{
	if (!pmp_view_has_action(view, action)) {
		pmp_view_say(view, action == PMP_ACTION_WINDOW
					   ? "A saved profile is counted as a whole"
					   : "A saved profile: nothing is sampled");
		return;
	}
	switch (action) {
	case PMP_ACTION_STACKS: set_view(view, PMP_VIEW_STACKS); break;
	case PMP_ACTION_FUNCTIONS: set_view(view, PMP_VIEW_FUNCTIONS); break;
	case PMP_ACTION_TREE: set_view(view, PMP_VIEW_TREE); break;
	case PMP_ACTION_THREADS: set_view(view, PMP_VIEW_THREADS); break;
	case PMP_ACTION_LOCKS:
		pmp_view_say(view, "The view of locks is not in this release; L marks who waits");
		break;
	case PMP_ACTION_NEXT_VIEW:
		set_view(view, (view->model.settings.view + 1) % PMP_VIEW_COUNT);
		break;
	case PMP_ACTION_SORT_LEFT: sort_beside(view, -1); break;
	case PMP_ACTION_SORT_RIGHT: sort_beside(view, 1); break;
	case PMP_ACTION_REDRAW: view->redraw = true; break;
	case PMP_ACTION_HELP:
		view->screen = view->screen == PMP_SCREEN_HELP ? PMP_SCREEN_LIST
							       : PMP_SCREEN_HELP;
		view->help_top = 0;
		break;
	case PMP_ACTION_BACK: go_back(view); break;
	case PMP_ACTION_QUIT:
		if (view->screen != PMP_SCREEN_LIST)
			view->screen = PMP_SCREEN_LIST;
		else
			view->host->quit(view->host_arg);
		break;
	default:
		moving(view, action);
		switching(view, action);
		asking(view, action);
		sampling(view, action);
	}
}

void pmp_view_keep_valid(struct pmp_view *view)
{
	if (!pmp_model_is_valid(&view->model))
		pmp_view_refresh(view);
}

void pmp_view_key(struct pmp_view *view, int key)
{
	enum pmp_action action;

	pmp_view_keep_valid(view);
	view->hunt.left = 0;
	if (view->prompt != PMP_PROMPT_NONE) {
		prompt_key(view, key);
		return;
	}
	view->message[0] = '\0';
	action = pmp_key_action(key);
	if (action == PMP_ACTION_NONE)
		pmp_view_say(view, "No such key; ? is help");
	act(view, action);
}

/* ---- the mouse --------------------------------------------------------------- */

static void click_column(struct pmp_view *view, int column)
{
	const struct pmp_view_type *type = pmp_view_type_of(view);
	int begin = 0;

	for (size_t i = 0; i < type->column_count; i++) {
		const struct pmp_column *at = &type->columns[i];
		int width = at->width ? at->width + 1 : 10000;

		if (!pmp_view_has_column(view, at, view->layout.columns))
			continue;
		if (column >= begin && column < begin + width && at->key)
			sort_by(view, i);
		begin += width;
	}
}

static void click_tab(struct pmp_view *view, int column)
{
	int begin = 0;

	for (int i = 0; i < PMP_VIEW_COUNT; i++) {
		bool named = view->layout.columns >= 60 ||
			     view->model.settings.view == (unsigned)i;
		int width = named ? (int)strlen(types[i]->name) + 4 : 3;

		if (column >= begin && column < begin + width) {
			set_view(view, (enum pmp_view_kind)i);
			return;
		}
		begin += width;
	}
}

void pmp_view_mouse(struct pmp_view *view, int row, int column, int wheel)
{
	const struct pmp_layout *layout = &view->layout;
	long at;

	pmp_view_keep_valid(view);
	at = (long)view->top + row - layout->list_row;
	if (view->prompt != PMP_PROMPT_NONE)
		return;
	view->message[0] = '\0';
	if (wheel) {
		move_by(view, 3L * wheel);
		return;
	}
	if (row == layout->tabs_row) {
		click_tab(view, column);
		return;
	}
	if (view->screen != PMP_SCREEN_LIST)
		return;
	if (row == layout->columns_row)
		click_column(view, column);
	else if (row >= layout->list_row && row < layout->list_row + layout->list_rows &&
		 at < (long)view->model.list.order_count) {
		if (view->moved && (size_t)at == view->at)
			enter(view, pmp_model_row(&view->model, view->at));
		else
			pmp_view_move_to(view, at);
	}
}
