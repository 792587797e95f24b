/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state shared by the parts of the symbolizer: symbolizer.c finds locations, opens
 * modules and names locations, gc.c drops what is no longer used.
 */
#ifndef PMP_RESOLVE_SYMBOLIZER_STATE_H
#define PMP_RESOLVE_SYMBOLIZER_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/intern.h"
#include "base/log.h"
#include "libpmp.h"
#include "resolve/dso-table.h"
#include "resolve/budget.h"
#include "resolve/locations.h"
#include "resolve/remote.h"
#include "resolve/strings.h"

/* The key of a mapping. */
struct pmp_mapping_key {
	uint64_t start, end, offset;
	uint32_t module; /* number */
	uint32_t unused; /* 0: keys are compared as bytes */
};

struct pmp_symbolizer {
	struct pmp_symbolizer_options options;
	char *debug_dir, *symfs;
	struct pmp_log log;
	struct pmp_strings strings;
	struct pmp_dso_table modules;
	struct pmp_budget budget;
	struct pmp_locations locations;
	struct pmp_intern *regions; /* keys of mappings; the ids are their numbers */
	struct pmp_intern *names;   /* of saved locations */
	unsigned users;		    /* number of callers that keep locations */
	struct pmp_remote remote;   /* the process that reads files, if there is one */
	bool naming;	 /* a location is being named, maybe without the lock */
	bool only_known; /* look nothing up */
};

/* The places in a module for which names are wanted, as far as known: offsets of code in
 * its file, or distances of objects. */
struct pmp_asked {
	uint64_t *places; /* owned by the caller */
	size_t count, capacity;
};

/* Collect the unnamed places of a module. Without memory, or if there are too many, none:
 * then all names are read. */
void pmp_state_collect_asked(const struct pmp_symbolizer *symbolizer,
			     const struct pmp_dso_entry *module, bool objects,
			     struct pmp_asked *asked);
/* Open the files that a module's names are read from, if not open. Releases the lock. */
void pmp_state_open_module(struct pmp_symbolizer *symbolizer,
			   struct pmp_dso_entry *module);
/* Set the names of a frame. linkage: the linker's name, or NULL; name: used if that cannot
 * be demangled. Both are copied. */
void pmp_state_name_function(struct pmp_symbolizer *symbolizer, struct pmp_frame *frame,
			     const char *name, const char *linkage);
/* The same for a frame whose function is set, readable and kept. Demangles nothing. */
void pmp_state_choose_name(struct pmp_symbolizer *symbolizer, struct pmp_frame *frame,
			   const char *linkage);

/*
 * The caller's lock is released around slow work. Meanwhile samples may be counted, which
 * adds modules and locations and interns strings. So slow work may touch nothing of the
 * symbolizer but the open files, which belong to the one thread that names, and must look
 * up the array of locations again afterwards.
 */
static inline void pmp_state_release(const struct pmp_symbolizer *symbolizer)
{
	if (symbolizer->options.release)
		symbolizer->options.release(symbolizer->options.lock_arg);
}

static inline void pmp_state_acquire(const struct pmp_symbolizer *symbolizer)
{
	if (symbolizer->options.acquire)
		symbolizer->options.acquire(symbolizer->options.lock_arg);
}

/* Does the caller wait for all names, rather than those on a screen? */
static inline bool pmp_state_names_all(const struct pmp_symbolizer *symbolizer)
{
	return !symbolizer->options.release || symbolizer->options.all_at_once;
}

#define PMP_UNPACKING_MAX 4 /* modules at a time, each of which may have a thread */

/* Limits for names, in bytes, as their lengths are up to a file. (Saved profiles:
 * PMP_PPROF_NAMES_MAX.) */
#define PMP_NAMES_OF_LOCATION ((size_t)64 << 10) /* beyond it, inner frames are dropped */
#define PMP_NAMES_OF_MODULE ((size_t)32 << 20)	 /* then other locations get no names */
#define PMP_NAMES_OF_ALL ((size_t)128 << 20)	 /* likewise, for all modules together */

/* May another location of this module have names? If not, that becomes its problem. */
bool pmp_state_may_name(const struct pmp_symbolizer *symbolizer,
			struct pmp_dso_entry *module);
/* Count the names that were kept for a module. size: bytes of all strings before that. */
void pmp_state_count_names(const struct pmp_symbolizer *symbolizer,
			   struct pmp_dso_entry *module, size_t size);

/* Set the frames of a location, the last of which is the physical function; the innermost
 * ones are dropped beyond PMP_NAMES_OF_LOCATION. Frames without a name are named by their
 * address. */
void pmp_state_finish(struct pmp_symbolizer *symbolizer, pmp_location number,
		      struct pmp_frame *frames, size_t count);
/* The same for an object. code, found: as from pmp_dso_object(); names: function,
 * linkage and readable are used. */
void pmp_state_finish_object(struct pmp_symbolizer *symbolizer, pmp_location number,
			     int code, const struct pmp_dso_object *found,
			     const struct pmp_frame *names);

/* Does another process read this module's files? */
bool pmp_state_is_remote(const struct pmp_symbolizer *symbolizer,
			 const struct pmp_dso_entry *module);
/* Open a module there, if it is not open. Releases the lock. */
void pmp_state_open_remote(struct pmp_symbolizer *symbolizer,
			   struct pmp_dso_entry *module);
/* Have a location named there, together with others. False: it has no names yet. */
bool pmp_state_name_remote(struct pmp_symbolizer *symbolizer, pmp_location number);

/* Name a location that is an object (data). False: it is code, or not in use. */
bool pmp_state_name_object(struct pmp_symbolizer *symbolizer, pmp_location number);

#endif
