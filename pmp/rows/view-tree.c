/* SPDX-License-Identifier: GPL-2.0-or-later */
/* View 3: the call tree, from the root or, inverted, from the leaf. */
#include <stdio.h>

#include "rows/model-rows.h"
#include "rows/model.h"
#include "rows/view-type.h"

#define INDENT_MAX 60

static void text_node(const struct model *model, const struct view_row *row, char *buffer,
		      size_t size)
{
	char root[128];
	const char *name = root;
	int indent = row->depth < INDENT_MAX ? (int)row->depth : INDENT_MAX;
	int mark = !model_has_children(row) ? ' ' : row->open ? '-' : '+';

	if (row->name != NAME_NONE)
		name = model_name(model, row->name);
	else if (model->settings.split)
		name = model_name(model, row->group);
	else
		text_process(model, row, root, sizeof(root));
	snprintf(buffer, size, "%*s%c %s", indent, "", mark, name);
}

/* No column can be sorted by: siblings are always in the order of their counts. */
static const struct column columns[] = {
	{ .title = "TOTAL%", .averaged = "TOTAL", .width = 6, .text = text_share },
	{ .title = "SELF%",
	  .averaged = "SELF",
	  .width = 6,
	  .narrow = 44,
	  .text = text_self_share },
	{ .title = "SAMPLES", .width = 9, .narrow = 60, .text = text_count },
	{ .title = "CALLS",
	  .inverted = "CALLED BY",
	  .flags = COLUMN_LEFT,
	  .text = text_node },
};

const struct view_type view_tree = {
	.name = "Tree",
	.word = "tree",
	.help = "tree of calls",
	.key = '3',
	.row = ROW_NODE,
	.steps = { model_prepare, model_collect, model_paths, model_tree },
	.columns = columns,
	.column_count = sizeof(columns) / sizeof(*columns),
};
