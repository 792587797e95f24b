/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of functions that Go's linker puts into every program and that strip never
 * removes, .gopclntab: names, files, lines, inlined calls, and the frame size at each pc.
 * Supports the layouts of Go 1.2, 1.16, 1.18, and 1.20 and later.
 *
 * Only what was asked for is copied: a lookup is a binary search in the table in place, in
 * the file or in the memory of a target, through a struct pmp_reader. Its contents are not
 * trusted. Addresses are those of the reader.
 */
#ifndef PMP_BASE_GOPCLNTAB_H
#define PMP_BASE_GOPCLNTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/reader.h"

enum pmp_go_layout { PMP_GO_1_2, PMP_GO_1_16, PMP_GO_1_18, PMP_GO_1_20 };

struct pmp_gopclntab {
	struct pmp_reader memory; /* its arg is borrowed */
	enum pmp_go_layout layout;
	uint64_t start, end; /* of the table */
	uint64_t text;	     /* base of the functions' addresses */
	bool has_text;
	uint64_t func_data; /* base of function data offsets; 0: unknown */
	unsigned quantum;   /* bytes of code per step */
	uint64_t count;	    /* functions */
	/* Addresses of its parts: rows of functions, names, files of compilation units,
	 * files, values by pc, functions. */
	uint64_t rows, names, units, files, values, functions;
	size_t work; /* bytes read so far, for callers that limit them */
};

/* A function. All offsets are as in the table, unchecked. */
struct pmp_go_function {
	uint64_t start, end; /* of its code */
	uint64_t at;	     /* its description in the table */
	uint32_t name, frame, file, line;
	uint32_t unit;			  /* index of the first of its files */
	uint32_t pc_tables, other_tables; /* number of further tables */
	uint32_t tables;		  /* their offset from `at` */
	bool may_be_special; /* the runtime has a number for it; before Go 1.16: unknown */
	bool is_assembly;    /* since Go 1.18, like the next two */
	bool is_top;	     /* at the root of a stack: nothing has called it */
	bool switches_stacks; /* its frame size does not lead to its caller */
};

/*
 * Open the table in [start, end); memory is copied. False: there is none, or it has
 * another pointer size or an unknown layout.
 */
bool pmp_gopclntab_open(struct pmp_gopclntab *table, const struct pmp_reader *memory,
			uint64_t start, uint64_t end);
/* Find the first table that can be opened between two addresses, if no section tells where
 * it is. *table is undefined if there is none. */
bool pmp_gopclntab_scan(struct pmp_gopclntab *table, const struct pmp_reader *memory,
			uint64_t start, uint64_t end);
/* Does it need pmp_gopclntab_find_module() to be usable at all, or for inlined calls? */
bool pmp_gopclntab_needs_module(const struct pmp_gopclntab *table);
/*
 * Search the data in [start, end) for the description of the module that the table belongs
 * to: since Go 1.26 only that tells where the code begins, and since 1.18 where function
 * data begins. False: not found.
 */
bool pmp_gopclntab_find_module(struct pmp_gopclntab *table, uint64_t start, uint64_t end);
/* The same from its first words in memory. */
#define PMP_GO_MODULE_WORDS 56
bool pmp_gopclntab_take_module(struct pmp_gopclntab *table,
			       const uint64_t words[PMP_GO_MODULE_WORDS]);

/* The function that contains pc. False: none. */
bool pmp_gopclntab_find(struct pmp_gopclntab *table, uint64_t pc,
			struct pmp_go_function *function);
/* Append its name to text, without a NUL. False: damaged, or no memory. */
bool pmp_gopclntab_name(struct pmp_gopclntab *table,
			const struct pmp_go_function *function, struct pmp_buf *text);
/* How many bytes of stack it uses at pc, without the return address. False: unknown. */
bool pmp_gopclntab_frame(struct pmp_gopclntab *table,
			 const struct pmp_go_function *function, uint64_t pc,
			 uint32_t *size);

/* A function and a line in it; strings are offsets into a text. */
struct pmp_go_place {
	size_t function;
	size_t file;   /* SIZE_MAX: unknown */
	unsigned line; /* 0: unknown */
};
/*
 * Fill places, up to limit, with the functions at pc: the innermost inlined one first, the
 * function itself last. Appends NUL-terminated strings to text. with_lines: also fill in
 * file and line. Returns the number of places; 0: unknown, or no memory.
 */
size_t pmp_gopclntab_places(struct pmp_gopclntab *table, uint64_t pc, bool with_lines,
			    struct pmp_buf *text, struct pmp_go_place *places,
			    size_t limit);

#endif
