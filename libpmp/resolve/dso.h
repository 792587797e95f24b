/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A module whose files are open for reading names: its own file or image, a
 * separate debug file, symbols, lines. Addresses are ELF addresses.
 */
#ifndef PMP_RESOLVE_DSO_H
#define PMP_RESOLVE_DSO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"
#include "resolve/budget.h"
#include "resolve/debug-paths.h"
#include "resolve/fetch.h"
#include "resolve/lines.h"
#include "sample.h"

struct pmp_dso;

struct pmp_dso_options {
	const char *debug_dir;
	bool no_symbols; /* addresses only */
	bool no_dwarf;	 /* neither lines nor inlined functions are wanted */
	bool lines;	 /* lines are wanted */
	const struct pmp_log *log;
	struct pmp_budget *budget; /* borrowed for the life of the module */
	struct pmp_fetch fetch;	   /* of debug files */
	/* See struct pmp_debug_place; or NULL. */
	int (*ask)(void *arg, const struct pmp_debug_question *question,
		   struct pmp_buf *path);
	void *ask_arg;
};

/*
 * Open a module and read its symbols; of a large module at first only those that
 * name the code at the offsets `asked` in its file. Lines are read on demand. The
 * module is borrowed, with its descriptor, for the life of the result. Opening
 * succeeds also if the module cannot be read: then it has a problem and no names.
 * NULL: out of memory.
 */
struct pmp_dso *pmp_dso_new(const struct pmp_module *module,
			    const struct pmp_dso_options *options, const uint64_t *asked,
			    size_t asked_count);
void pmp_dso_free(struct pmp_dso *dso);

/* Is a thread unpacking its debug information, before the first request for lines? */
bool pmp_dso_is_unpacking(const struct pmp_dso *dso);

/* Lower-case hex, or "". */
const char *pmp_dso_build_id(const struct pmp_dso *dso);
/* Why names are missing, in English, or NULL. */
const char *pmp_dso_problem(const struct pmp_dso *dso);
/* The ELF address of a file offset; false: there is no code. */
bool pmp_dso_address(const struct pmp_dso *dso, uint64_t offset, uint64_t *address);
/* The linker's name of the function or stub at an address, or NULL; borrowed until
 * the next call. For an address not in `asked` this may read all symbols. */
const char *pmp_dso_symbol(struct pmp_dso *dso, uint64_t address);
/* An object (data). */
struct pmp_dso_object {
	uint64_t address; /* that was looked up */
	uint64_t start;	  /* of the object that covers it */
	const char *name; /* the linker's, borrowed until the next call; NULL: none */
};
/* Have no symbols of objects been read yet? The second one reads them; of large tables only
 * those that name what is at the distances `asked`. */
bool pmp_dso_lacks_objects(const struct pmp_dso *dso);
void pmp_dso_read_objects(struct pmp_dso *dso, const uint64_t *asked, size_t count);
/*
 * The object at a distance from where the start of the file is mapped. Returns 1; 0: it is
 * beyond the end of the module; PMP_EIO: the file cannot be read (any more).
 */
int pmp_dso_object(struct pmp_dso *dso, uint64_t distance, struct pmp_dso_object *object);
/* Like pmp_lines_find(), with lines if the options say so. */
size_t pmp_dso_places(struct pmp_dso *dso, uint64_t address, struct pmp_place *places);

/*
 * Open the file of a module in a saved profile, if it is of that build: below symfs, under
 * its path or directly in symfs; else on this machine; else fetched. Sets source->fd or
 * source->open_errno. Empties *fetch if it does not have the file, as its
 * debug file is of no use then.
 */
void pmp_dso_open_saved(const char *symfs, const char *build_id,
			struct pmp_module *source, struct pmp_fetch *fetch);
/* Open the file in one of these places, counted from 0, of any build, as nothing is read
 * from it. False: there are no more places. */
bool pmp_dso_open_place(const char *symfs, unsigned place, struct pmp_module *source);
/* Is it an ELF file with this build-id? fd -1: no. */
bool pmp_dso_is_of_build(int fd, const char *build_id);

#endif
