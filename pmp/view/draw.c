/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the screen looks like: header, views, columns, rows, the chosen stack, keys. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../keys.h"
#include "view.h"

#define ROWS_MIN 8
#define COLUMNS_MIN 40
#define ROWS_OF_WHOLE_HEADER 16 /* screens less high have one line of it */
#define ROWS_OF_DETAILS 18	/* and less high no stack below the list */
#define WIDE 60			/* screens less wide are short of words */
#define ROOMY 96		/* only these have all of them */
#define BEHIND 0.8		/* of the rate asked for: too little */

static const char *const names_of_windows[PMP_WINDOW_COUNT] = {
	[PMP_WINDOW_START] = "all",
	[PMP_WINDOW_MINUTE] = "1m",
	[PMP_WINDOW_SECONDS] = "10s",
};

static const char *const names_of_idle[PMP_IDLE_COUNT] = { "shown", "hidden", "only" };

/* ---- header ------------------------------------------------------------------ */

struct header {
	struct pmp_profile_info info;
	size_t threads, stopped, looked, unchanged, not_stopped;
	size_t run, sleep, disk, lock, other;
	double hertz;
};

static void count_threads(const struct pmp_view *view, struct header *header)
{
	const struct pmp_live *live = view->model.live;

	for (size_t i = 0; i < pmp_live_thread_count(live); i++) {
		struct pmp_live_thread thread = { .size = sizeof(thread) };

		pmp_live_thread(live, i, &thread);
		if (!thread.present)
			continue;
		switch (pmp_model_state(&view->model, thread.state, thread.waits_for_lock,
					thread.stack)) {
		case 'R': header->run++; break;
		case 'S': header->sleep++; break;
		case 'D': header->disk++; break;
		case 'L': header->lock++; break;
		default: header->other++;
		}
	}
}

