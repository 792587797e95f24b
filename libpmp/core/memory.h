/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory that a core file stands for: what it has, and what it leaves out because a
 * file has it, which is read there. Page by page, with pread, as the core may be cut off
 * while it is read and files replaced; pages are cached.
 */
#ifndef PMP_CORE_MEMORY_H
#define PMP_CORE_MEMORY_H

#include "core/parse.h"
#include "sample.h"

struct pmp_core_memory;

/* Open the file of a module, if there is one and that has not been tried. */
typedef void pmp_core_opener(void *arg, struct pmp_module *module);

/* Both are borrowed. NULL: no memory. */
struct pmp_core_memory *pmp_core_memory_new(const struct pmp_core_file *core, int fd);
void pmp_core_memory_free(struct pmp_core_memory *memory);
/* From now on read files as well, by these maps (borrowed); opener is asked before. */
void pmp_core_memory_use(struct pmp_core_memory *memory, const struct pmp_maps *maps,
			 pmp_core_opener *opener, void *arg);
/* As struct pmp_reader.read, with a struct pmp_core_memory as arg. */
bool pmp_core_memory_read(void *memory, uint64_t address, void *data, size_t length);

#endif
