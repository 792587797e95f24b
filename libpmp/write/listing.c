/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counting equal lines: a table of texts, whose numbers index the counts. */
#include "write/listing.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/intern.h"
#include "libpmp.h"

int pmp_listing_add(struct pmp_listing *lines, const struct pmp_buf *text, uint64_t count)
{
	struct pmp_line *line;
	uint32_t id;

	if (!lines->table)
		lines->table = pmp_intern_new();
	if (!lines->table || pmp_buf_failed(text) ||
	    PMP_RESERVE(&lines->lines, &lines->capacity, lines->count + 1))
		return PMP_ENOMEM;
	id = pmp_intern(lines->table, text->data, text->length);
	if (id == PMP_INTERN_NONE)
		return PMP_ENOMEM;
	line = &lines->lines[id];
	if (id == lines->count) {
		*line = (struct pmp_line) { 0 };
		line->text = pmp_intern_data(lines->table, id, &line->length);
		lines->count++;
	}
	line->count += count;
	return 0;
}

void pmp_listing_sort(struct pmp_listing *lines, int (*compare)(const void *, const void *))
{
	if (lines->count)
		qsort(lines->lines, lines->count, sizeof(*lines->lines), compare);
}

int pmp_listing_by_text(const void *a, const void *b)
{
	const struct pmp_line *one = a, *other = b;
	size_t shorter = one->length < other->length ? one->length : other->length;
	int order = memcmp(one->text, other->text, shorter);

	if (order)
		return order;
	return (one->length > other->length) - (one->length < other->length);
}

void pmp_listing_free(struct pmp_listing *lines)
{
	pmp_intern_free(lines->table);
	free(lines->lines);
	*lines = (struct pmp_listing) { 0 };
}
