/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "write/lock-names.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/intern.h"
#include "report/counted-wait.h"

/* Add the lock of a path, if it waited for one. */
static int add_lock(struct pmp_lock_names *names, const struct pmp_report *report,
		    const struct pmp_path *path, uint32_t *number)
{
	struct pmp_buf text = { 0 };
	struct pmp_counted_wait wait;
	int code = PMP_ENOMEM;

	*number = PMP_LOCK_NAME_NONE;
	/* Only the base has this path: its locations are different. */
	if (!path->count)
		return 0;
	pmp_counted_wait_get(report, path->entry, &wait);
	if (!wait.contended)
		return 0;
	pmp_counted_wait_text(report, &wait, true, &text);
	if (!pmp_buf_failed(&text) &&
	    !PMP_RESERVE(&names->items, &names->capacity, names->count + 1))
		*number = pmp_intern(names->texts, text.data, text.length);
	pmp_buf_free(&text);
	if (*number == PMP_LOCK_NAME_NONE)
		return code;
	if (*number == names->count)
		names->items[names->count++] = (struct pmp_lock_name){
			.text = pmp_intern_data(names->texts, *number, NULL),
			.number = *number,
		};
	names->items[*number].samples =
		pmp_count_sum(names->items[*number].samples, path->count);
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct pmp_lock_name *one = a, *other = b;

	if (one->samples != other->samples)
		return one->samples < other->samples ? 1 : -1;
	return strcmp(one->text, other->text);
}

int pmp_lock_names_make(struct pmp_lock_names *names, const struct pmp_paths *paths,
			const struct pmp_report *report)
{
	uint32_t *ranks;

	*names = (struct pmp_lock_names){ .texts = pmp_intern_new() };
	names->of_path = calloc(paths->path_count + 1, sizeof(*names->of_path));
	if (!names->texts || !names->of_path)
		return PMP_ENOMEM;
	for (size_t i = 0; i < paths->path_count; i++)
		if (add_lock(names, report, &paths->paths[i], &names->of_path[i]))
			return PMP_ENOMEM;
	ranks = calloc(names->count + 1, sizeof(*ranks));
	if (!ranks)
		return PMP_ENOMEM;
	if (names->count)
		qsort(names->items, names->count, sizeof(*names->items), compare);
	for (uint32_t i = 0; i < names->count; i++)
		ranks[names->items[i].number] = i;
	for (size_t i = 0; i < paths->path_count; i++)
		if (names->of_path[i] != PMP_LOCK_NAME_NONE)
			names->of_path[i] = ranks[names->of_path[i]];
	free(ranks);
	return 0;
}

void pmp_lock_names_free(struct pmp_lock_names *names)
{
	pmp_intern_free(names->texts);
	free(names->items);
	free(names->of_path);
	*names = (struct pmp_lock_names){ 0 };
}
