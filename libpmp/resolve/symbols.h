/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of the functions of one module, from all its symbol tables in one sorted
 * array. An address that no symbol covers has no name: it does not get that of the
 * function before it.
 */
#ifndef PMP_RESOLVE_SYMBOLS_H
#define PMP_RESOLVE_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#include "resolve/elf.h"

struct pmp_symbols;

/*
 * Read the symbol tables of the module itself (files[0]) and of its debug files.
 * Closed and NULL files are skipped; no file is needed afterwards. If addresses are
 * `asked` for, these may be all that can be named afterwards, where that is much less
 * work, see pmp_symbols_know(). NULL: out of memory. Without any symbol it is empty.
 */
struct pmp_symbols *pmp_symbols_new(struct pmp_elf *const *files, size_t count,
				    const uint64_t *asked, size_t asked_count);
void pmp_symbols_free(struct pmp_symbols *symbols);
/* Has enough been read to name this address; to name all? Else read the tables again. */
bool pmp_symbols_know(const struct pmp_symbols *symbols, uint64_t address);
bool pmp_symbols_all(const struct pmp_symbols *symbols);
/* The linker's name (without version) of the function at an ELF address, or NULL. */
const char *pmp_symbols_find(const struct pmp_symbols *symbols, uint64_t address);
/* The number of functions; was there a full table, rather than only exported names? */
size_t pmp_symbols_count(const struct pmp_symbols *symbols);
bool pmp_symbols_complete(const struct pmp_symbols *symbols);

#endif
