/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Equal lines counted together: stacks that differ in their addresses only read the
 * same. For the formats that are lines with counts. A line is a path whose names
 * are joined by a separator; it is never put together before it is written, as a
 * million of them would fill the memory.
 */
#ifndef PMP_WRITE_PATH_LINES_H
#define PMP_WRITE_PATH_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "write/paths.h"

struct pmp_path_line {
	const struct pmp_path *path;
	uint64_t count;
	uint64_t base; /* unscaled */
};

/* The first three are to be set, with paths already made. */
struct pmp_path_lines {
	const struct pmp_paths *paths;
	char separator;
	bool leaf_first;

	struct pmp_path_line *items;
	size_t count;
};

/* Find the lines, sorted by their bytes. 0 or PMP_ENOMEM. */
int pmp_path_lines_make(struct pmp_path_lines *lines);
/* The most frequent first; equal ones the other way round than before. */
void pmp_path_lines_by_count(struct pmp_path_lines *lines);
void pmp_path_lines_put(struct pmp_buf *buf, const struct pmp_path_lines *lines,
			const struct pmp_path_line *line);
void pmp_path_lines_free(struct pmp_path_lines *lines);

#endif
