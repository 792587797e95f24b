/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bottom line when it asks for something: questions, and what their answers do. */
#include "view/prompt.h"

#include <stdio.h>
#include <string.h>

#include "options/value.h"
#include "view/key-codes.h"

#define INTERVAL_MIN UINT64_C(1000000)	     /* 1 ms */
#define INTERVAL_MAX UINT64_C(3600000000000) /* 1 hour */

/* ---- answers ------------------------------------------------------------------ */

static bool set_filter(struct view *view, struct text_filter *filter)
{
	char problem[128];
	bool good =
		model_filter(&view->model, filter, view->input, problem, sizeof(problem));

	if (good)
		view_show_again(view);
	else
		view_say(view, "Not a regular expression: %s", problem);
	return good;
}

static bool take_frames(struct view *view)
{
	return set_filter(view, &view->model.frames);
}

static bool take_threads(struct view *view)
{
	return set_filter(view, &view->model.threads);
}

/* False: the pattern is invalid, *problem says why. */
static bool set_search(struct view *view, char *problem, size_t size)
{
	if (!search_set(view, view->input, problem, size))
		return false;
	/* Each letter searches from the row where the search began, or returns there. */
	if (view->search.match.filter) {
		search_begin(view, (long)view->origin, 1, true);
		view_go_on(view);
	}
	return true;
}

static bool take_search(struct view *view)
{
	char problem[128];
	bool good = set_search(view, problem, sizeof(problem));

	if (!good)
		view_say(view, "Not a regular expression: %s", problem);
	return good;
}

static void type_search(struct view *view)
{
	char problem[128];

	if (*view->input)
		set_search(view, problem, sizeof(problem));
}

bool view_set_interval(struct view *view, uint64_t interval)
{
	if (interval < INTERVAL_MIN || interval > INTERVAL_MAX) {
		view_say(view, "From 1ms to 1h");
		return false;
	}
	view->interval = interval;
	view->actions->set_interval(view->actions_arg, interval);
	return true;
}

static bool take_interval(struct view *view)
{
	uint64_t interval;

	if (!*view->input)
		return true;
	if (value_time(view->input, &interval))
		return view_set_interval(view, interval);
	view_say(view, "Not a time: %s (0.1, 10ms, 1m)", view->input);
	return false;
}

static bool take_file(struct view *view)
{
	if (*view->input)
		view->actions->write(view->actions_arg, view->input);
	return true;
}

const struct prompt prompt_search = { "Search: ", take_search, type_search };
const struct prompt prompt_frames = { "Only stacks with: ", take_frames, NULL };
const struct prompt prompt_threads = { "Only threads named: ", take_threads, NULL };
const struct prompt prompt_interval = { "Time between snapshots: ", take_interval, NULL };
const struct prompt prompt_no_deadlock = { "No deadlock found. Time between snapshots: ",
					   take_interval, NULL };
const struct prompt prompt_file = { "Write to file: ", take_file, NULL };

/* ---- keys ----------------------------------------------------------------------- */

void prompt_begin(struct view *view, const struct prompt *prompt, const char *text)
{
	view->prompt = prompt;
	view->origin = view->at;
	snprintf(view->input, sizeof(view->input), "%s", text);
}

/* Keep asking after a wrong answer, so that it can be corrected and its letters are not
 * taken for keys. */
static void finish(struct view *view)
{
	const struct prompt *prompt = view->prompt;

	view->prompt = NULL;
	view->message[0] = '\0';
	if (!prompt->take(view))
		view->prompt = prompt;
}

static void erase_character(char *text)
{
	size_t length = strlen(text);

	while (length > 0 && ((unsigned char)text[length - 1] & 0xc0) == 0x80)
		length--;
	text[length ? length - 1 : 0] = '\0';
}

void prompt_key(struct view *view, int key)
{
	view->message[0] = '\0';
	switch (key) {
	case PMP_KEY_ENTER: finish(view); return;
	case PMP_KEY_ESCAPE: view->prompt = NULL; return;
	case PMP_KEY_BACKSPACE: erase_character(view->input); break;
	case PMP_KEY_CLEAR: view->input[0] = '\0'; break;
	default:
		if (key < ' ' || key >= PMP_KEY_SPECIAL)
			return;
		canvas_append(view->input, sizeof(view->input), (uint32_t)key);
	}
	if (view->prompt->type)
		view->prompt->type(view);
}

/* ---- the line --------------------------------------------------------------------- */

void prompt_draw(const struct view *view, struct canvas *canvas, int row)
{
	int at = canvas_text(canvas, row, 0, -1, STYLE_BOLD, view->prompt->question);
	int room = canvas->columns - at - 1, used = canvas_width(view->input);

	at += canvas_text(canvas, row, at, -1, 0,
			  canvas_skip(view->input, used > room ? used - room : 0));
	canvas_text(canvas, row, at, 1, STYLE_REVERSE, " ");
	if (*view->message)
		canvas_print(canvas, row, at + 2, -1, STYLE_YELLOW, "%s", view->message);
}
