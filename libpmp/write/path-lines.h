/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Merges equal lines, for the formats that write lines with counts: stacks that differ
 * only in addresses read the same. A line is a path whose names are joined by a
 * separator. It is built only when it is written, as a million lines would fill
 * the memory.
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

/* Set the first three fields; paths must have been made. */
struct pmp_path_lines {
	const struct pmp_paths *paths;
	char separator;
	bool leaf_first;

	struct pmp_path_line *items;
	size_t count;
};

/* Find the lines, sorted bytewise. 0 or PMP_ENOMEM. */
int pmp_path_lines_make(struct pmp_path_lines *lines);
/* Sort by count, the most frequent first; equal ones in reverse of the bytewise order. */
void pmp_path_lines_by_count(struct pmp_path_lines *lines);
void pmp_path_lines_put(struct pmp_buf *buf, const struct pmp_path_lines *lines,
			const struct pmp_path_line *line);
void pmp_path_lines_free(struct pmp_path_lines *lines);

#endif
