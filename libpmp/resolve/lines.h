/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Source lines and inlined functions of one module, from its DWARF.
 */
#ifndef PMP_RESOLVE_LINES_H
#define PMP_RESOLVE_LINES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/log.h"
#include "resolve/budget.h"

#define PMP_PLACES_MAX 64 /* frames at one address */

struct pmp_lines;

/* A function at an address and the line in it. Strings live as long as the Dwarf. */
struct pmp_place {
	const char *function; /* the linker's name if known; NULL: unknown */
	const char *file;     /* NULL: unknown */
	unsigned line;	      /* 0: unknown */
};

/*
 * dwarf is borrowed and must outlive the result, as must fd, which its file was opened from
 * (-1: from memory). owner: of the module's file; .dwo files are trusted by their owner,
 * like debug files. Nothing is read before the first look-up. NULL: out of memory.
 */
struct pmp_lines *pmp_lines_new(Dwarf *dwarf, int fd, uid_t owner,
				struct pmp_budget *budget, const struct pmp_log *log);
void pmp_lines_free(struct pmp_lines *lines);
/*
 * Fill places (room for PMP_PLACES_MAX) for an ELF address: the innermost inlined
 * function first, the physical function last. with_lines: fill in file and line
 * too. Returns their number; 0: nothing is known. To be called within
 * pmp_libdw_run().
 */
size_t pmp_lines_find(struct pmp_lines *lines, uint64_t address, bool with_lines,
		      struct pmp_place *places);

#endif
