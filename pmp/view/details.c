/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The chosen row in full: the thread that was found with it most, frame by frame. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "libpmp-program.h"
#include "rows/shorten.h"
#include "view/view.h"

#define MODULE_WIDTH 20
#define FUNCTION_WIDTH 80 /* at most, unless names are shown in full */
#define LINE_WIDTH 26

static const char *obtained_text(enum pmp_obtained obtained)
{
	switch (obtained) {
	case PMP_STOPPED: return "stopped briefly";
	case PMP_PEEKED: return "looked at";
	case PMP_UNCHANGED: return "unchanged";
	default: return "left alone";
	}
}

static void add(char *buffer, size_t size, const char *text)
{
	size_t length = strlen(buffer);

	snprintf(buffer + length, size - length, "%s", text);
}

/* What the thread does, if it still has this stack. */
static void add_thread(const struct model *model, const struct view_row *row,
		       const struct pmp_live_thread *thread, char *buffer, size_t size)
{
	char text[512], part[256];

	snprintf(text, sizeof(text), "  tid %d \"%s\"", (int)thread->tid,
		 pmp_escape(thread->name, part, sizeof(part)));
	if (thread->tid)
		add(buffer, size, text);
	if (!thread->present || thread->stack != row->stack)
		return;
	if (waits_for_something(model, thread)) {
		add(buffer, size, "  waits for ");
		add(buffer, size, wait_words(model, thread, text, sizeof(text)));
	} else {
		thread_wait(thread, part, sizeof(part));
		add(buffer, size, *part ? "  in " : "");
		add(buffer, size, part);
	}
	if (model->file)
		return;
	add(buffer, size, "  [");
	add(buffer, size, obtained_text(thread->obtained));
	if (*thread->reason) {
		add(buffer, size, ": ");
		add(buffer, size, pmp_escape(thread->reason, part, sizeof(part)));
	}
	add(buffer, size, "]");
}

void details_title(const struct view *view, const struct view_row *row, char *buffer,
		   size_t size)
{
	const struct model *model = &view->model;
	struct pmp_live_thread thread;

	snprintf(buffer, size, "row %zu of %zu", view->at + 1, model->list.order_count);
	if (model->live && model->list.type->row == ROW_LOCK) {
		details_lock_title(view, row, buffer, size);
		return;
	}
	if (model->live && model->list.type->row == ROW_HEAP) {
		details_heap_title(view, row, buffer, size);
		return;
	}
	if (!model->live || row->thread >= pmp_live_thread_count(model->live))
		return;
	thread = model_thread(model, row->thread);
	add_thread(model, row, &thread, buffer, size);
}

/* A function: number in the stack, name, module, file and line. */
static void draw_frame(const struct view *view, struct canvas *canvas, int line,
		       size_t number, const struct pmp_frame_info *info)
{
	const struct settings *settings = &view->model.settings;
	bool kernel = strcmp(info->module, PMP_KERNEL_MODULE) == 0;
	unsigned style = kernel ? STYLE_BLUE : info->inlined ? STYLE_DIM : 0;
	char name[ROW_TEXT], full[ROW_TEXT], text[512];
	int at, width = canvas->columns, room;
	const char *shown;

	pmp_escape(info->function, full, sizeof(full));
	shorten_name(full, name, sizeof(name));
	at = canvas_print(canvas, line, 0, -1, style, "#%-3zu ", number);
	/* The function gets the room that module and line leave. */
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
		canvas_next(&shown);
	canvas_text(canvas, line, at, room, style, shown);
	at += room + 1;
	if (at >= width)
		return;
	pmp_escape(name_base(info->module), text, sizeof(text));
	canvas_text(canvas, line, at, MODULE_WIDTH, kernel ? style : style | STYLE_CYAN,
		    text);
	at += MODULE_WIDTH + 1;
	if (settings->no_lines || !info->file || at >= width)
		return;
	pmp_escape(name_base(info->file), text, sizeof(text));
	canvas_print(canvas, line, at, -1, style, "%s:%u", text, info->line);
}

/* before: lines that precede the stack. */
static void draw_location(const struct view *view, struct canvas_part *part,
			  pmp_location location, size_t before)
{
	struct pmp_symbolizer *symbolizer = view->model.symbolizer;
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
		/* Numbered as in gdb, where inlined functions count. */
		number = part->count - before;
		line = canvas_part_next(part);
		if (line >= 0)
			draw_frame(view, part->canvas, line, number, &info);
	}
}

void details_draw_stack(const struct view *view, struct canvas_part *part, size_t index)
{
	struct pmp_live_stack stack = { .size = sizeof(stack) };
	const size_t before = part->count;
	char end[256];
	int line;

	if (index >= pmp_live_stack_count(view->model.live))
		return;
	pmp_live_stack(view->model.live, index, &stack);
	for (size_t i = 0; i < stack.count; i++)
		draw_location(view, part, stack.locations[i], before);
	if (*stack.end) {
		line = canvas_part_next(part);
		snprintf(end, sizeof(end), "     [the stack ends here: %s]", stack.end);
		if (line >= 0)
			canvas_text(part->canvas, line, 0, -1, STYLE_YELLOW, end);
	}
}

size_t details_draw(struct view *view, struct canvas *canvas, const struct view_row *row,
		    int first, int rows, size_t top)
{
	struct canvas_part part = { canvas, first, rows, top, 0 };

	if (!view->model.live)
		return 0;
	if (view->model.list.type->row == ROW_LOCK)
		details_lock_draw(view, &part, row);
	else if (view->model.list.type->row == ROW_HEAP)
		details_heap_draw(view, &part, row);
	else if (view->model.list.type->row == ROW_OBJECT)
		details_objects_draw(view, &part, row);
	else
		details_draw_stack(view, &part, row->stack);
	return part.count;
}
