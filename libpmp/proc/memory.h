/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of a live process through /proc/PID/mem, page by page, cached.
 * Pages that cannot change (mapped read-only from a file, the vDSO) are kept
 * until the address space changes; all others for one snapshot. After the
 * process has exited, file pages are read from the files. Does not use
 * process_vm_readv or PTRACE_PEEKDATA, which wait forever on pages served by a
 * userfaultfd; /proc/PID/mem fails with EIO at once.
 */
#ifndef PMP_PROC_MEMORY_H
#define PMP_PROC_MEMORY_H

#include "sample.h"
#include "base/reader.h"

struct pmp_memory;

struct pmp_memory *pmp_memory_new(void); /* NULL: no memory */
void pmp_memory_free(struct pmp_memory *memory);
/* Use this descriptor and these maps (both borrowed) from now on. Empties the cache. */
void pmp_memory_use(struct pmp_memory *memory, int fd, const struct pmp_maps *maps);
/* A new snapshot begins: drop pages that may have changed. */
void pmp_memory_tick(struct pmp_memory *memory);
/* As pmp_reader.read, with a struct pmp_memory as arg. */
bool pmp_memory_read(void *memory, uint64_t address, void *data, size_t length);

/* Is it stack or heap: memory that must be copied while its thread is held,
 * because it may change later? */
bool pmp_region_is_volatile(const struct pmp_region *region);

#endif
