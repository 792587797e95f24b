/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names for addresses. A location is a place in a module's file (or, without a
 * file, an address). Finding it, when a sample is counted, is cheap; naming it is
 * left until it is shown. The process is not needed for that: modules came with
 * the sample as descriptors.
 */
#ifndef PMP_RESOLVE_SYMBOLIZER_H
#define PMP_RESOLVE_SYMBOLIZER_H

#include "libpmp.h"
#include "resolve/frame.h"
#include "sample.h"

/*
 * The location of a raw frame. Keeps a reference to a module the first time it is
 * seen. Equal (module, file offset, exactness) give equal locations, also across
 * processes and after a library has moved. PMP_LOCATION_NONE: out of memory.
 */
pmp_location pmp_symbolizer_locate(struct pmp_symbolizer *symbolizer,
				   const struct pmp_maps *maps,
				   const struct pmp_raw_frame *frame);
/*
 * The frames of a location with their names: the innermost inlined function first,
 * the physical function last; at least one. Returns their number; *frames is
 * borrowed for the symbolizer's life. Never fails: without memory the frame is
 * "[unknown]".
 */
size_t pmp_symbolizer_frames(struct pmp_symbolizer *symbolizer, pmp_location location,
			     const struct pmp_frame **frames);

/* Does the location have its names, or will it never have any? */
bool pmp_symbolizer_has_names(const struct pmp_symbolizer *symbolizer,
			      pmp_location location);

/* ---- objects: data, locks for instance ------------------------------------ */

/* The kind of memory that an object is in. */
enum pmp_object_in {
	PMP_IN_NOTHING, /* in no known mapping */
	PMP_IN_MODULE,	/* the data of a program or library */
	PMP_IN_HEAP,	/* [heap], or other memory without a file */
	PMP_IN_STACK,	/* of a thread */
	PMP_IN_SHARED,	/* a mapping that other processes may have as well */
};

/* Where an object is. Kept with a sample, it is all that is needed to name it. */
struct pmp_located_object {
	/* Its place in the module that it is in, or for PMP_IN_HEAP in a module that may
	 * have variables there; PMP_LOCATION_NONE: in none. */
	pmp_location location;
	enum pmp_object_in in;
	pid_t stack_of; /* tid, for PMP_IN_STACK */
};

/* An object with its names, which are borrowed like those of frames. */
struct pmp_object {
	enum pmp_object_in in;
	const char *symbol; /* demangled; NULL: none is known */
	const char *module; /* full path, raw bytes; NULL: in none */
	uint64_t offset;    /* from the start of the symbol, else of the module */
	pid_t stack_of;
};

/* Find where the object at an address is. Stacks are not told from other memory without a
 * file: they are PMP_IN_HEAP. Without memory the location is PMP_LOCATION_NONE. */
void pmp_symbolizer_locate_object(struct pmp_symbolizer *symbolizer,
				  const struct pmp_maps *maps, uint64_t address,
				  struct pmp_located_object *located);
/* The names of an object, which are looked up the first time. Never fails. */
void pmp_symbolizer_object(struct pmp_symbolizer *symbolizer,
			   const struct pmp_located_object *located,
			   struct pmp_object *object);
/* The same without looking anything up. False: the location has to be named first, with
 * pmp_symbolizer_name(). */
bool pmp_symbolizer_known_object(const struct pmp_symbolizer *symbolizer,
				 const struct pmp_located_object *located,
				 struct pmp_object *object);

/* ---- bounded memory ------------------------------------------------------ */

/* Callers that keep locations attach, and detach when they have dropped them. Both take
 * NULL. */
void pmp_symbolizer_attach(struct pmp_symbolizer *symbolizer);
void pmp_symbolizer_detach(struct pmp_symbolizer *symbolizer);
/* Memory used by locations and their names, in bytes, without open files and free
 * numbers. */
uint64_t pmp_symbolizer_size(const struct pmp_symbolizer *symbolizer);
/*
 * Forget all locations whose used[] is not set, their names, and modules without any other
 * location; their numbers will be reused. Borrowed strings and frames become invalid.
 * False: not possible now, as several callers keep locations or one is being named, or out
 * of memory.
 */
bool pmp_symbolizer_gc(struct pmp_symbolizer *symbolizer, const bool *used);

/* The options that it was made with. Strings that it has copied are not valid there. */
const struct pmp_symbolizer_options *
pmp_symbolizer_options(const struct pmp_symbolizer *symbolizer);

/* ---- where locations were -------------------------------------------------- */

void pmp_symbolizer_first_address(const struct pmp_symbolizer *symbolizer,
				  pmp_location location,
				  struct pmp_first_address *origin);
/* A mapping by number. May open the module's file, for its build-id. */
void pmp_symbolizer_mapping(struct pmp_symbolizer *symbolizer, uint32_t number,
			    struct pmp_mapping *mapping);

/* ---- locations of saved profiles -------------------------------------------- */

/*
 * Add a mapping of a saved profile. Its file is opened if a location in it has no
 * names, and used if it has the same build-id. Returns its number; UINT32_MAX: out
 * of memory. The strings are copied.
 */
uint32_t pmp_symbolizer_add_mapping(struct pmp_symbolizer *symbolizer,
				    const struct pmp_mapping *mapping);
/*
 * Add the location of an address in such a mapping, with its frames, innermost first. Of
 * their fields, function (demangled), linkage, file, line and signal are used, and copied.
 * count 0: to be named from the mapping's file. With no_symbols, frames are ignored where
 * there is an address in a file. PMP_LOCATION_NONE: out of memory.
 */
pmp_location pmp_symbolizer_add_location(struct pmp_symbolizer *symbolizer,
					 const struct pmp_first_address *origin,
					 const struct pmp_frame *frames, size_t count);

#endif
