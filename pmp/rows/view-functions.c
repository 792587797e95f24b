/* SPDX-License-Identifier: GPL-2.0-or-later */
/* View 2: functions, alone and with callees. */
#include <stdio.h>

#include "rows/model-rows.h"
#include "rows/model.h"
#include "rows/view-type.h"

/* For a name in several modules: the module of that function at this location. NULL:
 * there is no such function. */
static const char *module_at(const struct model *model, pmp_location location,
			     uint32_t name)
{
	struct pmp_frame_info info = { .size = sizeof(info) };
	const struct frame_names *frames;

	if (location >= model->location_names_count)
		return NULL;
	frames = &model->location_names[location];
	for (uint32_t i = 0; frames->named && i < frames->count; i++) {
		if (model->names_of_locations[frames->first + i] == name &&
		    pmp_symbolizer_frame(model->symbolizer, location, i, &info) > i)
			return info.module;
	}
	return NULL;
}

/* The same for the row's most frequent stack. */
static const char *module_in(const struct model *model, const struct view_row *row)
{
	struct pmp_live_stack stack = { .size = sizeof(stack) };
	const char *module = NULL;

	if (!model->live || row->stack >= pmp_live_stack_count(model->live))
		return NULL;
	pmp_live_stack(model->live, row->stack, &stack);
	for (size_t i = 0; i < stack.count && !module; i++)
		module = module_at(model, stack.locations[i], row->name);
	return module;
}

static void text_module(const struct model *model, const struct view_row *row,
			char *buffer, size_t size)
{
	const struct name *name;
	const char *module = NULL;

	*buffer = '\0';
	if (row->name >= model->names.count)
		return;
	name = &model->names.names[row->name];
	if (name->modules && row->process != NAME_NONE)
		module = module_in(model, row);
	if (module)
		pmp_escape(name_base(module), buffer, size);
	else
		snprintf(buffer, size, "%s", name->modules ? "(several)" : name->module);
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
