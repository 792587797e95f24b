/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names, lines and inlined functions of a Go program from its own table, which survives
 * stripping (base/gopclntab.h). The table is not copied but read from the file.
 */
#ifndef PMP_RESOLVE_GO_NAMES_H
#define PMP_RESOLVE_GO_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolve/budget.h"
#include "resolve/elf.h"
#include "resolve/lines.h"

struct pmp_go_names;

/*
 * The table of an open file, whose descriptor must stay open for the life of the result;
 * *elf need not. NULL: there is none, the file is not read from a descriptor, or out of
 * memory.
 */
struct pmp_go_names *pmp_go_names_new(const struct pmp_elf *elf,
				      struct pmp_budget *budget);
void pmp_go_names_free(struct pmp_go_names *names);
/* The number of functions. */
size_t pmp_go_names_count(const struct pmp_go_names *names);
/* The name of the function at an ELF address, or NULL; borrowed until the next call of
 * any of these. */
const char *pmp_go_names_find(struct pmp_go_names *names, uint64_t address);
/* Like pmp_lines_find(); strings are borrowed in the same way. */
size_t pmp_go_names_places(struct pmp_go_names *names, uint64_t address, bool with_lines,
			   struct pmp_place *places);

#endif
