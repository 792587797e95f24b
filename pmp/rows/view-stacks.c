/* SPDX-License-Identifier: GPL-2.0-or-later */
/* View 1: whole stacks, leaf first, with their share of all. */
#include <stdio.h>
#include <string.h>

#include "rows/model-rows.h"
#include "rows/model.h"
#include "rows/view-type.h"

/* "conn-N x61": the most frequent group, and the average number of threads; + means that
 * there are other groups. */
static void text_threads(const struct model *model, const struct view_row *row,
			 char *buffer, size_t size)
{
	const bool many = row->average >= 1.5 && model_has_average(model);
	int n;

	/* Profiles of other programs have no threads. */
	if (!*model_name(model, row->group)) {
		snprintf(buffer, size, "-");
		return;
	}
	if (many)
		n = snprintf(NULL, 0, "x%.0f", row->average);
	else
		n = 0;
	n = (int)size <= 15 ? 0 : 14 - n - (n > 0) - row->groups;
	snprintf(buffer, size, "%.*s%s", n > 0 ? n : 0, model_name(model, row->group),
		 row->groups ? "+" : "");
	if (many) {
		int length = 0;

		while (buffer[length])
			length++;
		snprintf(buffer + length, size - (size_t)length, " x%.0f", row->average);
	}
}

static const struct column columns[] = {
	{ .title = "%",
	  .averaged = "THR",
	  .width = 6,
	  .text = text_share,
	  .order = order_by_count,
	  .word = "share",
	  .sort = PMP_SORT_TOTAL },
	COLUMN_SAMPLES,
	{ .title = "ST",
	  .width = 2,
	  .narrow = 44,
	  .flags = COLUMN_LEFT | COLUMN_BRIEF,
	  .text = text_state,
	  .style = style_state,
	  .order = order_by_state,
	  .word = "state",
	  .sort = PMP_SORT_STATE },
	COLUMN_PROCESS(70),
	{ .title = "THREADS",
	  .width = 14,
	  .narrow = 60,
	  .flags = COLUMN_LEFT,
	  .text = text_threads,
	  .order = order_by_group,
	  .has = has_group,
	  .word = "threads" },
	{ .title = "WAITS IN",
	  .width = 24,
	  .narrow = 60,
	  .flags = COLUMN_LEFT | COLUMN_WAIT,
	  .text = text_wait },
	{ .title = "STACK (leaf first)",
	  .flags = COLUMN_LEFT,
	  .text = text_chain,
	  .order = order_by_leaf,
	  .has = has_chain,
	  .word = "stack",
	  .sort = PMP_SORT_NAME },
};

const struct view_type view_stacks = {
	.name = "Stacks",
	.word = "stacks",
	.help = "whole stacks, the leaf first",
	.key = '1',
	.row = ROW_STACK,
	.steps = { model_prepare, model_collect, model_order },
	.columns = columns,
	.column_count = sizeof(columns) / sizeof(*columns),
};
