/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known of a location: its frames, and where it was seen. */
#ifndef PMP_RESOLVE_FRAME_H
#define PMP_RESOLVE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libpmp.h"

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

/* Fill *info with number i of count frames, if there is one. Returns count. */
size_t pmp_frame_describe(const struct pmp_frame *frames, size_t count, size_t i,
			  struct pmp_frame_info *info);

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

#endif
