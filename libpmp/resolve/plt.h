/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of the stubs through which a module calls functions of others: in no
 * symbol table, shown as "puts@plt" by debuggers and disassemblers.
 */
#ifndef PMP_RESOLVE_PLT_H
#define PMP_RESOLVE_PLT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "resolve/elf.h"

/* An address range; empty: start == end. */
struct pmp_plt {
	uint64_t start, end;
};

/* The range from the first to the last section of stubs. */
void pmp_plt_range(const struct pmp_elf *elf, struct pmp_plt *plt);

/* Which relocations fill the slots of a module's stubs. */
struct pmp_stubs;

/* Opens the file again, from fd, which is borrowed, and reads all relocations, once.
 * NULL: it cannot be read, or no memory. */
struct pmp_stubs *pmp_stubs_new(int fd);
void pmp_stubs_free(struct pmp_stubs *stubs);
/*
 * The name of the stub at an ELF address, put into *name, which is cleared before.
 * False: no stub is there, or no memory.
 */
bool pmp_stubs_name(struct pmp_stubs *stubs, uint64_t address, struct pmp_buf *name);

#endif
