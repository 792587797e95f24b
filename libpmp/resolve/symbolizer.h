/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names for addresses. A location is a place in a module's file (or, without a
 * file, an address); it is found cheaply when a sample is counted, and named
 * only when it is to be shown. No process is needed: modules came with
 * the sample as descriptors.
 */
#ifndef PMP_RESOLVE_SYMBOLIZER_H
#define PMP_RESOLVE_SYMBOLIZER_H

#include "libpmp.h"
#include "resolve/frame.h"
#include "sample.h"

/*
 * The location of a raw frame. Remembers the module (a reference) the first
 * time. Equal (module, file offset, exactness) give equal locations, also
 * across processes and after a library has moved. PMP_LOCATION_NONE: no memory.
 */
pmp_location pmp_symbolizer_locate(struct pmp_symbolizer *symbolizer,
				   const struct pmp_maps *maps,
				   const struct pmp_raw_frame *frame);
/*
 * Its names: innermost inlined function first, the physical function last; at
 * least one. Returns their number; *frames is borrowed for the symbolizer's life.
 * Never fails: without memory the frame is "[unknown]".
 */
size_t pmp_symbolizer_frames(struct pmp_symbolizer *symbolizer, pmp_location location,
			     const struct pmp_frame **frames);

/* Has it names, or none to come? */
bool pmp_symbolizer_has_names(const struct pmp_symbolizer *symbolizer,
			      pmp_location location);

/* ---- objects: data, locks for instance ------------------------------------ */

/* What memory an object lies in. */
enum pmp_object_in {
	PMP_IN_NOTHING, /* in no mapping that was known */
	PMP_IN_MODULE,	/* of a file: the data of a program or library */
	PMP_IN_HEAP,	/* [heap] and what else belongs to no file */
	PMP_IN_STACK,	/* of a thread */
	PMP_IN_SHARED,	/* a mapping that other processes may have as well */
};

/* Where an object is, kept with a sample: all that is needed to name it. */
struct pmp_located_object {
	/* In the module that it lies in, or (of PMP_IN_HEAP) that may have its
	 * variables there; PMP_LOCATION_NONE: in none. */
	pmp_location location;
	enum pmp_object_in in;
	pid_t stack_of; /* of PMP_IN_STACK: a tid */
};

/* The same with names, which are borrowed as those of frames are. */
struct pmp_object {
	enum pmp_object_in in;
	const char *symbol; /* demangled; NULL: none is known */
	const char *module; /* full path, raw; NULL: in none */
	uint64_t offset;    /* from the start of the symbol, else of the module */
	pid_t stack_of;
};

/* Which of the threads has the stack it cannot tell: it says PMP_IN_HEAP then. Without
 * memory the location is none. */
void pmp_symbolizer_locate_object(struct pmp_symbolizer *symbolizer,
				  const struct pmp_maps *maps, uint64_t address,
				  struct pmp_located_object *located);
/* Its names, which are looked up the first time. Never fails. */
void pmp_symbolizer_object(struct pmp_symbolizer *symbolizer,
			   const struct pmp_located_object *located,
			   struct pmp_object *object);
/* The same without looking anything up. False: its location has to be named first, by
 * pmp_symbolizer_name(). */
bool pmp_symbolizer_known_object(const struct pmp_symbolizer *symbolizer,
				 const struct pmp_located_object *located,
				 struct pmp_object *object);

/* ---- bounded memory ------------------------------------------------------ */

/* Callers that store locations attach, and detach when they have dropped them. Both take
 * NULL. */
void pmp_symbolizer_attach(struct pmp_symbolizer *symbolizer);
void pmp_symbolizer_detach(struct pmp_symbolizer *symbolizer);
/* The bytes that locations and their names take, without those of opened files and of
 * numbers that are free. */
uint64_t pmp_symbolizer_size(const struct pmp_symbolizer *symbolizer);
/*
 * Forget all locations whose used[] is not set, their names and what modules they
 * had; their numbers are given to new ones. Strings and frames that were borrowed are
 * gone. False: not now, since several keep locations or one is being named.
 */
bool pmp_symbolizer_gc(struct pmp_symbolizer *symbolizer, const bool *used);

/* How it was made; without the strings that it has copied. */
const struct pmp_symbolizer_options *
pmp_symbolizer_options(const struct pmp_symbolizer *symbolizer);

/* ---- where locations were -------------------------------------------------- */

void pmp_symbolizer_first_address(const struct pmp_symbolizer *symbolizer,
				  pmp_location location,
				  struct pmp_first_address *origin);
/* May open the module's file, for its build-id. */
void pmp_symbolizer_mapping(struct pmp_symbolizer *symbolizer, uint32_t number,
			    struct pmp_mapping *mapping);

/* ---- locations of saved profiles -------------------------------------------- */

/*
 * A mapping of a saved profile. Its file is opened when a location in
 * it has no names, and believed if it has the same build-id. Returns its number,
 * or UINT32_MAX: no memory. The strings are copied.
 */
uint32_t pmp_symbolizer_add_mapping(struct pmp_symbolizer *symbolizer,
				    const struct pmp_mapping *mapping);
/*
 * The location of an address in such a mapping whose names are known, innermost
 * first; of their fields function (for people), linkage, file, line and signal are used, and
 * copied.
 * count 0: to be named from the mapping's file. PMP_LOCATION_NONE: no memory.
 */
pmp_location pmp_symbolizer_add_location(struct pmp_symbolizer *symbolizer,
					 const struct pmp_first_address *origin,
					 const struct pmp_frame *frames, size_t count);

#endif
