/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of the symbolizer share: symbolizer.c finds locations, opens modules and
 * names locations, gc.c forgets what is not needed.
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
	unsigned users;		    /* who keep numbers of locations */
	struct pmp_remote remote;   /* the process that reads files, if there is one */
	bool naming;	 /* a location is being named, maybe without the lock */
	bool only_known; /* nothing is to be looked up */
};

/* Where in a module names are wanted, as far as they are known: offsets of code in its file,
 * or distances of objects. */
struct pmp_asked {
	uint64_t *places; /* owned by the caller */
	size_t count, capacity;
};

/* Without memory, or of too many, none: then all names are read. */
void pmp_state_collect_asked(const struct pmp_symbolizer *symbolizer,
			     const struct pmp_dso_entry *module, bool objects,
			     struct pmp_asked *asked);
/* Open what a module's names are read from, if it is not open. Releases the lock. */
void pmp_state_open_module(struct pmp_symbolizer *symbolizer,
			   struct pmp_dso_entry *module);
/* Set function and linkage of a frame. linkage: the linker's name, or NULL; name: what the
 * function is called if that cannot be made readable. Both are copied. */
void pmp_state_name_function(struct pmp_symbolizer *symbolizer, struct pmp_frame *frame,
			     const char *name, const char *linkage);

/*
 * Around what is slow the caller's lock is released, and samples may be counted there:
 * modules and locations are added, strings interned. So nothing of the symbolizer is
 * touched there but the opened files, which belong to the one thread that names, and
 * the array of locations is looked up again afterwards.
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

/* Are all names waited for, not those on a screen? */
static inline bool pmp_state_names_all(const struct pmp_symbolizer *symbolizer)
{
	return !symbolizer->options.release || symbolizer->options.all_at_once;
}

#define PMP_UNPACKING_MAX 4 /* modules at a time, each of which may have a thread */

/* A file decides how long its names are. (Saved profiles: PMP_PPROF_NAMES_MAX.) */
#define PMP_NAMES_OF_LOCATION ((size_t)64 << 10) /* then without the innermost */
#define PMP_NAMES_OF_MODULE ((size_t)32 << 20)	 /* then its other locations have none */
#define PMP_NAMES_OF_ALL ((size_t)128 << 20)	 /* of all modules together: the same */

/* May another location of this module have names? If not, that is its problem. */
bool pmp_state_may_name(const struct pmp_symbolizer *symbolizer,
			struct pmp_dso_entry *module);
/* After names of it were kept: size is what all strings took before. */
void pmp_state_count_names(const struct pmp_symbolizer *symbolizer,
			   struct pmp_dso_entry *module, size_t size);

/* Give a location its frames, the last of which is the function itself: all, or as many as
 * PMP_NAMES_OF_LOCATION lets be shown. What has no name gets one by its address. */
void pmp_state_finish(struct pmp_symbolizer *symbolizer, pmp_location number,
		      struct pmp_frame *frames, size_t count);
/* The same for an object: code, address and start as of pmp_dso_object(); of names function
 * and linkage are used. */
void pmp_state_finish_object(struct pmp_symbolizer *symbolizer, pmp_location number,
			     int code, const struct pmp_dso_object *found,
			     const struct pmp_frame *names);

/* Does another process read its files? */
bool pmp_state_is_remote(const struct pmp_symbolizer *symbolizer,
			 const struct pmp_dso_entry *module);
/* Open it there, if it is not open. Releases the lock. */
void pmp_state_open_remote(struct pmp_symbolizer *symbolizer,
			   struct pmp_dso_entry *module);
/* Have a location named there, and others with it. False: it has no names yet. */
bool pmp_state_name_remote(struct pmp_symbolizer *symbolizer, pmp_location number);

/* Name a location that is an object: data. False: it is code, or none. */
bool pmp_state_name_object(struct pmp_symbolizer *symbolizer, pmp_location number);

#endif
