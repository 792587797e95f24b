/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names for addresses. A location is a place in a module's file (or, without a
 * file, an address); it is found cheaply when a sample is counted, and named
 * only when somebody wants to see it. No process is needed: modules came with
 * the sample as descriptors.
 */
#ifndef PMP_RESOLVE_SYMBOLIZER_H
#define PMP_RESOLVE_SYMBOLIZER_H

#include "libpmp.h"
#include "sample.h"

/* One frame as people see it. All strings are borrowed from the symbolizer for its life. */
struct pmp_frame {
	const char *function;	/* demangled, never NULL: "[libfoo.so.1+0x1234]" without a symbol */
	const char *file;	/* NULL: unknown */
	unsigned line;		/* 0: unknown */
	bool inlined;		/* no frame of its own on the stack */
	bool unnamed;		/* function is a placeholder */
	bool signal;		/* "<signal handler called>" */
	const char *module;	/* full path raw, "[vdso]", "[anon]"; never NULL */
	uint64_t address;	/* in the module's own numbering (its ELF addresses); pc where none */
};

typedef uint32_t pmp_location;
#define PMP_LOCATION_NONE UINT32_MAX

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

#endif
