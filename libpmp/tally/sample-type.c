/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Choosing among the values that a saved profile has. */
#include "tally/sample-type.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

#define NAME_SIZE 64 /* of a type, in a message */

bool pmp_sample_type_is_stacks(const struct pmp_sample_type *sample_type)
{
	return !*sample_type->type || strcmp(sample_type->type, "samples") == 0;
}

bool pmp_sample_type_is_same(const struct pmp_sample_type *one,
			     const struct pmp_sample_type *other)
{
	return strcmp(one->type, other->type) == 0 && strcmp(one->unit, other->unit) == 0;
}

char *pmp_sample_type_text(const struct pmp_sample_type *sample_type, char *text,
			   size_t size)
{
	return pmp_escape(*sample_type->type ? sample_type->type : "stacks", text, size);
}

/* The first one of a name; -1: none. */
static int find(const struct pmp_sample_type *types, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(types[i].type, name) == 0)
			return (int)i;
	return -1;
}

/* "alloc_space inuse_space", as many as there is room for. */
static void list(const struct pmp_sample_type *types, size_t count, char *text,
		 size_t size)
{
	char name[NAME_SIZE];
	size_t length = 0;

	text[0] = '\0';
	for (size_t i = 0; i < count && length + NAME_SIZE < size; i++)
		length += (size_t)snprintf(text + length, size - length, " %s",
					   pmp_escape(types[i].type, name, sizeof(name)));
}

int pmp_sample_type_choose(const struct pmp_sample_type *types, size_t count,
			   const char *wanted, const char *normal, struct pmp_error *err)
{
	char text[256], name[NAME_SIZE];
	int i = find(types, count, wanted ? wanted : "samples");

	if (i >= 0)
		return i;
	if (!wanted) {
		i = normal && *normal ? find(types, count, normal) : -1;
		return i >= 0 ? i : (int)count - 1;
	}
	pmp_error_set(err, PMP_EINVAL, "it has no sample type '%s'",
		      pmp_escape(wanted, name, sizeof(name)));
	list(types, count, text, sizeof(text));
	pmp_error_hint(err, "it has:%s", text);
	return PMP_EINVAL;
}
