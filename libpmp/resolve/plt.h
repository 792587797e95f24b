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
/*
 * The name of the stub at an ELF address, put into *name, which is cleared before.
 * False: no stub is there, or no memory. Reads code and relocations at each call.
 */
bool pmp_plt_name(const struct pmp_elf *elf, uint64_t address, struct pmp_buf *name);

#endif
