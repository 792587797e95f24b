/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading symbol tables: find the symbols of functions (or of data) in all tables of a
 * module's files, and choose the better one of several with the same start. Which addresses
 * they cover is up to symbols.c and objects.c.
 */
#ifndef PMP_RESOLVE_SYMTAB_H
#define PMP_RESOLVE_SYMTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "resolve/address-filter.h"
#include "resolve/elf.h"

struct pmp_symbol {
	uint64_t start;
	uint64_t size;	/* 0: unknown */
	uint32_t name;	/* offset in .names */
	uint32_t score; /* lower is better */
};

struct pmp_code_range {
	uint64_t start, end;
};

struct pmp_symtab {
	bool of_data; /* set before reading: read objects that have a size; .code is
			       * where they may be */
	struct pmp_buf names; /* NUL-terminated, without versions */
	struct pmp_symbol *items;
	size_t count, capacity;
	size_t seen;		     /* functions in the tables */
	struct pmp_code_range *code; /* executable sections, ascending */
	size_t code_count;
	const struct pmp_code_range *last; /* the one found last, or NULL */
	bool complete;			   /* there was a full table */
	bool long_names;		   /* some may have 2 * PMP_NAME_MAX bytes */
};

/* Is it worthwhile to read only the names of so many addresses? Not if a file is not read
 * from a descriptor: it is no longer there when other names are needed. */
bool pmp_symtab_few_asked(struct pmp_elf *const *files, size_t count, size_t asked);
/*
 * Read the tables of files into an empty *table; NULL and closed files are skipped. With a
 * filter, keep only symbols that cover one of its addresses. 0, PMP_ENOMEM or, with a
 * filter, PMP_ELIMIT: too many cover them. *table has to be freed in any case.
 */
int pmp_symtab_read(struct pmp_symtab *table, struct pmp_elf *const *files, size_t count,
		    struct pmp_address_filter *filter);
/* Sort by start. With equal starts the best symbol comes last; with equal ends as well,
 * only the best one is kept. 0 or PMP_ENOMEM. */
int pmp_symtab_sort(struct pmp_symtab *table);
void pmp_symtab_free(struct pmp_symtab *table);
/* The range that an address is in, or NULL. */
const struct pmp_code_range *pmp_symtab_code(struct pmp_symtab *table, uint64_t address);

#endif
