/* SPDX-License-Identifier: GPL-2.0-or-later */
/* View 2: functions, alone and with what they call. */
#include <stdio.h>

#include "rows/model-rows.h"
#include "rows/model.h"
#include "rows/view-type.h"

static void text_module(const struct model *model, const struct view_row *row,
			char *buffer, size_t size)
{
	const struct names *names = &model->names;

	snprintf(buffer, size, "%s",
		 row->name < names->count ? names->names[row->name].module : "");
}

static void text_function(const struct model *model, const struct view_row *row,
			  char *buffer, size_t size)
{
	snprintf(buffer, size, "%s", model_name(model, row->name));
}

static const struct column columns[] = {
	{ .title = "SELF%",
	  .averaged = "SELF",
	  .width = 6,
	  .text = text_self_share,
	  .order = order_by_self,
	  .word = "self",
	  .sort = PMP_SORT_SELF },
	{ .title = "TOTAL%",
	  .averaged = "TOTAL",
	  .width = 6,
	  .text = text_share,
	  .order = order_by_count,
	  .word = "total",
	  .sort = PMP_SORT_TOTAL },
	COLUMN_SAMPLES,
	COLUMN_PROCESS(70),
	{ .title = "MODULE",
	  .width = 18,
	  .narrow = 70,
	  .flags = COLUMN_LEFT,
	  .text = text_module },
	{ .title = "FUNCTION",
	  .flags = COLUMN_LEFT,
	  .text = text_function,
	  .order = order_by_name,
	  .has = has_name,
	  .word = "function",
	  .sort = PMP_SORT_NAME },
};

const struct view_type view_functions = {
	.name = "Functions",
	.word = "functions",
	.help = "functions: alone, and with what they call",
	.key = '2',
	.row = ROW_FUNCTION,
	.steps = { model_prepare, model_collect, model_functions, model_order },
	.columns = columns,
	.column_count = sizeof(columns) / sizeof(*columns),
};
