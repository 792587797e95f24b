/* SPDX-License-Identifier: GPL-2.0-or-later */
/* View 3: the tree of calls, from the root or, inverted, from the leaf. */
#include <stdio.h>

#include "view.h"

#define INDENT_MAX 60

static void text_node(const struct pmp_view *view, const struct pmp_row *row, char *buffer,
		      size_t size)
{
	char root[128];
	const char *name = root;
	int indent = row->depth < INDENT_MAX ? (int)row->depth : INDENT_MAX;
	char mark = !pmp_model_has_children(row) ? ' ' : row->open ? '-' : '+';

	if (row->name != PMP_NAME_NONE)
		name = pmp_model_name(&view->model, row->name);
	else if (view->model.settings.split)
		name = pmp_model_name(&view->model, row->group);
	else
		pmp_text_process(view, row, root, sizeof(root));
	snprintf(buffer, size, "%*s%c %s", indent, "", mark, name);
}

/* Siblings are in the order of their counts: there is nothing to choose. */
static const struct pmp_column columns[] = {
	{ "TOTAL%", 6, 0, 0, pmp_text_share, .look = NULL },
	{ "SELF%", 6, 0, 44, pmp_text_self_share, .look = NULL },
	{ "SAMPLES", 9, 0, 60, pmp_text_count, .look = NULL },
	{ "CALLS", 0, PMP_COLUMN_LEFT, 0, text_node, .look = NULL },
};

const struct pmp_view_type pmp_view_tree = {
	"Tree", columns, sizeof(columns) / sizeof(*columns), 0,
};
