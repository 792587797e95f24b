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
#include "sample.h"

/* One frame as people see it. All strings are borrowed from the symbolizer for its life. */
struct pmp_frame {
	const char *
		function; /* demangled, never NULL: "[libfoo.so.1+0x1234]" without a symbol */
	const char *linkage; /* the linker's name, unless it is the same; else NULL */
	const char *file;    /* NULL: unknown */
	unsigned line;	     /* 0: unknown */
	bool inlined;	     /* no frame of its own on the stack */
	bool unnamed;	     /* function is a placeholder */
	bool signal;	     /* "<signal handler called>" */
	const char *module;  /* full path raw, "[vdso]", "[anon]"; never NULL */
	uint64_t
		address; /* in the module's own numbering (its ELF addresses); pc where none */
};

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

/* Fill *info with number i of count frames, if there is one. Returns count. */
size_t pmp_frame_describe(const struct pmp_frame *frames, size_t count, size_t i,
			  struct pmp_frame_info *info);

/* ---- bounded memory ------------------------------------------------------ */

/* Callers that store locations attach, and detach when they have dropped them. Both take
 * NULL. */
void pmp_symbolizer_attach(struct pmp_symbolizer *symbolizer);
void pmp_symbolizer_detach(struct pmp_symbolizer *symbolizer);
/* The bytes that locations and their names take, without those of opened files and of
 * numbers that are free. */
uint64_t pmp_symbolizer_size(const struct pmp_symbolizer *symbolizer);
/* Numbers of locations are below it. */
size_t pmp_symbolizer_location_count(const struct pmp_symbolizer *symbolizer);
/*
 * Forget all locations whose used[] is not set, their names and what modules they
 * had; their numbers are given to new ones. Strings and frames that were borrowed are
 * gone. False: not now, since several keep locations or one is being named.
 */
bool pmp_symbolizer_gc(struct pmp_symbolizer *symbolizer, const bool *used);

/* ---- where locations were -------------------------------------------------- */

/* A piece of an address space: strings are borrowed for the symbolizer's life. */
struct pmp_mapping {
	uint64_t start, end;  /* [start, end); both 0: not known */
	uint64_t offset;      /* in the file */
	const char *path;     /* as in struct pmp_frame */
	const char *build_id; /* lower-case hex, or "" */
};

/* The address at which a location was first seen. */
struct pmp_first_address {
	uint64_t pc;	  /* as found */
	bool exact;	  /* no return address */
	uint32_t mapping; /* equal numbers are the same mapping: 0, 1, 2, ... */
};

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
 * first; of their fields function, file, line and signal are used, and copied.
 * count 0: to be named from the mapping's file. PMP_LOCATION_NONE: no memory.
 */
pmp_location pmp_symbolizer_add_location(struct pmp_symbolizer *symbolizer,
					 const struct pmp_first_address *origin,
					 const struct pmp_frame *frames, size_t count);

#endif
