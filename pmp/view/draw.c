/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The layout of the screen: header, views, the list, the chosen stack, keys. */
#include <stdio.h>
#include <string.h>

#include "libpmp-program.h"
#include "view/header.h"
#include "view/keys.h"
#include "view/prompt.h"
#include "view/view.h"

#define ROWS_MIN 8
#define COLUMNS_MIN 40
#define ROWS_OF_WHOLE_HEADER 16 /* less high: only one line of it */
#define ROWS_OF_DETAILS 18	/* less high: no stack below the list */

static const char *const names_of_windows[PMP_WINDOW_COUNT] = {
	[PMP_WINDOW_START] = "all",
	[PMP_WINDOW_MINUTE] = "1m",
	[PMP_WINDOW_SECONDS] = "10s",
};

static const char *const names_of_idle[PMP_IDLE_COUNT] = { "shown", "hidden", "only" };

/* ---- views and filters ----------------------------------------------------------- */

/* The views, the current one in reverse; if !names, only that has its name. */
static int draw_views(const struct view *view, struct canvas *canvas, int row, bool names)
{
	int at = 0;

	for (size_t i = 0; i < view_type_count(); i++) {
		const struct view_type *type = view_type_at(i);
		bool now = i == view->model.settings.view;
		unsigned style = now ? STYLE_REVERSE : 0;

		if (now || names)
			at += canvas_print(canvas, row, at, -1, style, " %c %s ",
					   type->key, type->name);
		else
			at += canvas_print(canvas, row, at, -1, style, " %c ", type->key);
	}
	return at;
}

/* The filters and the window of time; brief: only settings that are not the default. */
static void filters_text(const struct model *model, bool brief, char *text, size_t size)
{
	const unsigned idle = model->settings.idle, window = model_window(model);
	size_t length = 0;

	text[0] = '\0';
	if (!brief || *model->frames.text)
		length +=
			(size_t)snprintf(text, size, " filter:%s",
					 *model->frames.text ? model->frames.text : "-");
	if (model->threads.filter && length < size)
		length += (size_t)snprintf(text + length, size - length, " threads:%s",
					   model->threads.text);
	if ((!brief || idle) && length < size)
		length += (size_t)snprintf(text + length, size - length, " idle:%s",
					   names_of_idle[idle]);
	if ((!brief || window) && length < size)
		snprintf(text + length, size - length, " time:%s",
			 names_of_windows[window]);
}

static void draw_tabs(struct view *view, struct canvas *canvas, int row)
{
	bool *named = &view->layout.named;
	int at, width;
	char text[512];

	*named = canvas->columns >= VIEW_WIDE;
	at = draw_views(view, canvas, row, *named);
	filters_text(&view->model, false, text, sizeof(text));
	if (at + canvas_width(text) > canvas->columns)
		filters_text(&view->model, true, text, sizeof(text));
	width = canvas_width(text);
	if (*named && at + width > canvas->columns) {
		*named = false;
		canvas_print(canvas, row, 0, -1, 0, "%*s", canvas->columns, "");
		at = draw_views(view, canvas, row, false);
	}
	if (at + width < canvas->columns)
		at = canvas->columns - width;
	canvas_text(canvas, row, at, -1, 0, text);
}

/* ---- the bottom -------------------------------------------------------------- */

static void draw_keys(const struct view *view, struct canvas *canvas, int row)
{
	/* Quit and help first: they must fit on any screen. */
	int at = 0;

	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < key_count(); i++) {
			const struct key_binding *key = key_at(i);

			if (!key->hint || key->always != (pass == 0) ||
			    (view->model.file && key->unsaved))
				continue;
			if (at + canvas_width(key->hint) > canvas->columns)
				return;
			at += canvas_text(canvas, row, at, -1, 0, key->hint) + 2;
		}
	}
}

static void draw_bottom(const struct view *view, struct canvas *canvas)
{
	int row = canvas->rows - 1;

	if (view->prompt) {
		prompt_draw(view, canvas, row);
		return;
	}
	if (*view->message)
		canvas_text(canvas, row, 0, -1, STYLE_YELLOW | STYLE_BOLD, view->message);
	else
		draw_keys(view, canvas, row);
}