static void sum(const struct pmp_view *view, struct header *header)
{
	const struct pmp_live *live = view->model.live;
	const struct pmp_live_info *info = &view->model.info;
	size_t processes = live ? pmp_live_process_count(live) : 0;
	uint64_t samples = info->samples[PMP_WINDOW_SECONDS];

	*header = (struct header){ .info.size = sizeof(header->info) };
	if (view->profile)
		pmp_profile_info(view->profile, &header->info);
	for (size_t i = 0; i < processes; i++) {
		struct pmp_live_process process = { .size = sizeof(process) };

		pmp_live_process(live, i, &process);
		header->threads += process.last.threads;
		header->stopped += process.last.n_stopped;
		header->looked += process.last.n_looked;
		header->unchanged += process.last.n_unchanged;
		header->not_stopped += process.last.n_not_stopped;
	}
	if (live)
		count_threads(view, header);
	if (samples > processes && info->span[PMP_WINDOW_SECONDS])
		header->hertz = (double)(samples - processes) / (double)processes /
				((double)info->span[PMP_WINDOW_SECONDS] / 1e9);
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* "10.0 Hz"; "4.1 of 10 Hz" when it falls behind. */
static void rate_text(const struct pmp_view *view, const struct header *header, char *text,
		      size_t size)
{
	double asked = view->interval ? 1e9 / (double)view->interval : 0;

	if (view->ended || view->paused)
		snprintf(text, size, "%s", view->ended ? "ENDED" : "PAUSED");
	else if (header->hertz <= 0)
		snprintf(text, size, "- Hz");
	else if (header->hertz < BEHIND * asked)
		snprintf(text, size, "%.1f of %.4g Hz", header->hertz, asked);
	else
		snprintf(text, size, "%.1f Hz", header->hertz);
}

static void draw_first(const struct pmp_view *view, const struct header *header,
		       struct pmp_canvas *canvas)
{
	const struct pmp_live_info *live = &view->model.info;
	uint64_t seconds = live->span[PMP_WINDOW_START] / 1000000000;
	bool wide = canvas->columns >= WIDE;
	/* Names of several processes need the room that is left. */
	bool count = wide && (canvas->columns >= ROOMY || !pmp_view_is_several(view));
	int at = 0, room = canvas->columns - (count ? 58 : wide ? 44 : 24);
	char rate[64];

	rate_text(view, header, rate, sizeof(rate));
	if (wide)
		at = pmp_canvas_print(canvas, 0, 0, -1, PMP_LOOK_BOLD, "pmp %s - ",
				      pmp_version());
	at += pmp_canvas_text(canvas, 0, at, room < 20 ? 20 : room, PMP_LOOK_BOLD,
			      view->title);
	at += pmp_canvas_print(canvas, 0, at, -1, 0, " %zu %s%s", header->threads,
			       wide ? "thread" : "thr",
			       wide && header->threads != 1 ? "s" : "");
	at += pmp_canvas_text(canvas, 0, at, -1, 0, "  ");
	at += pmp_canvas_text(canvas, 0, at, -1,
			      view->ended || view->paused ? PMP_LOOK_BOLD | PMP_LOOK_YELLOW
			      : strstr(rate, " of ")	  ? PMP_LOOK_YELLOW
							  : 0,
			      rate);
	if (wide)
		at += pmp_canvas_print(canvas, 0, at, -1, 0,
				       "  %02" PRIu64 ":%02" PRIu64 ":%02" PRIu64,
				       seconds / 3600, seconds / 60 % 60, seconds % 60);
	if (count)
		at += pmp_canvas_print(canvas, 0, at, -1, 0, "  %" PRIu64 " snapshots",
				       live->samples[PMP_WINDOW_START]);
	if (at + 18 < canvas->columns)
		pmp_canvas_print(canvas, 0, at, -1, 0, "  %" PRIu64 " stacks",
				 live->stacks[PMP_WINDOW_START]);
}

static int draw_states(const struct header *header, struct pmp_canvas *canvas, int row)
{
	int at = pmp_canvas_text(canvas, row, 0, -1, 0, "Threads: ");

	at += pmp_canvas_print(canvas, row, at, -1, header->run ? PMP_LOOK_GREEN : 0, "%zu run",
			       header->run);
	at += pmp_canvas_print(canvas, row, at, -1, 0, "  %zu sleep", header->sleep);
	at += pmp_canvas_print(canvas, row, at, -1, header->disk ? PMP_LOOK_RED : 0,
			       "  %zu disk", header->disk);
	at += pmp_canvas_print(canvas, row, at, -1, header->lock ? PMP_LOOK_YELLOW : 0,
			       "  %zu lock", header->lock);
	if (header->other)
		at += pmp_canvas_print(canvas, row, at, -1, 0, "  %zu other", header->other);
	return at;
}

static void draw_losses(const struct header *header, struct pmp_canvas *canvas, int row)
{
	const struct pmp_profile_info *info = &header->info;
	const char *gap = canvas->columns < ROOMY ? "  " : "   ";
	int at;

	at = pmp_canvas_print(canvas, row, 0, -1, 0,
			      "%zu of %zu%s stopped, %zu looked at, %zu unchanged",
			      header->stopped, header->threads,
			      canvas->columns < ROOMY ? "" : " threads", header->looked,
			      header->unchanged);
	if (header->not_stopped)
		at += pmp_canvas_print(canvas, row, at, -1, 0, ", %zu left alone",
				       header->not_stopped);
	at += pmp_canvas_text(canvas, row, at, -1, 0, gap);
	at += pmp_canvas_print(canvas, row, at, -1, info->vanished ? PMP_LOOK_YELLOW : 0,
			       "Lost %" PRIu64, info->vanished);
	at += pmp_canvas_print(canvas, row, at, -1, 0, "%sTruncated %" PRIu64, gap,
			       info->truncated);
	if (canvas->columns >= ROOMY)
		at += pmp_canvas_print(canvas, row, at, -1, 0, " (%.1f%%)",
				       percent(info->truncated, info->stacks));
	if (info->evicted)
		pmp_canvas_print(canvas, row, at, -1, PMP_LOOK_YELLOW, "%sEvicted %" PRIu64,
				 gap, info->evicted);
}

int pmp_header_draw(const struct pmp_view *view, struct pmp_canvas *canvas, int rows)
{
	const struct pmp_profile_info *info;
	struct header header;
	int at;

	if (view->model.saved)
		return pmp_header_draw_saved(view, canvas, rows);
	sum(view, &header);
	info = &header.info;
	draw_first(view, &header, canvas);
	if (rows < 3)
		return 1;
	at = draw_states(&header, canvas, 1);
	pmp_canvas_print(canvas, 1, at, -1, 0,
			 canvas->columns < ROOMY
				 ? "  Stopped %.2f ms/snap, max %.2f, %.2f%%"
				 : "   Stopped: %.2f ms/snapshot, max %.2f ms, %.2f%%",
			 info->samples ? (double)info->any_stopped / 1e6 / (double)info->samples
				       : 0,
			 (double)info->stopped_max / 1e6,
			 percent(info->any_stopped, info->last_time - info->first_time));
	draw_losses(&header, canvas, 2);
	return 3;
}

/* The views, the one that is shown in reverse; on narrow screens only it has its name. */
static int draw_views(const struct pmp_view *view, struct pmp_canvas *canvas, int row)
{
	static const char *const names[] = { "Stacks", "Functions", "Tree", "Threads",
					     "Locks" };
	int at = 0;

	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
		bool now = i == view->model.settings.view;
		unsigned look = now ? PMP_LOOK_REVERSE : i >= PMP_VIEW_COUNT ? PMP_LOOK_DIM : 0;

		if (now || canvas->columns >= WIDE)
			at += pmp_canvas_print(canvas, row, at, -1, look, " %u %s ", i + 1,
					       names[i]);
		else
			at += pmp_canvas_print(canvas, row, at, -1, look, " %u ", i + 1);
	}
	return at;
}

