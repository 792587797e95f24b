/* SPDX-License-Identifier: GPL-2.0-or-later */
/* View 1: whole stacks, the leaf first, with their share of all. */
#include <stdio.h>
#include <string.h>

#include "view.h"

/* "conn-N x61": the group with most of it, threads on average; + says there are others. */
static void text_threads(const struct pmp_view *view, const struct pmp_row *row,
			 char *buffer, size_t size)
{
	int n;

	/* Others' profiles do not tell of threads. */
	if (!*pmp_model_name(&view->model, row->group)) {
		snprintf(buffer, size, "-");
		return;
	}
	if (row->average >= 1.5)
		n = snprintf(NULL, 0, "x%.0f", row->average);
	else
		n = 0;
	n = (int)size <= 15 ? 0 : 14 - n - (n > 0) - row->groups;
	snprintf(buffer, size, "%.*s%s", n > 0 ? n : 0,
		 pmp_model_name(&view->model, row->group), row->groups ? "+" : "");
	if (row->average >= 1.5) {
		int length = 0;

		while (buffer[length])
			length++;
		snprintf(buffer + length, size - (size_t)length, " x%.0f", row->average);
	}
}

static int compare_stack(const struct pmp_view *view, const struct pmp_row *a,
			 const struct pmp_row *b)
{
	const struct pmp_model *model = &view->model;
	const struct pmp_chain *one = &model->chains[a->chain];
	const struct pmp_chain *other = &model->chains[b->chain];

	return one->count && other->count
		       ? strcmp(pmp_model_name(model, model->names_of_chains[one->first]),
				pmp_model_name(model, model->names_of_chains[other->first]))
		       : 0;
}

static const struct pmp_column columns[] = {
	{ "%", 6, 0, 0, pmp_text_share, pmp_compare_count, NULL },
	{ "SAMPLES", 9, 0, 50, pmp_text_count, pmp_compare_count, NULL },
	{ "ST", 2, PMP_COLUMN_LEFT, 44, pmp_text_state, pmp_compare_state, pmp_look_state },
	{ "PROCESS", 15, PMP_COLUMN_LEFT | PMP_COLUMN_SEVERAL, 70, pmp_text_process, NULL,
	  NULL },
	{ "THREADS", 14, PMP_COLUMN_LEFT, 60, text_threads, pmp_compare_group, NULL },
	{ "WAITS IN", 24, PMP_COLUMN_LEFT | PMP_COLUMN_WAIT, 60, pmp_text_wait, NULL, NULL },
	{ "STACK (leaf first)", 0, PMP_COLUMN_LEFT, 0, pmp_text_chain, compare_stack, NULL },
};

const struct pmp_view_type pmp_view_stacks = {
	"Stacks", columns, sizeof(columns) / sizeof(*columns), 0,
};
