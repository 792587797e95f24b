/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of functions that the linker of Go puts into every program and that no strip
 * removes, .gopclntab: names, files, lines, inlined calls, and how large the frame is at
 * each pc. In the layouts of Go 1.2, 1.16, 1.18 and 1.20 and later.
 *
 * Nothing is copied but what was asked for: a look-up is a binary search in the table where
 * it lies, in the file or in the memory of a target, through a struct pmp_reader. Nothing
 * in it is believed. Addresses are those that the reader takes.
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
	uint64_t text;	     /* what the functions' addresses are relative to */
	bool has_text;
	uint64_t
		func_data; /* what the offsets of function data are relative to; 0: unknown */
	unsigned quantum; /* bytes of code of one step */
	uint64_t count;	  /* functions */
	/* Where its parts are: rows of functions, names, files of compilation units, files,
	 * values by pc, functions. */
	uint64_t rows, names, units, files, values, functions;
	size_t work; /* bytes read so far, for whoever limits them */
};

/* What is known of a function. All offsets are as in the table, unchecked. */
struct pmp_go_function {
	uint64_t start, end; /* of its code */
	uint64_t at;	     /* its description in the table */
	uint32_t name, frame, file, line;
	uint32_t unit;			  /* the first of its files */
	uint32_t pc_tables, other_tables; /* how many more there are of it */
	uint32_t tables;		  /* where they begin, from `at` on */
	bool may_be_special; /* the runtime knows it by a number; before Go 1.16: unknown */
	bool is_assembly;    /* since Go 1.18, as the two that follow */
	bool is_top;	     /* of a stack: nothing has called it */
	bool switches_stacks; /* its frame's size says nothing of its caller */
};

/*
 * Take the table in [start, end) into use; memory is copied. False: there is none, or it is
 * of another processor's pointer size or of a layout that is not known.
 */
bool pmp_gopclntab_open(struct pmp_gopclntab *table, const struct pmp_reader *memory,
			uint64_t start, uint64_t end);
/* Find a table between two addresses, if no section says where it is; the first that can be
 * opened. *table is undefined if there is none. */
bool pmp_gopclntab_scan(struct pmp_gopclntab *table, const struct pmp_reader *memory,
			uint64_t start, uint64_t end);
/* Does it need what pmp_gopclntab_find_module() finds to be of use, or for inlined calls? */
bool pmp_gopclntab_needs_module(const struct pmp_gopclntab *table);
/*
 * Search the data in [start, end) for the description of the module that the table belongs
 * to: since Go 1.26 only that says where the code begins, and since 1.18 where the data of
 * functions does. False: it is not there.
 */
bool pmp_gopclntab_find_module(struct pmp_gopclntab *table, uint64_t start, uint64_t end);
/* The same from its first words, as they are in memory. */
#define PMP_GO_MODULE_WORDS 56
bool pmp_gopclntab_take_module(struct pmp_gopclntab *table,
			       const uint64_t words[PMP_GO_MODULE_WORDS]);

/* The function that covers pc. False: none does. */
bool pmp_gopclntab_find(struct pmp_gopclntab *table, uint64_t pc,
			struct pmp_go_function *function);
/* Its name is appended to text, without a NUL. False: damaged, or no memory. */
bool pmp_gopclntab_name(struct pmp_gopclntab *table,
			const struct pmp_go_function *function, struct pmp_buf *text);
/* How many bytes of stack it has in use at pc, without the return address. False: that is
 * not known. */
bool pmp_gopclntab_frame(struct pmp_gopclntab *table,
			 const struct pmp_go_function *function, uint64_t pc,
			 uint32_t *size);

/* A function and the line in it; strings are offsets in a text. */
struct pmp_go_place {
	size_t function;
	size_t file;   /* SIZE_MAX: unknown */
	unsigned line; /* 0: unknown */
};
/*
 * What is at pc, in places, of which there are limit: the innermost of the functions that
 * were inlined there first, the function itself last. Appends strings with NULs to text.
 * with_lines: fill in file and line too. Returns the number of places; 0: nothing is known,
 * or there is no memory.
 */
size_t pmp_gopclntab_places(struct pmp_gopclntab *table, uint64_t pc, bool with_lines,
			    struct pmp_buf *text, struct pmp_go_place *places,
			    size_t limit);

#endif
