/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Debug information outside of a module's file. Files are only used if they prove to belong
 * to it, by build-id or by the checksum in .gnu_debuglink. For their places see
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
 * where DIR is the module's directory and DEBUG_DIR each of debug_dir in turn.
 * False: there is none, and *debug is empty. *path is set to the last path tried.
 */
bool pmp_debugfile_find(const struct pmp_elf *module, const struct pmp_debug_place *place,
			struct pmp_buf *path, struct pmp_elf *debug);
/* The same, fetched. */
bool pmp_debugfile_fetch(const struct pmp_elf *module,
			 const struct pmp_debug_place *place, struct pmp_elf *debug);
/* The symbols in .gnu_debugdata, compressed with xz. False: none. */
bool pmp_debugfile_unpack(const struct pmp_elf *module, struct pmp_elf *mini);
/*
 * The file with what several debug files have in common (dwz). Its name and build-id are in
 * .gnu_debugaltlink of `file`, which was found at `path` and whose debug information is
 * open. If it is not on this machine, it is fetched. It is opened into *alt and linked to
 * file's Dwarf. Returns true also if `file` refers to no such file.
 */
bool pmp_debugfile_alt(struct pmp_elf *file, const char *path,
		       const struct pmp_debug_place *place, struct pmp_elf *alt);

#endif