/* ---- the whole screen ----------------------------------------------------------- */

static void lay_out(struct view *view, const struct canvas *canvas, int header)
{
	struct layout *layout = &view->layout;
	int rest;

	layout->columns = canvas->columns;
	layout->tabs_row = header;
	layout->columns_row = header + 1;
	layout->list_row = header + 2;
	rest = canvas->rows - 1 - layout->list_row;
	layout->details_rows = 0;
	if (canvas->rows >= ROWS_OF_DETAILS)
		layout->details_rows = canvas->rows < 30 ? rest * 45 / 100 : rest * 2 / 5;
	layout->list_rows = rest - layout->details_rows;
	layout->details_row = layout->list_row + layout->list_rows;
}

static void draw_line(struct canvas *canvas, int row)
{
	for (int i = 0; i < canvas->columns; i++)
		canvas_text(canvas, row, i, 1, STYLE_DIM, "-");
}

static void draw_details(struct view *view, struct canvas *canvas)
{
	const struct layout *layout = &view->layout;
	const struct view_row *row = model_row(&view->model, view->at);
	char title[ROW_TEXT];

	if (layout->details_rows < 3)
		return;
	draw_line(canvas, layout->details_row);
	if (!row)
		return;
	details_title(view, row, title, sizeof(title));
	canvas_text(canvas, layout->details_row + 1, 0, -1, STYLE_BOLD, title);
	details_draw(view, canvas, row, layout->details_row + 2, layout->details_rows - 2,
		     0);
}

/* Use the whole screen for one thing; *top is kept within its lines. */
static void draw_whole(struct view *view, struct canvas *canvas, int first)
{
	const struct view_row *row = model_row(&view->model, view->at);
	size_t rows = (size_t)(canvas->rows - 1 - first), count = 0, *top;
	char title[ROW_TEXT];

	top = view->screen == SCREEN_HELP ? &view->help_top : &view->stack_top;
	for (int pass = 0; pass < 2; pass++) {
		for (int i = first; i < canvas->rows - 1; i++)
			for (int k = 0; k < canvas->columns; k++)
				canvas_text(canvas, i, k, 1, 0, " ");
		if (view->screen == SCREEN_HELP)
			count = help_draw(canvas, first, (int)rows, *top);
		else if (row)
			count = details_draw(view, canvas, row, first, (int)rows, *top);
		if (*top + rows <= count || *top == 0)
			break;
		*top = count > rows ? count - rows : 0;
	}
	title[0] = '\0';
	if (view->screen == SCREEN_STACK && row)
		details_title(view, row, title, sizeof(title));
	canvas_text(canvas, first - 1, 0, -1, STYLE_BOLD,
		    view->screen == SCREEN_HELP ? "Keys (q or Esc: back)" : title);
	if (count <= rows)
		return;
	snprintf(title, sizeof(title), "  %zu-%zu of %zu", *top + 1, *top + rows, count);
	canvas_text(canvas, first - 1, canvas->columns - canvas_width(title), -1,
		    STYLE_BOLD, title);
}

void view_draw(struct view *view, struct canvas *canvas)
{
	int header;

	view_keep_valid(view);
	canvas_clear(canvas);
	if (canvas->rows < ROWS_MIN || canvas->columns < COLUMNS_MIN) {
		canvas_print(canvas, 0, 0, -1, 0, "%dx%d is too small", canvas->columns,
			     canvas->rows);
		canvas_print(canvas, 1, 0, -1, 0, "%dx%d is needed", COLUMNS_MIN,
			     ROWS_MIN);
		return;
	}
	header = header_draw(view, canvas, canvas->rows < ROWS_OF_WHOLE_HEADER ? 1 : 3);
	lay_out(view, canvas, header);
	draw_tabs(view, canvas, header);
	if (view->screen == SCREEN_LIST) {
		list_draw_titles(view, canvas, view->layout.columns_row);
		list_draw(view, canvas);
		draw_details(view, canvas);
	} else {
		draw_whole(view, canvas, header + 2);
	}
	draw_bottom(view, canvas);
}