/* What is left out, and the window of time; brief: only what is not as it is at first. */
static void filters_text(const struct pmp_model *model, bool brief, char *text, size_t size)
{
	const unsigned idle = model->settings.idle, window = pmp_model_window(model);
	size_t length = 0;

	text[0] = '\0';
	if (!brief || *model->frames.text)
		length += (size_t)snprintf(text, size, " filter:%s",
					   *model->frames.text ? model->frames.text : "-");
	if (model->threads.filter && length < size)
		length += (size_t)snprintf(text + length, size - length, " threads:%s",
					   model->threads.text);
	if ((!brief || idle) && length < size)
		length += (size_t)snprintf(text + length, size - length, " idle:%s",
					   names_of_idle[idle]);
	if ((!brief || window) && length < size)
		snprintf(text + length, size - length, " time:%s", names_of_windows[window]);
}

static void draw_tabs(const struct pmp_view *view, struct pmp_canvas *canvas, int row)
{
	int at = draw_views(view, canvas, row), width;
	char text[512];

	filters_text(&view->model, false, text, sizeof(text));
	if (at + pmp_canvas_width(text) > canvas->columns)
		filters_text(&view->model, true, text, sizeof(text));
	width = pmp_canvas_width(text);
	if (at + width < canvas->columns)
		at = canvas->columns - width;
	pmp_canvas_text(canvas, row, at, -1, 0, text);
}

/* ---- the list ---------------------------------------------------------------- */

static const char *title_of(const struct pmp_view *view, const struct pmp_column *column)
{
	if (view->model.settings.average && strcmp(column->title, "%") == 0)
		return "THR";
	if (view->model.settings.average && strcmp(column->title, "TOTAL%") == 0)
		return "TOTAL";
	if (view->model.settings.average && strcmp(column->title, "SELF%") == 0)
		return "SELF";
	if (view->model.settings.inverted && strcmp(column->title, "CALLS") == 0)
		return "CALLED BY";
	return column->title;
}

static void draw_titles(const struct pmp_view *view, struct pmp_canvas *canvas, int row)
{
	const struct pmp_view_type *type = pmp_view_type_of(view);
	size_t sort = pmp_view_sort_column(view);
	int at = 0;

	pmp_canvas_look(canvas, row, 0, -1, PMP_LOOK_REVERSE);
	for (size_t i = 0; i < type->column_count; i++) {
		const struct pmp_column *column = &type->columns[i];
		int left = canvas->columns - at, width = column->width ? column->width : left;
		unsigned look = PMP_LOOK_REVERSE | (i == sort ? PMP_LOOK_BOLD : 0);
		char text[64];

		if (!pmp_view_has_column(view, column, canvas->columns) || left <= 0)
			continue;
		snprintf(text, sizeof(text), "%*s",
			 column->flags & PMP_COLUMN_LEFT ? -width : width,
			 title_of(view, column));
		pmp_canvas_text(canvas, row, at, width, look, text);
		at += width + 1;
	}
}

