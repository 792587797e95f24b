/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list: column titles and rows. */
#include <stdio.h>
#include <string.h>

#include "libpmp-program.h"
#include "view/view.h"

void list_draw_titles(const struct view *view, struct canvas *canvas, int row)
{
	const struct view_type *type = view_type_of(&view->model);
	size_t sort = view_type_sort(&view->model);
	int at = 0;

	canvas_style(canvas, row, 0, -1, STYLE_REVERSE);
	for (size_t i = 0; i < type->column_count; i++) {
		const struct column *column = &type->columns[i];
		int left = canvas->columns - at,
		    width = column->width ? column->width : left;
		unsigned style = STYLE_REVERSE | (i == sort ? STYLE_BOLD : 0);
		char text[64];

		if (!view_type_has_column(&view->model, column, canvas->columns) ||
		    left <= 0)
			continue;
		snprintf(text, sizeof(text), "%*s",
			 column->flags & COLUMN_LEFT ? -width : width,
			 view_type_title(&view->model, column));
		canvas_text(canvas, row, at, width, style, text);
		at += width + 1;
	}
}

static void draw_row(const struct view *view, struct canvas *canvas, int line,
		     const struct view_row *row, unsigned style)
{
	const struct view_type *type = view_type_of(&view->model);
	int at = 0;

	canvas_style(canvas, line, 0, -1, style);
	for (size_t i = 0; i < type->column_count; i++) {
		const struct column *column = &type->columns[i];
		int width = column->width ? column->width : canvas->columns - at, used;
		unsigned own = column->style && !style ? column->style(&view->model, row)
						       : style;
		char text[ROW_TEXT];

		if (!view_type_has_column(&view->model, column, canvas->columns) ||
		    width <= 0)
			continue;
		column->text(&view->model, row, text, sizeof(text));
		used = canvas_width(text);
		if (!column->width)
			canvas_text(canvas, line, at, width, own,
				    canvas_skip(text, view->sideways));
		else
			canvas_text(canvas, line,
				    column->flags & COLUMN_LEFT || used > width
					    ? at
					    : at + width - used,
				    width, own, text);
		at += width + 1;
	}
}

/* The text for an empty list when there are samples. */
static const char *nothing_text(const struct model *model)
{
	const char *nothing = view_type_of(model)->nothing;
	bool filtered = model->frames.filter || model->focused || model->threads.filter ||
			model->settings.idle != PMP_IDLE_SHOWN;

	if (filtered)
		return "Nothing passes the filters; Esc clears them";
	if (nothing)
		return nothing;
	return pmp_filter_is_active(model->filter)
		       ? "Nothing passes the filters that pmp was given"
		       : "Nothing to show";
}

/* How much of a text fits in a line of this width: up to its end, or to a blank. */
static size_t line_length(const char *text, int width)
{
	const size_t length = strcspn(text, "\n");
	size_t blank = 0;

	if (length <= (size_t)width)
		return length;
	/* Leading blanks are indentation, not places to break. */
	for (size_t i = strspn(text, " "); i <= (size_t)width; i++)
		if (text[i] == ' ')
			blank = i;
	return blank ? blank : (size_t)width;
}

/* Say why there are no rows. */
static void draw_nothing(const struct view *view, struct canvas *canvas)
{
	const struct model *model = &view->model;
	const struct view_type *type = view_type_of(model);
	const struct layout *layout = &view->layout;
	const char *text = model->failed	  ? "Not enough memory"
			   : model_is_busy(model) ? "Counting"
			   : model->all.stacks	  ? nothing_text(model)
			   : model->file	  ? "The file is empty"
						  : "Waiting for the first snapshot";
	char why[ROW_TEXT] = "", line[ROW_TEXT];

	if (type->why_nothing && !model->failed && !model_is_busy(model))
		text = *type->why_nothing(model, why, sizeof(why)) ? why
								   : nothing_text(model);
	for (int row = 0; *text && row < layout->list_rows; row++) {
		const size_t length = line_length(text, canvas->columns - 2);

		snprintf(line, sizeof(line), "%.*s", (int)length, text);
		canvas_text(canvas, layout->list_row + row, 2, -1, STYLE_DIM, line);
		text += length;
		text += *text == '\n' || *text == ' ';
	}
}

void list_draw(struct view *view, struct canvas *canvas)
{
	const struct layout *layout = &view->layout;
	size_t rows = (size_t)layout->list_rows, count = view->model.list.order_count;

	if (view->at < view->top)
		view->top = view->at;
	if (view->at >= view->top + rows)
		view->top = view->at - rows + 1;
	if (view->top + rows > count)
		view->top = count > rows ? count - rows : 0;
	for (size_t i = 0; i < rows && view->top + i < count; i++)
		draw_row(view, canvas, layout->list_row + (int)i,
			 model_row(&view->model, view->top + i),
			 view->top + i == view->at ? STYLE_REVERSE : 0);
	if (count == 0)
		draw_nothing(view, canvas);
}
