/* SPDX-License-Identifier: GPL-2.0-or-later */
/* View 2: functions, alone and with what they call. */
#include <stdio.h>

#include "view.h"

static void text_module(const struct pmp_view *view, const struct pmp_row *row, char *buffer,
			size_t size)
{
	const struct pmp_names *names = &view->model.names;

	snprintf(buffer, size, "%s",
		 row->name < names->count ? names->names[row->name].module : "");
}

static void text_function(const struct pmp_view *view, const struct pmp_row *row,
			  char *buffer, size_t size)
{
	snprintf(buffer, size, "%s", pmp_model_name(&view->model, row->name));
}

static const struct pmp_column columns[] = {
	{ "SELF%", 6, 0, 0, pmp_text_self_share, .key = pmp_key_self },
	{ "TOTAL%", 6, 0, 0, pmp_text_share, .key = pmp_key_count_of },
	{ "SAMPLES", 9, 0, 50, pmp_text_count, .key = pmp_key_count_of },
	{ "PROCESS", 15, PMP_COLUMN_LEFT | PMP_COLUMN_SEVERAL, 70, pmp_text_process, .look = NULL },
	{ "MODULE", 18, PMP_COLUMN_LEFT, 70, text_module, .look = NULL },
	{ "FUNCTION", 0, PMP_COLUMN_LEFT, 0, text_function, .key = pmp_key_name,
	  .has = pmp_has_name },
};

const struct pmp_view_type pmp_view_functions = {
	"Functions", columns, sizeof(columns) / sizeof(*columns), 0,
};
