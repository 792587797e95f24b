/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of code that a program makes while it runs, from the map that it
 * writes itself (/tmp/perf-PID.map), one line for each piece of code:
 *
 *   7f01c2a40000 1c0 LazyCompile:~main /srv/app.js:12
 *   start        size, both hexadecimal, and a name that may have blanks
 *
 * The file only grows; where lines overlap the later one holds. Code may be replaced by
 * other code at the same addresses: a location that was given a name keeps it, one that is
 * new gets that of the last line.
 */
#ifndef PMP_RESOLVE_PERF_MAP_H
#define PMP_RESOLVE_PERF_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pmp_perf_map;

/* What is wrong with a map of which lines were left out. */
#define PMP_PERF_MAP_LOST "not enough memory for all lines of the perf map"

/* fd is borrowed; -1 gives an empty map. Reads nothing yet. NULL: no memory. */
struct pmp_perf_map *pmp_perf_map_new(int fd);
void pmp_perf_map_free(struct pmp_perf_map *map);
/* Read what has been added to the file: before addresses are looked up that may be newer. */
void pmp_perf_map_read_on(struct pmp_perf_map *map);
/*
 * The name of the code at an address, or NULL. Reads what has been added to the
 * file if the address is not known. Borrowed until the next call.
 */
const char *pmp_perf_map_find(struct pmp_perf_map *map, uint64_t address);
/*
 * Take in a piece of the file as if it had been read: whole lines; a last line
 * without an end waits for the rest of it. 0 or PMP_ENOMEM: lines are left out, or wait.
 */
int pmp_perf_map_parse(struct pmp_perf_map *map, const char *text, size_t length);
/* Was there not enough memory for some lines? */
bool pmp_perf_map_lacks_lines(const struct pmp_perf_map *map);

#endif
