/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines compare as if their names were joined. */
#include "write/path-lines.h"

#include <stdlib.h>
#include <string.h>

static const char *name_of(const struct pmp_path_lines *lines,
			   const struct pmp_path *path, size_t i)
{
	size_t step = lines->leaf_first ? path->length - 1 - i : i;

	return lines->paths->functions[path->functions[step]].name;
}

static uint32_t step_of(const struct pmp_path_lines *lines, const struct pmp_path *path,
			size_t i)
{
	return path->functions[lines->leaf_first ? path->length - 1 - i : i];
}

/* Reads a line byte by byte. */
struct cursor {
	const struct pmp_path *path;
	size_t next;	/* next name */
	const char *at; /* in the current name */
};

/* The next byte of the line; -1 at its end. */
static int byte_at(const struct pmp_path_lines *lines, struct cursor *cursor)
{
	if (*cursor->at)
		return (unsigned char)*cursor->at++;
	if (cursor->next >= cursor->path->length)
		return -1;
	cursor->at = name_of(lines, cursor->path, cursor->next++);
	return (unsigned char)lines->separator;
}

static int compare_paths(const struct pmp_path_lines *lines, const struct pmp_path *a,
			 const struct pmp_path *b)
{
	size_t shorter = a->length < b->length ? a->length : b->length, i = 0;
	struct cursor one = { a, 0, "" }, other = { b, 0, "" };
	int x, y;

	while (i < shorter && step_of(lines, a, i) == step_of(lines, b, i))
		i++;
	one.next = other.next = i;
	/* Now both begin with a separator or have ended. */
	do {
		x = byte_at(lines, &one);
		y = byte_at(lines, &other);
	} while (x == y && x >= 0);
	return (x > y) - (x < y);
}

static int compare_lines(const void *a, const void *b, void *lines)
{
	const struct pmp_path_line *one = a, *other = b;

	return compare_paths(lines, one->path, other->path);
}

int pmp_path_lines_make(struct pmp_path_lines *lines)
{
	const struct pmp_paths *paths = lines->paths;
	struct pmp_path_line *items = calloc(paths->path_count + 1, sizeof(*items));

	lines->items = items;
	if (!items)
		return PMP_ENOMEM;
	for (size_t i = 0; i < paths->path_count; i++)
		items[i] =
			(struct pmp_path_line){ &paths->paths[i], paths->paths[i].count,
						paths->paths[i].base };
	qsort_r(items, paths->path_count, sizeof(*items), compare_lines, lines);
	for (size_t i = 0; i < paths->path_count; i++) {
		struct pmp_path_line *last = &items[lines->count - (lines->count > 0)];

		if (!lines->count || compare_lines(last, &items[i], lines)) {
			items[lines->count++] = items[i];
			continue;
		}
		last->count += items[i].count;
		last->base += items[i].base;
	}
	return 0;
}

static int compare_counts(const void *a, const void *b, void *lines)
{
	const struct pmp_path_line *one = a, *other = b;

	if (one->count != other->count)
		return one->count < other->count ? 1 : -1;
	return compare_paths(lines, other->path, one->path);
}

void pmp_path_lines_by_count(struct pmp_path_lines *lines)
{
	if (lines->count)
		qsort_r(lines->items, lines->count, sizeof(*lines->items), compare_counts,
			lines);
}

void pmp_path_lines_put(struct pmp_buf *buf, const struct pmp_path_lines *lines,
			const struct pmp_path_line *line)
{
	for (size_t i = 0; i < line->path->length; i++) {
		if (i)
			pmp_buf_putc(buf, lines->separator);
		pmp_buf_puts(buf, name_of(lines, line->path, i));
	}
}

void pmp_path_lines_free(struct pmp_path_lines *lines)
{
	free(lines->items);
	lines->items = NULL;
	lines->count = 0;
}
