/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The chosen row in full: a thread that was seen with it most, frame by frame. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "view.h"

#define MODULE_WIDTH 20
#define FUNCTION_WIDTH 80 /* at most, unless names are full */
#define LINE_WIDTH 26

static const char *how_text(enum pmp_how how)
{
	switch (how) {
	case PMP_HOW_STOPPED: return "stopped shortly";
	case PMP_HOW_LOOKED: return "looked at";
	case PMP_HOW_UNCHANGED: return "unchanged";
	default: return "left alone";
	}
}

static void add(char *buffer, size_t size, const char *text)
{
	size_t length = strlen(buffer);

	snprintf(buffer + length, size - length, "%s", text);
}

/* What the thread is at, if it still is there. */
static void add_thread(const struct pmp_row *row, const struct pmp_live_thread *thread,
		       char *buffer, size_t size)
{
	char text[512], part[256];

	snprintf(text, sizeof(text), "  tid %d \"%s\"", (int)thread->tid,
		 pmp_escape(thread->name, part, sizeof(part)));
	if (thread->tid)
		add(buffer, size, text);
	if (!thread->present || thread->stack != row->stack)
		return;
	pmp_view_wait(thread, part, sizeof(part));
	if (*part) {
		add(buffer, size, "  in ");
		add(buffer, size, part);
	}
	if (thread->how == PMP_HOW_UNKNOWN)
		return;
	add(buffer, size, "  [");
	add(buffer, size, how_text(thread->how));
	if (*thread->why) {
		add(buffer, size, ": ");
		add(buffer, size, pmp_escape(thread->why, part, sizeof(part)));
	}
	add(buffer, size, "]");
}

void pmp_details_title(const struct pmp_view *view, const struct pmp_row *row, char *buffer,
		       size_t size)
{
	const struct pmp_model *model = &view->model;
	struct pmp_live_thread thread = { .size = sizeof(thread) };

	snprintf(buffer, size, "row %zu of %zu", view->at + 1, model->list.order_count);
	if (!model->live || row->thread >= pmp_live_thread_count(model->live))
		return;
	pmp_live_thread(model->live, row->thread, &thread);
	add_thread(row, &thread, buffer, size);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* One function: its number on the stack, name, module, file and line. */
static void draw_frame(const struct pmp_view *view, struct pmp_canvas *canvas, int line,
		       size_t number, const struct pmp_frame_info *info)
{
	const struct pmp_settings *settings = &view->model.settings;
	bool kernel = strcmp(info->module, PMP_KERNEL_MODULE) == 0;
	unsigned look = kernel ? PMP_LOOK_BLUE : info->inlined ? PMP_LOOK_DIM : 0;
	char name[PMP_VIEW_TEXT], full[PMP_VIEW_TEXT], text[512];
	int at, width = canvas->columns, room;
	const char *shown;

	pmp_escape(info->function, full, sizeof(full));
	pmp_names_brief(full, name, sizeof(name));
	at = pmp_canvas_print(canvas, line, 0, -1, look, "#%-3zu ", number);
	/* The function has what is left once module and line are placed. */
	room = width - at;
	if (width >= 70)
		room -= MODULE_WIDTH + 1;
	if (width >= 100 && !settings->no_lines)
		room -= LINE_WIDTH;
	if (room > FUNCTION_WIDTH && !settings->full)
		room = FUNCTION_WIDTH;
	if (view->sideways || width < 70)
		room = width - at;
	shown = settings->full ? full : name;
	for (int i = 0; i < view->sideways && *shown; i++)
		pmp_canvas_next(&shown);
	pmp_canvas_text(canvas, line, at, room, look, shown);
	at += room + 1;
	if (at >= width)
		return;
	pmp_escape(base_name(info->module), text, sizeof(text));
	pmp_canvas_text(canvas, line, at, MODULE_WIDTH,
			kernel ? look : look | PMP_LOOK_CYAN, text);
	at += MODULE_WIDTH + 1;
	if (settings->no_lines || !info->file || at >= width)
		return;
	pmp_escape(base_name(info->file), text, sizeof(text));
	pmp_canvas_print(canvas, line, at, -1, look, "%s:%u", text, info->line);
}

struct lines {
	struct pmp_view *view;
	struct pmp_canvas *canvas;
	int first, rows;
	size_t top, at;
};

/* The line to draw on, or -1: it is not on the screen. */
static int next_line(struct lines *lines)
{
	size_t at = lines->at++;

	if (at < lines->top || at - lines->top >= (size_t)lines->rows)
		return -1;
	return lines->first + (int)(at - lines->top);
}

static void draw_location(struct lines *lines, pmp_location location)
{
	struct pmp_symbolizer *symbolizer = lines->view->model.symbolizer;
	struct pmp_frame_info info = { .size = sizeof(info) };
	size_t count = pmp_symbolizer_frame(symbolizer, location, 0, &info);
	char place[256];
	size_t number;
	int line;

	if (count == 0) {
		pmp_symbolizer_place(symbolizer, location, place, sizeof(place));
		info = (struct pmp_frame_info){ .function = place, .module = "" };
	}
	for (size_t i = 0; i < count || i == 0; i++) {
		if (i)
			pmp_symbolizer_frame(symbolizer, location, i, &info);
		/* Numbered as gdb does: inlined functions count. */
		number = lines->at;
		line = next_line(lines);
		if (line >= 0)
			draw_frame(lines->view, lines->canvas, line, number, &info);
	}
}

size_t pmp_details_draw(struct pmp_view *view, struct pmp_canvas *canvas,
			const struct pmp_row *row, int first, int rows, size_t top)
{
	struct lines lines = { view, canvas, first, rows, top, 0 };
	struct pmp_live_stack stack = { .size = sizeof(stack) };
	char end[256];
	int line;

	if (!view->model.live || row->stack >= pmp_live_stack_count(view->model.live))
		return 0;
	pmp_live_stack(view->model.live, row->stack, &stack);
	for (size_t i = 0; i < stack.count; i++)
		draw_location(&lines, stack.locations[i]);
	if (*stack.end) {
		line = next_line(&lines);
		snprintf(end, sizeof(end), "     [the stack ends here: %s]", stack.end);
		if (line >= 0)
			pmp_canvas_text(canvas, line, 0, -1, PMP_LOOK_YELLOW, end);
	}
	return lines.at;
}
