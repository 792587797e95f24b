/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines are compared as if their names had been joined. */
#include "write/listing.h"

#include <stdlib.h>
#include <string.h>

static const char *name_of(const struct pmp_listing *listing, const struct pmp_path *path,
			   size_t i)
{
	size_t step = listing->leaf_first ? path->length - 1 - i : i;

	return listing->paths->functions[path->functions[step]].name;
}

static uint32_t step_of(const struct pmp_listing *listing, const struct pmp_path *path,
			size_t i)
{
	return path->functions[listing->leaf_first ? path->length - 1 - i : i];
}

/* A line read byte after byte. */
struct cursor {
	const struct pmp_path *path;
	size_t next;	/* name to come */
	const char *at; /* in the one at hand */
};

/* The byte at a cursor; -1 at the end of the line. */
static int byte_at(const struct pmp_listing *listing, struct cursor *cursor)
{
	if (*cursor->at)
		return (unsigned char)*cursor->at++;
	if (cursor->next >= cursor->path->length)
		return -1;
	cursor->at = name_of(listing, cursor->path, cursor->next++);
	return (unsigned char)listing->separator;
}

static int compare_paths(const struct pmp_listing *listing, const struct pmp_path *a,
			 const struct pmp_path *b)
{
	size_t shorter = a->length < b->length ? a->length : b->length, i = 0;
	struct cursor one = { a, 0, "" }, other = { b, 0, "" };
	int x, y;

	while (i < shorter && step_of(listing, a, i) == step_of(listing, b, i))
		i++;
	one.next = other.next = i;
	/* Both begin with a separator now, or end. */
	do {
		x = byte_at(listing, &one);
		y = byte_at(listing, &other);
	} while (x == y && x >= 0);
	return (x > y) - (x < y);
}

static int compare_lines(const void *a, const void *b, void *listing)
{
	const struct pmp_line *one = a, *other = b;

	return compare_paths(listing, one->path, other->path);
}

int pmp_listing_make(struct pmp_listing *listing)
{
	const struct pmp_paths *paths = listing->paths;
	struct pmp_line *lines = calloc(paths->path_count + 1, sizeof(*lines));

	listing->lines = lines;
	if (!lines)
		return PMP_ENOMEM;
	for (size_t i = 0; i < paths->path_count; i++)
		lines[i] = (struct pmp_line){ &paths->paths[i], paths->paths[i].count,
					      paths->paths[i].base };
	qsort_r(lines, paths->path_count, sizeof(*lines), compare_lines, listing);
	for (size_t i = 0; i < paths->path_count; i++) {
		struct pmp_line *last = &lines[listing->count - (listing->count > 0)];

		if (!listing->count || compare_lines(last, &lines[i], listing)) {
			lines[listing->count++] = lines[i];
			continue;
		}
		last->count += lines[i].count;
		last->base += lines[i].base;
	}
	return 0;
}

static int compare_counts(const void *a, const void *b, void *listing)
{
	const struct pmp_line *one = a, *other = b;

	if (one->count != other->count)
		return one->count < other->count ? 1 : -1;
	return compare_paths(listing, other->path, one->path);
}

void pmp_listing_by_count(struct pmp_listing *listing)
{
	if (listing->count)
		qsort_r(listing->lines, listing->count, sizeof(*listing->lines),
			compare_counts, listing);
}

void pmp_listing_put(struct pmp_buf *buf, const struct pmp_listing *listing,
		     const struct pmp_line *line)
{
	for (size_t i = 0; i < line->path->length; i++) {
		if (i)
			pmp_buf_putc(buf, listing->separator);
		pmp_buf_puts(buf, name_of(listing, line->path, i));
	}
}

void pmp_listing_free(struct pmp_listing *listing)
{
	free(listing->lines);
	listing->lines = NULL;
	listing->count = 0;
}
