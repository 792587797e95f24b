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

static const struct pmp_column columns[] = {
	{ "%", 6, 0, 0, pmp_text_share, .key = pmp_key_count_of },
	{ "SAMPLES", 9, 0, 50, pmp_text_count, .key = pmp_key_count_of },
	{ "ST", 2, PMP_COLUMN_LEFT | PMP_COLUMN_BRIEF, 44, pmp_text_state, pmp_look_state,
	  .key = pmp_key_state },
	{ "PROCESS", 15, PMP_COLUMN_LEFT | PMP_COLUMN_SEVERAL, 70, pmp_text_process, .look = NULL },
	{ "THREADS", 14, PMP_COLUMN_LEFT, 60, text_threads, .key = pmp_key_group,
	  .has = pmp_has_group },
	{ "WAITS IN", 24, PMP_COLUMN_LEFT | PMP_COLUMN_WAIT, 60, pmp_text_wait, .look = NULL },
	{ "STACK (leaf first)", 0, PMP_COLUMN_LEFT, 0, pmp_text_chain, .key = pmp_key_leaf,
	  .has = pmp_has_chain },
};

const struct pmp_view_type pmp_view_stacks = {
	"Stacks", columns, sizeof(columns) / sizeof(*columns), 0,
};
