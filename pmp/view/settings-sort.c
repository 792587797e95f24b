/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --sort: each view begins with its column of that name, if it has one. */
#include <string.h>

#include "view.h"

#define TITLES 3

/* What columns of that kind are called. */
static const char *const titles[PMP_SORT_COUNT][TITLES] = {
	[PMP_SORT_SELF] = { "SELF%" },
	[PMP_SORT_TOTAL] = { "TOTAL%", "%" },
	[PMP_SORT_SAMPLES] = { "SAMPLES" },
	[PMP_SORT_CPU] = { "CPU%" },
	[PMP_SORT_TID] = { "TID" },
	[PMP_SORT_NAME] = { "NAME", "FUNCTION", "STACK (leaf first)" },
	[PMP_SORT_STATE] = { "ST" },
};

static bool is_meant(const struct pmp_column *column, enum pmp_sort sort)
{
	for (size_t i = 0; i < TITLES && titles[sort][i]; i++)
		if (column->key && strcmp(column->title, titles[sort][i]) == 0)
			return true;
	return false;
}

void pmp_settings_sort(struct pmp_settings *settings, enum pmp_sort sort)
{
	static const struct pmp_view_type *const types[PMP_VIEW_COUNT] = {
		[PMP_VIEW_STACKS] = &pmp_view_stacks,
		[PMP_VIEW_FUNCTIONS] = &pmp_view_functions,
		[PMP_VIEW_THREADS] = &pmp_view_threads,
	};

	for (size_t view = 0; view < PMP_VIEW_COUNT && sort; view++) {
		size_t i = 0;

		while (types[view] && i < types[view]->column_count &&
		       !is_meant(&types[view]->columns[i], sort))
			i++;
		if (!types[view] || i == types[view]->column_count)
			continue;
		settings->sort[view] = (unsigned)i + 1;
		settings->reverse[view] = false;
	}
}
