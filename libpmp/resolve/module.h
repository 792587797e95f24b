/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A module whose files have been opened for their names: its own file or image,
 * a separate debug file, symbols, lines. Addresses are ELF addresses.
 */
#ifndef PMP_RESOLVE_MODULE_H
#define PMP_RESOLVE_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"
#include "resolve/elsewhere.h"
#include "resolve/lines.h"
#include "sample.h"

struct pmp_opened;

struct pmp_opened_options {
	const char *debug_dir;
	bool no_symbols; /* addresses only */
	bool no_dwarf;	 /* neither lines nor inlined functions are wanted */
	bool lines;	 /* lines are */
	const struct pmp_log *log;
	struct pmp_elsewhere elsewhere; /* of debug files */
};

/*
 * Open a module and read its symbols, of a large one at first only what names the
 * code at these offsets in the file; lines are read when they are asked for.
 * The module is borrowed, with its descriptor, for the life of the result. A
 * module that cannot be read is opened too: it has a problem and no names.
 * NULL: no memory.
 */
struct pmp_opened *pmp_opened_new(const struct pmp_module *module,
				  const struct pmp_opened_options *options,
				  const uint64_t *asked, size_t asked_count);
void pmp_opened_free(struct pmp_opened *opened);

/* Is its debug information being unpacked, while it is not asked for lines yet? */
bool pmp_opened_is_unpacking(const struct pmp_opened *opened);

/* Lower-case hex, or "". */
const char *pmp_opened_build_id(const struct pmp_opened *opened);
/* Why names are missing, in English, or NULL. */
const char *pmp_opened_problem(const struct pmp_opened *opened);
/* The ELF address of a file offset; false: no code is there. */
bool pmp_opened_address(const struct pmp_opened *opened, uint64_t offset,
			uint64_t *address);
/* The linker's name of the function or stub at an address, or NULL; borrowed until
 * the next call. Of an address that was not asked for this may read all symbols. */
const char *pmp_opened_symbol(struct pmp_opened *opened, uint64_t address);
/* As pmp_lines_find(), with lines if the options say so. */
size_t pmp_opened_places(struct pmp_opened *opened, uint64_t address,
			 struct pmp_place *places);

#endif