/* Past the first columns of a text. */
static const char *skip_columns(const char *text, int columns)
{
	while (columns-- > 0 && pmp_canvas_next(&text))
		;
	return text;
}

static void draw_row(const struct pmp_view *view, struct pmp_canvas *canvas, int line,
		     const struct pmp_row *row, unsigned look)
{
	const struct pmp_view_type *type = pmp_view_type_of(view);
	int at = 0;

	pmp_canvas_look(canvas, line, 0, -1, look);
	for (size_t i = 0; i < type->column_count; i++) {
		const struct pmp_column *column = &type->columns[i];
		int width = column->width ? column->width : canvas->columns - at, used;
		unsigned own = column->look && !look ? column->look(view, row) : look;
		char text[PMP_VIEW_TEXT];

		if (!pmp_view_has_column(view, column, canvas->columns) || width <= 0)
			continue;
		column->text(view, row, text, sizeof(text));
		used = pmp_canvas_width(text);
		if (!column->width)
			pmp_canvas_text(canvas, line, at, width, own,
					skip_columns(text, view->sideways));
		else
			pmp_canvas_text(canvas, line,
					column->flags & PMP_COLUMN_LEFT || used > width
						? at
						: at + width - used,
					width, own, text);
		at += width + 1;
	}
}

static void draw_list(struct pmp_view *view, struct pmp_canvas *canvas)
{
	const struct pmp_layout *layout = &view->layout;
	size_t rows = (size_t)layout->list_rows, count = view->model.list.order_count;

	if (view->at < view->top)
		view->top = view->at;
	if (view->at >= view->top + rows)
		view->top = view->at - rows + 1;
	if (view->top + rows > count)
		view->top = count > rows ? count - rows : 0;
	for (size_t i = 0; i < rows && view->top + i < count; i++)
		draw_row(view, canvas, layout->list_row + (int)i,
			 pmp_model_row(&view->model, view->top + i),
			 view->top + i == view->at ? PMP_LOOK_REVERSE : 0);
	if (count == 0)
		pmp_canvas_text(canvas, layout->list_row, 2, -1, PMP_LOOK_DIM,
				view->model.failed ? "Not enough memory" :
				pmp_model_is_busy(&view->model) ? "Counting" :
				view->model.info.stacks[PMP_WINDOW_START] ?
					"Nothing passes the filters; Esc clears them" :
				view->model.saved ? "The profile is empty" :
						    "Waiting for the first snapshot");
}

/* ---- the bottom -------------------------------------------------------------- */

static void draw_prompt(const struct pmp_view *view, struct pmp_canvas *canvas, int row)
{
	static const char *const questions[] = {
		[PMP_PROMPT_SEARCH] = "Search: ",
		[PMP_PROMPT_FRAMES] = "Only stacks with: ",
		[PMP_PROMPT_THREADS] = "Only threads named: ",
		[PMP_PROMPT_INTERVAL] = "Time between snapshots: ",
		[PMP_PROMPT_WRITE] = "Write to file: ",
	};
	int at = pmp_canvas_text(canvas, row, 0, -1, PMP_LOOK_BOLD, questions[view->prompt]);
	int room = canvas->columns - at - 1, used = pmp_canvas_width(view->input);

	at += pmp_canvas_text(canvas, row, at, -1, 0,
			      skip_columns(view->input, used > room ? used - room : 0));
	pmp_canvas_text(canvas, row, at, 1, PMP_LOOK_REVERSE, " ");
	if (*view->message)
		pmp_canvas_print(canvas, row, at + 2, -1, PMP_LOOK_YELLOW, "%s", view->message);
}

static void draw_keys(const struct pmp_view *view, struct pmp_canvas *canvas, int row)
{
	/* Quit and help first: they must be there on any screen. */
	int at = 0;

	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < pmp_key_count(); i++) {
			const struct pmp_key *key = pmp_key(i);
			bool first = key->action == PMP_ACTION_QUIT ||
				     key->action == PMP_ACTION_HELP;

			if (!key->hint || first != (pass == 0) ||
			    !pmp_view_has_action(view, key->action))
				continue;
			if (at + pmp_canvas_width(key->hint) > canvas->columns)
				return;
			at += pmp_canvas_text(canvas, row, at, -1, 0, key->hint) + 2;
		}
	}
}

