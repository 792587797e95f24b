/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names, stored once each, in full and abbreviated. */
#include "rows/name-table.h"

#include <stdlib.h>
#include <string.h>

#include "libpmp.h"
#include "rows/shorten.h"

#define NAME_SIZE 8192 /* longer names are cut off */

const char *name_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static bool make(struct name *new, const char *name, const char *module)
{
	char full[NAME_SIZE], brief[NAME_SIZE], base[256];

	pmp_escape(name, full, sizeof(full));
	shorten_name(full, brief, sizeof(brief));
	pmp_escape(name_base(module), base, sizeof(base));
	*new = (struct name){
		.full = strdup(full),
		.module = strdup(base),
	};
	new->brief = strcmp(full, brief) == 0 ? new->full : strdup(brief);
	return new->full &&new->brief &&new->module;
}

/* A name first added for a thread or place may get a module later, or several. */
static void add_module(struct names *names, uint32_t number, const char *module)
{
	char base[256], *copy;
	struct name *name;

	if (number >= names->count || !*module)
		return;
	name = &names->names[number];
	pmp_escape(name_base(module), base, sizeof(base));
	if (*name->module) {
		name->modules |= strcmp(name->module, base) != 0;
		return;
	}
	copy = strdup(base);
	if (!copy)
		return;
	free((char *)name->module);
	name->module = copy;
}

static void drop(struct name *name)
{
	if (name->brief != name->full)
		free((char *)name->brief);
	free((char *)name->full);
	free((char *)name->module);
}

uint32_t names_add(struct names *names, const char *name, const char *module)
{
	bool added;
	uint32_t *number =
		hash_get(&names->table, hash_text(name), (uint32_t)names->count, &added);

	if (!number)
		return NAME_NONE;
	/* The name may have failed for lack of memory. */
	if (!added && *number != NAME_NONE) {
		add_module(names, *number, module);
		return *number;
	}
	*number = NAME_NONE;
	if (names->count == names->capacity) {
		size_t capacity = names->capacity ? 2 * names->capacity : 256;
		struct name *all = reallocarray(names->names, capacity, sizeof(*all));

		if (!all)
			return NAME_NONE;
		names->names = all;
		names->capacity = capacity;
	}
	if (!make(&names->names[names->count], name, module)) {
		drop(&names->names[names->count]);
		return NAME_NONE;
	}
	*number = (uint32_t)names->count;
	return (uint32_t)names->count++;
}

static const char *text_of(const struct names *names, uint32_t number)
{
	return names->full_ranks ? names->names[number].full : names->names[number].brief;
}

static int by_text(const void *a, const void *b, void *arg)
{
	return strcmp(text_of(arg, *(const uint32_t *)a),
		      text_of(arg, *(const uint32_t *)b));
}

bool names_sort(struct names *names, bool full)
{
	uint32_t *order, rank = 0;

	if (names->rank_count == names->count && names->full_ranks == full)
		return true;
	free(names->ranks);
	names->rank_count = 0;
	names->full_ranks = full;
	names->ranks = calloc(names->count + 1, sizeof(*names->ranks));
	order = calloc(names->count + 1, sizeof(*order));
	if (!names->ranks || !order) {
		free(order);
		return false;
	}
	for (size_t i = 0; i < names->count; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, names->count, sizeof(*order), by_text, names);
	for (size_t i = 0; i < names->count; i++) {
		rank += i && by_text(&order[i - 1], &order[i], names) != 0;
		names->ranks[order[i]] = rank;
	}
	names->rank_count = names->count;
	free(order);
	return true;
}

void names_free(struct names *names)
{
	for (size_t i = 0; i < names->count; i++)
		drop(&names->names[i]);
	free(names->names);
	free(names->ranks);
	hash_free(&names->table);
	*names = (struct names){ 0 };
}
