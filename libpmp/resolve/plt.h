/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of the stubs through which a module calls functions in other modules. They are in
 * no symbol table; debuggers and disassemblers show them as "puts@plt".
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

/* Open the file again, from fd, which is borrowed; relocations are read on demand. NULL: it
 * cannot be read, or out of memory. */
struct pmp_stubs *pmp_stubs_new(int fd);
void pmp_stubs_free(struct pmp_stubs *stubs);
/*
 * Set *name to the name of the stub at an ELF address. False: there is no stub, or
 * out of memory.
 */
bool pmp_stubs_name(struct pmp_stubs *stubs, uint64_t address, struct pmp_buf *name);

#endif
