/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of the data of one module: the objects in its symbol tables, as symbols.h has
 * its functions, and where its segments are mapped.
 */
#ifndef PMP_RESOLVE_OBJECTS_H
#define PMP_RESOLVE_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolve/elf.h"

struct pmp_objects;

/*
 * Read the segments of the module itself (files[0]), and of its tables and those of its
 * debug files the symbols of data, unless only the segments are wanted. Closed and NULL
 * files are passed over; the files are not needed afterwards. Distances that are asked for,
 * if there are any, may be all that can be named then. NULL: no memory.
 */
struct pmp_objects *pmp_objects_new(struct pmp_elf *const *files, size_t count,
				    bool only_segments, const uint64_t *asked,
				    size_t asked_count);
void pmp_objects_free(struct pmp_objects *objects);
/* The ELF address of what lies at a distance from where the start of the file is, or would
 * be, mapped. False: beyond all segments, the zeros at their ends included. */
bool pmp_objects_address(const struct pmp_objects *objects, uint64_t distance,
			 uint64_t *address);
/* Can this address be named by what has been read, if it has a name at all? */
bool pmp_objects_know(const struct pmp_objects *objects, uint64_t address);
/* The linker's name (without version) of the object that covers an ELF address, which
 * begins at *start, or NULL. */
const char *pmp_objects_find(const struct pmp_objects *objects, uint64_t address,
			     uint64_t *start);
/* How many of them have names. */
size_t pmp_objects_count(const struct pmp_objects *objects);

#endif
