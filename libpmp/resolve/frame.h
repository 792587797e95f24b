/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known about a location: its frames, and where it was seen. */
#ifndef PMP_RESOLVE_FRAME_H
#define PMP_RESOLVE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libpmp.h"

/* One frame as it is shown; function and module are never NULL. All strings are borrowed
 * for the symbolizer's life. */
struct pmp_frame {
	const char *
		function; /* demangled; if it has no symbol, like "[libfoo.so.1+0x1234]" */
	const char *linkage; /* the linker's name, unless it is the same; else NULL */
	const char
		*readable;  /* function, demangled, if that is the linker's name; NULL: it
			       * is the same */
	const char *file;   /* NULL: unknown */
	unsigned line;	    /* 0: unknown */
	bool inlined;	    /* no frame of its own on the stack */
	bool unnamed;	    /* function is a placeholder */
	bool signal;	    /* "<signal handler called>" */
	const char *module; /* full path (raw bytes), "[vdso]" or "[anon]" */
	uint64_t
		address; /* an ELF address of the module; if it has none of these, the pc */
};

/* Fill *info with frame i, if i < count. Returns count. */
size_t pmp_frame_describe(const struct pmp_frame *frames, size_t count, size_t i,
			  struct pmp_frame_info *info);

/* A piece of an address space: strings are borrowed for the symbolizer's life. */
struct pmp_mapping {
	uint64_t start, end;  /* [start, end); both 0: unknown */
	uint64_t offset;      /* in the file */
	const char *path;     /* as in struct pmp_frame */
	const char *build_id; /* lower-case hex, or "" */
};

/* The address at which a location was first seen. */
struct pmp_first_address {
	uint64_t pc;	  /* as found */
	bool exact;	  /* not a return address */
	uint32_t mapping; /* its number: 0, 1, 2, ... */
};

#endif