static void draw_bottom(const struct pmp_view *view, struct pmp_canvas *canvas)
{
	int row = canvas->rows - 1;

	if (view->prompt != PMP_PROMPT_NONE) {
		draw_prompt(view, canvas, row);
		return;
	}
	if (*view->message)
		pmp_canvas_text(canvas, row, 0, -1, PMP_LOOK_YELLOW | PMP_LOOK_BOLD,
				view->message);
	else
		draw_keys(view, canvas, row);
}

/* ---- all of it --------------------------------------------------------------- */

static void lay_out(struct pmp_view *view, const struct pmp_canvas *canvas, int header)
{
	struct pmp_layout *layout = &view->layout;
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

static void draw_line(struct pmp_canvas *canvas, int row)
{
	for (int i = 0; i < canvas->columns; i++)
		pmp_canvas_text(canvas, row, i, 1, PMP_LOOK_DIM, "-");
}

static void draw_details(struct pmp_view *view, struct pmp_canvas *canvas)
{
	const struct pmp_layout *layout = &view->layout;
	const struct pmp_row *row = pmp_model_row(&view->model, view->at);
	char title[PMP_VIEW_TEXT];

	if (layout->details_rows < 3)
		return;
	draw_line(canvas, layout->details_row);
	if (!row)
		return;
	pmp_details_title(view, row, title, sizeof(title));
	pmp_canvas_text(canvas, layout->details_row + 1, 0, -1, PMP_LOOK_BOLD, title);
	pmp_details_draw(view, canvas, row, layout->details_row + 2,
			 layout->details_rows - 2, 0);
}

/* The whole screen for one thing; *top is kept within it. */
static void draw_whole(struct pmp_view *view, struct pmp_canvas *canvas, int first)
{
	const struct pmp_row *row = pmp_model_row(&view->model, view->at);
	size_t rows = (size_t)(canvas->rows - 1 - first), count = 0, *top;
	char title[PMP_VIEW_TEXT];

	top = view->screen == PMP_SCREEN_HELP ? &view->help_top : &view->stack_top;
	for (int pass = 0; pass < 2; pass++) {
		for (int i = first; i < canvas->rows - 1; i++)
			for (int k = 0; k < canvas->columns; k++)
				pmp_canvas_text(canvas, i, k, 1, 0, " ");
		if (view->screen == PMP_SCREEN_HELP)
			count = pmp_help_draw(canvas, first, (int)rows, *top);
		else if (row)
			count = pmp_details_draw(view, canvas, row, first, (int)rows, *top);
		if (*top + rows <= count || *top == 0)
			break;
		*top = count > rows ? count - rows : 0;
	}
	title[0] = '\0';
	if (view->screen == PMP_SCREEN_STACK && row)
		pmp_details_title(view, row, title, sizeof(title));
	pmp_canvas_text(canvas, first - 1, 0, -1, PMP_LOOK_BOLD,
			view->screen == PMP_SCREEN_HELP ? "Keys (q or Esc: back)" : title);
	if (count <= rows)
		return;
	snprintf(title, sizeof(title), "  %zu-%zu of %zu", *top + 1, *top + rows, count);
	pmp_canvas_text(canvas, first - 1, canvas->columns - pmp_canvas_width(title), -1,
			PMP_LOOK_BOLD, title);
}

void pmp_view_draw(struct pmp_view *view, struct pmp_canvas *canvas)
{
	int header;

	pmp_view_keep_valid(view);
	pmp_canvas_clear(canvas);
	if (canvas->rows < ROWS_MIN || canvas->columns < COLUMNS_MIN) {
		pmp_canvas_print(canvas, 0, 0, -1, 0, "pmp: %dx%d is too small",
				 canvas->columns, canvas->rows);
		pmp_canvas_print(canvas, 1, 0, -1, 0, "%dx%d is needed", COLUMNS_MIN, ROWS_MIN);
		return;
	}
	header = pmp_header_draw(view, canvas, canvas->rows < ROWS_OF_WHOLE_HEADER ? 1 : 3);
	lay_out(view, canvas, header);
	draw_tabs(view, canvas, header);
	if (view->screen == PMP_SCREEN_LIST) {
		draw_titles(view, canvas, view->layout.columns_row);
		draw_list(view, canvas);
		draw_details(view, canvas);
	} else {
		draw_whole(view, canvas, header + 2);
	}
	draw_bottom(view, canvas);
}
