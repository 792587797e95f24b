/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of the data of one module: the objects in its symbol tables (symbols.h has the
 * functions), and where its segments are mapped.
 */
#ifndef PMP_RESOLVE_OBJECTS_H
#define PMP_RESOLVE_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolve/elf.h"

struct pmp_objects;

/*
 * Read the segments of the module itself (files[0]) and, unless only_segments, the symbols
 * of data from its tables and those of its debug files. Closed and NULL files are skipped;
 * no file is needed afterwards. If distances are `asked` for, these may be all that can be
 * named afterwards, see pmp_objects_know(). NULL: out of memory.
 */
struct pmp_objects *pmp_objects_new(struct pmp_elf *const *files, size_t count,
				    bool only_segments, const uint64_t *asked,
				    size_t asked_count);
void pmp_objects_free(struct pmp_objects *objects);
/* The ELF address at a distance from where the start of the file is, or would be, mapped.
 * False: it is in no segment; the zeros at the end of a segment are part of it. */
bool pmp_objects_address(const struct pmp_objects *objects, uint64_t distance,
			 uint64_t *address);
/* Has enough been read to name this address, if it has a name at all? */
bool pmp_objects_know(const struct pmp_objects *objects, uint64_t address);
/* The linker's name (without version) of the object that covers an ELF address, or NULL.
 * *start: where the object begins. */
const char *pmp_objects_find(const struct pmp_objects *objects, uint64_t address,
			     uint64_t *start);
/* The number of objects with names. */
size_t pmp_objects_count(const struct pmp_objects *objects);

#endif
