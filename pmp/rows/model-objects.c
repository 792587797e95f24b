/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The contents of a heap as rows: one per class, or per size without a class, with the
 * change since the heap was read before. What is gone since then has a row as well.
 */
#include <stdlib.h>
#include <string.h>

#include "libpmp-program.h"
#include "rows/model-rows.h"
#include "rows/model.h"
#include "rows/view-type.h"

#define OF_SIZES \
	0x51235ec7 /* key of rows for blocks without a class; unique to this file */

static const char no_class[] = "(no class)";

const struct object_row *object_row(const struct model *model, const struct view_row *row)
{
	return &model->list.objects[row - model->list.rows];
}

/* ---- the census -------------------------------------------------------------------- */

void model_set_census(struct model *model, struct pmp_named_census *named)
{
	struct heap_census *census = &model->census;
	struct pmp_named_census_info now, old;

	pmp_named_census_free(census->before);
	census->before = census->now;
	census->now = named;
	census->refusal[0] = '\0';
	if (!named)
		return;
	pmp_named_census_info(named, &now);
	if (!census->before)
		return;
	pmp_named_census_info(census->before, &old);
	/* A different process or program: comparing would make no sense. */
	if (now.pid == old.pid && strcmp(now.process, old.process) == 0)
		return;
	pmp_named_census_free(census->before);
	census->before = NULL;
}

void model_free_census(struct model *model)
{
	pmp_named_census_free(model->census.now);
	pmp_named_census_free(model->census.before);
	model->census.now = model->census.before = NULL;
}

/* ---- rows ----------------------------------------------------------------------------- */

/* The pattern typed in the view, else the command line's focus. */
static bool passes(const struct model *model, const char *name)
{
	const struct pmp_filter *filter = model->frames.filter ? model->frames.filter
					  : model->focused     ? model->filter
							       : NULL;

	return !filter || pmp_filter_matches(filter, PMP_FILTER_FOCUS, name);
}

static struct view_row *find_row(struct model *model, const struct pmp_named_class *class)
{
	struct row_list *list = &model->list;
	const uint64_t identity = *class->name ? hash_text(class->name)
					       : hash_mix(OF_SIZES, class->smallest);
	struct view_row *row;
	uint32_t *number;
	bool added;

	number = hash_get(&model->build->table, identity, (uint32_t)list->row_count,
			  &added);
	if (!number)
		return NULL;
	if (!added)
		return &list->rows[*number];
	if (!MODEL_RESERVE(&list->objects, &list->object_capacity, list->row_count + 1))
		return NULL;
	row = model_add_row(model, identity);
	if (!row)
		return NULL;
	list->objects[row - list->rows] = (struct object_row){ 0 };
	row->thread = NAME_NONE;
	row->name = names_add(&model->names, *class->name ? class->name : no_class, "");
	return row->name == NAME_NONE ? NULL : row;
}

static bool add(struct model *model, const struct pmp_named_class *class, bool is_old)
{
	struct object_row *more;
	struct view_row *row;

	if (!passes(model, *class->name ? class->name : no_class))
		return true;
	row = find_row(model, class);
	if (!row)
		return false;
	more = &model->list.objects[row - model->list.rows];
	if (is_old) {
		more->old_blocks = class->blocks;
		more->old_bytes = class->bytes;
	} else {
		more->blocks = class->blocks;
		more->bytes = class->bytes;
		row->count = class->bytes;
		model->list.total += class->bytes;
	}
	/* Rows that are gone keep their old sizes. */
	if (!is_old || !more->blocks) {
		more->smallest = class->smallest;
		more->largest = class->largest;
	}
	return true;
}

static size_t classes_of(const struct pmp_named_census *census)
{
	struct pmp_named_census_info info;

	if (!census)
		return 0;
	pmp_named_census_info(census, &info);
	return info.classes;
}

static void begin(struct model *model)
{
	model_part_rows(&model->list);
	model->list.row_count = 0;
	hash_clear(&model->build->table);
	model->build->begun = true;
}

enum step_progress model_objects(struct model *model, uint64_t until)
{
	const struct heap_census *census = &model->census;
	const size_t now = classes_of(census->now), old = classes_of(census->before);
	struct build *build = model->build;

	if (!build->begun)
		begin(model);
	while (build->at < now + old) {
		const bool is_old = build->at >= now;
		struct pmp_named_class class;

		pmp_named_census_class(is_old ? census->before : census->now,
				       is_old ? build->at - now : build->at, &class);
		if (!add(model, &class, is_old))
			return STEP_FAILED;
		if (model_next(model, until))
			return STEP_ON;
	}
	return STEP_DONE;
}
