/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of a live process through /proc/PID/mem, page by page, cached.
 * Pages that cannot change (mapped read-only from a file, the vDSO) are kept
 * until the address space changes; all others for one snapshot. After the end of
 * the process those of files are read from the files. Never through
 * process_vm_readv or PTRACE_PEEKDATA, which wait for ever on pages that a
 * userfaultfd serves; /proc/PID/mem fails with EIO at once.
 */
#ifndef PMP_PROC_MEMORY_H
#define PMP_PROC_MEMORY_H

#include "sample.h"
#include "base/reader.h"

struct pmp_memory;

struct pmp_memory *pmp_memory_new(void); /* NULL: no memory */
void pmp_memory_free(struct pmp_memory *memory);
/* Read from this descriptor (borrowed) and by these maps (borrowed) from now
 * on. Forgets everything. */
void pmp_memory_use(struct pmp_memory *memory, int fd, const struct pmp_maps *maps);
/* A new snapshot begins: forget what may have changed. */
void pmp_memory_tick(struct pmp_memory *memory);
/* As struct pmp_reader.read, with a struct pmp_memory as arg. */
bool pmp_memory_read(void *memory, uint64_t address, void *data, size_t length);

/* Stacks and heap: memory that must come from a copy made while its thread was
 * held, because it may have changed since. */
bool pmp_region_is_volatile(const struct pmp_region *region);

#endif
