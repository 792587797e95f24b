/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The chosen class of blocks in full: exact figures, and their change. */
#include <inttypes.h>
#include <stdio.h>

#include "libpmp-program.h"
#include "view/header.h"
#include "view/view.h"

#define LINE_SIZE 512

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

static void draw_sums(const struct model *model, struct canvas_part *part,
		      const struct object_row *more)
{
	char line[LINE_SIZE] = "", size[64];

	if (!more->blocks) {
		details_draw_text(part, 0, "none now");
		return;
	}
	text_append(line, sizeof(line), "%" PRIu64 " block%s", more->blocks,
		    plural(more->blocks));
	if (more->smallest)
		text_append(line, sizeof(line), " of %s bytes",
			    object_size_text(more, size, sizeof(size)));
	text_append(line, sizeof(line), ": %" PRIu64 " bytes", more->bytes);
	if (model->list.total)
		text_append(line, sizeof(line), ", %.1f%% of what is shown",
			    header_percent(more->bytes, model->list.total));
	details_draw_text(part, 0, line);
}

static void draw_change(const struct model *model, struct canvas_part *part,
			const struct object_row *more)
{
	const int64_t blocks = (int64_t)(more->blocks - more->old_blocks),
		      bytes = (int64_t)(more->bytes - more->old_bytes);
	struct pmp_named_census_info old;
	char line[LINE_SIZE], text[32];

	if (!model->census.before)
		return;
	pmp_named_census_info(model->census.before, &old);
	clock_text(old.realtime, text, sizeof(text));
	if (!blocks && !bytes)
		snprintf(line, sizeof(line), "the same at %s", text);
	else
		snprintf(line, sizeof(line),
			 "at %s %" PRIu64 " block%s: now %+" PRId64 ", and %+" PRId64
			 " bytes",
			 text, more->old_blocks, plural(more->old_blocks), blocks, bytes);
	details_draw_text(part, 0, line);
}

void details_objects_draw(const struct view *view, struct canvas_part *part,
			  const struct view_row *row)
{
	const struct model *model = &view->model;
	const struct object_row *more = object_row(model, row);

	details_draw_text(part, STYLE_CYAN, model->names.names[row->name].full);
	draw_sums(model, part, more);
	draw_change(model, part, more);
}
