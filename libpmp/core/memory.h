/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of a core file's process: what the core has, and what it omits because a
 * mapped file has it. Read page by page, with pread, because the core may be truncated and
 * files replaced meanwhile; pages are cached.
 */
#ifndef PMP_CORE_MEMORY_H
#define PMP_CORE_MEMORY_H

#include "core/parse.h"
#include "sample.h"

struct pmp_core_memory;

/* Opens the file of a module, if it has one and this has not been tried. */
typedef void pmp_core_opener(void *arg, struct pmp_module *module);

/* Both are borrowed. NULL: no memory. */
struct pmp_core_memory *pmp_core_memory_new(const struct pmp_core_file *core, int fd);
void pmp_core_memory_free(struct pmp_core_memory *memory);
/* From now on also read files, with these maps (borrowed); opener is called first. */
void pmp_core_memory_use(struct pmp_core_memory *memory, const struct pmp_maps *maps,
			 pmp_core_opener *opener, void *arg);
/* As pmp_reader.read, with a struct pmp_core_memory as arg. */
bool pmp_core_memory_read(void *memory, uint64_t address, void *data, size_t length);

#endif
