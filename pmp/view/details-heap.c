/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The chosen row of a heap in full: figures, ages of live blocks, stack. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "libpmp-program.h"
#include "view/view.h"

#define TEXT_SIZE 512
#define LINE_SIZE (8 * TEXT_SIZE)

/* "52.0kB in 3 blocks"; estimates: "~52.0kB +- 35% in ~3 blocks". */
static void put_sum(char *line, size_t size, int64_t bytes, double variance, double count,
		    const char *things)
{
	char sum[32], error[32], number[32];
	const bool estimate = variance > 0;

	heap_bytes_text(bytes, false, sum, sizeof(sum));
	heap_count_text(count, false, number, sizeof(number));
	heap_error_text(variance, bytes, error, sizeof(error));
	text_append(line, size, "%s%s", estimate ? "~" : "", sum);
	if (strcmp(error, "-") != 0)
		text_append(line, size, " +- %s", error);
	text_append(line, size, " in %s%s %s%s", estimate ? "~" : "", number, things,
		    strcmp(number, "1") == 0 ? "" : "s");
}

static const char *window_words(const struct model *model)
{
	return model_window(model) == PMP_WINDOW_MINUTE ? "in the last minute"
							: "in the last 10 s";
}

/* The change in the window. */
static void draw_change(const struct model *model, struct canvas_part *part,
			const struct heap_row *more)
{
	char line[LINE_SIZE] = "", bytes[32], blocks[32], total[32];

	heap_bytes_text(more->live, true, bytes, sizeof(bytes));
	heap_count_text(more->blocks, true, blocks, sizeof(blocks));
	heap_bytes_text(more->total, true, total, sizeof(total));
	text_append(line, sizeof(line), "%s: live %s, %s block%s", window_words(model),
		    bytes, blocks,
		    strcmp(blocks, "+1") && strcmp(blocks, "-1") ? "s" : "");
	if (model->settings.functions)
		text_append(line, sizeof(line), ", with its callees %s", total);
	heap_bytes_text(more->allocated, false, bytes, sizeof(bytes));
	heap_count_text(more->allocs, false, blocks, sizeof(blocks));
	text_append(line, sizeof(line), "; allocated %s, %s call%s", bytes, blocks,
		    strcmp(blocks, "1") ? "s" : "");
	details_draw_text(part, 0, line);
}

static void draw_sums(const struct model *model, struct canvas_part *part,
		      const struct heap_row *more)
{
	char line[LINE_SIZE] = "", text[32];

	text_append(line, sizeof(line), "live ");
	put_sum(line, sizeof(line), more->live, more->live_variance, more->blocks,
		"block");
	if (model->heap.sum_allocated)
		text_append(line, sizeof(line), "; allocated ");
	if (model->heap.sum_allocated)
		put_sum(line, sizeof(line), more->allocated, more->alloc_variance,
			more->allocs, "call");
	details_draw_text(part, 0, line);
	if (!model->settings.functions)
		return;
	heap_bytes_text(more->total, false, text, sizeof(text));
	snprintf(line, sizeof(line), "with its callees: live %s", text);
	heap_bytes_text(more->total_allocated, false, text, sizeof(text));
	if (model->heap.sum_allocated)
		text_append(line, sizeof(line), ", allocated %s", text);
	details_draw_text(part, 0, line);
}

/* "by age: <1s 3kB/12  <10s 52kB/3"; empty ages are left out. */
static void draw_ages(struct canvas_part *part, const struct heap_row *more)
{
	static const char *const names[PMP_LIVE_AGES] = { "<1s",  "<10s", "<1m",
							  "<10m", "<1h",  ">1h" };
	char line[LINE_SIZE] = "by age:", bytes[32], blocks[32];
	bool any = false;

	for (size_t i = 0; i < PMP_LIVE_AGES; i++) {
		if (!more->age_bytes[i] && !(more->age_blocks[i] > 0))
			continue;
		heap_bytes_text((int64_t)more->age_bytes[i], false, bytes, sizeof(bytes));
		heap_count_text(more->age_blocks[i], false, blocks, sizeof(blocks));
		text_append(line, sizeof(line), "%s%s %s/%s", any ? "  " : " ", names[i],
			    bytes, blocks);
		any = true;
	}
	heap_age_text(more->oldest, bytes, sizeof(bytes));
	if (more->oldest)
		text_append(line, sizeof(line), "  oldest %s", bytes);
	if (any)
		details_draw_text(part, 0, line);
}

void details_heap_draw(const struct view *view, struct canvas_part *part,
		       const struct view_row *row)
{
	const struct model *model = &view->model;
	const struct heap_row *more = heap_row(model, row);

	if (model_window(model) == PMP_WINDOW_START)
		draw_sums(model, part, more);
	else
		draw_change(model, part, more);
	draw_ages(part, more);
	details_draw_stack(view, part, row->stack);
}

void details_heap_title(const struct view *view, const struct view_row *row, char *buffer,
			size_t size)
{
	const struct model *model = &view->model;
	const struct heap_row *more = heap_row(model, row);
	const char *thread = model_name(model, row->group);

	if (more->process != NAME_NONE && model->heap.processes)
		text_append(buffer, size, "  %s", model_name(model, more->process));
	if (*thread)
		text_append(buffer, size, "  thread \"%s\"%s", thread,
			    row->groups ? " and others" : "");
	if (model->settings.functions)
		text_append(buffer, size, "  the stack with most of it:");
}
