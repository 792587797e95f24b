/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Debug information that lies outside a module's file. Only files that prove to
 * belong to it: by build-id, or by the checksum in .gnu_debuglink. Where they may lie is in
 * debug-paths.h.
 */
#ifndef PMP_RESOLVE_DEBUGFILE_H
#define PMP_RESOLVE_DEBUGFILE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"
#include "resolve/debug-paths.h"
#include "resolve/elf.h"

/*
 * The separate debug file of a module, in this order:
 *   DEBUG_DIR/.build-id/xx/yyyy.debug
 *   the name in .gnu_debuglink in DIR, DIR/.debug and DEBUG_DIR/DIR
 * where DIR is the module's directory and DEBUG_DIR each of debug_dir in its turn.
 * False: none, and *debug is empty. *path is the last one that was tried.
 */
bool pmp_debugfile_find(const struct pmp_elf *module, const struct pmp_debug_place *place,
			struct pmp_buf *path, struct pmp_elf *debug);
/* The same, fetched. */
bool pmp_debugfile_fetch(const struct pmp_elf *module,
			 const struct pmp_debug_place *place, struct pmp_elf *debug);
/* The symbols that are packed into .gnu_debugdata (xz). False: none. */
bool pmp_debugfile_unpack(const struct pmp_elf *module, struct pmp_elf *mini);
/*
 * The file of what several debug files have in common (dwz): its name and build-id are
 * in .gnu_debugaltlink of `file`, whose debug information is open and which was found at
 * `path`. If it is not on this machine it is fetched. Returns true if there is nothing to
 * find or it was found; then it is opened into *alt and linked to file's Dwarf.
 */
bool pmp_debugfile_alt(struct pmp_elf *file, const char *path,
		       const struct pmp_debug_place *place, struct pmp_elf *alt);

#endif
