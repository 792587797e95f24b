/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From symbol tables to one sorted array of names.
 *
 * Several symbols may cover an address. The one that begins last and has not ended wins;
 * with equal starts, the best name (see score() in symtab.c). Symbols without a size are
 * from hand-written assembly: they reach to the next symbol in their section, and count
 * only where no sized symbol is. Local symbols without size and type are labels, not
 * functions.
 */
#include "resolve/symbols.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "libpmp.h"
#include "resolve/address-filter.h"
#include "resolve/interval-map.h"
#include "resolve/symtab.h"

struct pmp_symbols {
	struct pmp_buf names;
	struct pmp_interval_map steps; /* address to offset in names */
	size_t count;
	bool complete;
	struct pmp_address_filter
		*asked; /* the addresses that can be named; NULL: all of them */
};

/*
 * Make a range of each symbol, from the highest address down. Symbols without a size
 * end at the next symbol or with their section; those with equal starts end together.
 */
static int make_ranges(struct pmp_symtab *table, struct pmp_intervals *ranges)
{
	uint64_t at = UINT64_MAX, after = UINT64_MAX;

	if (PMP_RESERVE(&ranges->items, &ranges->capacity, table->count))
		return PMP_ENOMEM;
	ranges->count = table->count;
	for (size_t i = table->count; i-- > 0;) {
		const struct pmp_symbol *symbol = &table->items[i];
		const struct pmp_code_range *code = pmp_symtab_code(table, symbol->start);
		uint64_t end;

		if (symbol->start != at)
			after = at;
		at = symbol->start;
		if (symbol->size > UINT64_MAX - symbol->start)
			end = UINT64_MAX;
		else if (symbol->size)
			end = symbol->start + symbol->size;
		else
			end = after < code->end ? after : code->end;
		/* Rank i: the one that begins last wins. */
		ranges->items[i] =
			(struct pmp_interval){ symbol->start, end, i, symbol->name };
	}
	return 0;
}

/* A symbol without a size at the start of, or within, one that has a size is a label: make
 * its range empty. With equal starts, those with a size come last. */
static void drop_labels(const struct pmp_symtab *table, struct pmp_interval *ranges)
{
	uint64_t reach = 0; /* of the sized symbols so far */

	for (size_t i = 0, first = 0; i < table->count; i++) {
		const struct pmp_symbol *symbol = &table->items[i];

		if (symbol->size && ranges[i].end > reach)
			reach = ranges[i].end;
		if (i + 1 < table->count && symbol[1].start == symbol->start)
			continue;
		for (; first <= i; first++) {
			if (!table->items[first].size && ranges[first].start < reach)
				ranges[first].end = ranges[first].start;
		}
	}
}

static int flatten(struct pmp_symtab *table, struct pmp_interval_map *steps)
{
	struct pmp_intervals ranges = { 0 };
	int rc = PMP_ENOMEM;

	if (pmp_symtab_sort(table) == 0)
		rc = make_ranges(table, &ranges);
	if (rc == 0) {
		drop_labels(table, ranges.items);
		rc = pmp_intervals_flatten(&ranges, steps);
	}
	pmp_intervals_free(&ranges);
	return rc;
}

static uint64_t end_of_code(void *arg, uint64_t start)
{
	return pmp_symtab_code(arg, start)->end;
}

/* Read only symbols that are asked for. 1: that is not enough, and none is kept. */
static int read_asked(struct pmp_symtab *table, struct pmp_elf *const *files,
		      size_t count, struct pmp_address_filter *asked)
{
	int rc = pmp_symtab_read(table, files, count, asked);

	if (rc == PMP_ELIMIT ||
	    (rc == 0 && !pmp_address_filter_answered(asked, end_of_code, table))) {
		pmp_symtab_free(table);
		return 1;
	}
	return rc;
}

static int build(struct pmp_symbols *symbols, struct pmp_elf *const *files, size_t count)
{
	struct pmp_symtab table = { 0 };
	int rc = 1;

	if (symbols->asked)
		rc = read_asked(&table, files, count, symbols->asked);
	if (rc == 1) {
		pmp_address_filter_free(symbols->asked);
		symbols->asked = NULL;
		rc = pmp_symtab_read(&table, files, count, NULL);
	}
	if (rc == 0)
		rc = flatten(&table, &symbols->steps);
	symbols->count = table.seen;
	symbols->complete = table.complete;
	symbols->names = table.names;
	table.names = (struct pmp_buf){ 0 };
	pmp_symtab_free(&table);
	return rc;
}

struct pmp_symbols *pmp_symbols_new(struct pmp_elf *const *files, size_t count,
				    const uint64_t *asked, size_t asked_count)
{
	struct pmp_symbols *symbols = calloc(1, sizeof(*symbols));

	if (!symbols)
		return NULL;
	if (pmp_symtab_few_asked(files, count, asked_count))
		symbols->asked = pmp_address_filter_new(asked, asked_count);
	if (build(symbols, files, count) == 0)
		return symbols;
	pmp_symbols_free(symbols);
	return NULL;
}

void pmp_symbols_free(struct pmp_symbols *symbols)
{
	if (!symbols)
		return;
	pmp_buf_free(&symbols->names);
	pmp_interval_map_free(&symbols->steps);
	pmp_address_filter_free(symbols->asked);
	free(symbols);
}

bool pmp_symbols_all(const struct pmp_symbols *symbols)
{
	return !symbols->asked;
}

bool pmp_symbols_know(const struct pmp_symbols *symbols, uint64_t address)
{
	return !symbols->asked || pmp_address_filter_has(symbols->asked, address);
}

const char *pmp_symbols_find(const struct pmp_symbols *symbols, uint64_t address)
{
	uint32_t name = pmp_interval_map_find(&symbols->steps, address);

	return name == PMP_INTERVAL_NONE ? NULL : symbols->names.data + name;
}

size_t pmp_symbols_count(const struct pmp_symbols *symbols)
{
	return symbols->count;
}

bool pmp_symbols_complete(const struct pmp_symbols *symbols)
{
	return symbols->complete;
}
