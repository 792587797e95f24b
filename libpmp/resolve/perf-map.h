/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of code that a program generates at run time, from the map that it
 * writes itself (/tmp/perf-PID.map), one line for each piece of code:
 *
 *   7f01c2a40000 1c0 LazyCompile:~main /srv/app.js:12
 *   start        size, both hexadecimal, and a name that may have blanks
 *
 * The file only grows; where lines overlap, the later one wins. Code may be replaced by
 * other code at the same addresses: a location that has a name keeps it, a new location
 * gets the name in the last line.
 */
#ifndef PMP_RESOLVE_PERF_MAP_H
#define PMP_RESOLVE_PERF_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pmp_perf_map;

/* The problem of a map of which lines were left out. */
#define PMP_PERF_MAP_LOST "not enough memory for all lines of the perf map"

/* fd is borrowed; -1 gives an empty map. Reads nothing yet. NULL: out of memory. */
struct pmp_perf_map *pmp_perf_map_new(int fd);
void pmp_perf_map_free(struct pmp_perf_map *map);
/* Read what has been added to the file. Call it before looking up addresses that may be
 * newer than the map. */
void pmp_perf_map_read_on(struct pmp_perf_map *map);
/*
 * The name of the code at an address, or NULL. If the address is not known, reads
 * what has been added to the file. Borrowed until the next call.
 */
const char *pmp_perf_map_find(struct pmp_perf_map *map, uint64_t address);
/*
 * Parse a piece of the file. An incomplete last line is kept for the next piece.
 * 0, or PMP_ENOMEM: some lines were left out, or are kept for later.
 */
int pmp_perf_map_parse(struct pmp_perf_map *map, const char *text, size_t length);
/* Were lines left out for want of memory? */
bool pmp_perf_map_lacks_lines(const struct pmp_perf_map *map);

#endif
