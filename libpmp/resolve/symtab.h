/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading symbol tables: what may be the name of a function (or of data), out of all
 * tables of a module's files, and which of several that begin together is the better
 * one. What they cover is the business of symbols.c and objects.c.
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
	uint32_t name;	/* offset in names */
	uint32_t score; /* lower is better */
};

struct pmp_code_range {
	uint64_t start, end;
};

struct pmp_symtab {
	bool of_data; /* set before reading: objects that have a size, and "code" is
			       * where they are */
	struct pmp_buf names; /* NUL-terminated, without versions */
	struct pmp_symbol *items;
	size_t count, capacity;
	size_t seen;		     /* functions in the tables */
	struct pmp_code_range *code; /* executable sections, ascending */
	size_t code_count;
	const struct pmp_code_range *last; /* in which an address was, or NULL */
	bool complete;			   /* there was a full table */
	bool long_names;		   /* of twice PMP_NAME_MAX and more, maybe */
};

/* Is it worth it to read only what names so many addresses? Files that are not read from a
 * descriptor are not there later, when others are asked for. */
bool pmp_symtab_few_asked(struct pmp_elf *const *files, size_t count, size_t asked);
/*
 * Read the tables of files, of which NULL and closed ones are passed over, into an
 * empty *table. With filter only what covers one of these addresses is taken. 0,
 * PMP_ENOMEM or, with filter, PMP_ELIMIT: too many cover them. To be freed in any case.
 */
int pmp_symtab_read(struct pmp_symtab *table, struct pmp_elf *const *files, size_t count,
		    struct pmp_address_filter *filter);
/* By start; of those that begin together the best one comes last, and of those that also end
 * together only that one stays. 0 or PMP_ENOMEM. */
int pmp_symtab_sort(struct pmp_symtab *table);
void pmp_symtab_free(struct pmp_symtab *table);
/* The code that an address is in, or NULL. */
const struct pmp_code_range *pmp_symtab_code(struct pmp_symtab *table, uint64_t address);

#endif
