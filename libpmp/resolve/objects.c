/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The symbols of data, in one sorted array. Only their own names are kept, not those of
 * functions in the same tables. If several symbols cover an address, the one that begins
 * last wins; with equal starts, the best name (see score() in symtab.c).
 */
#include "resolve/objects.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "libpmp.h"
#include "resolve/interval-map.h"
#include "resolve/strings.h"
#include "resolve/symtab.h"

#define SEGMENTS_MAX 4096 /* as in elf.c */

struct segment {
	uint64_t start, end; /* ELF addresses */
};

struct data_symbol {
	uint64_t start;
	size_t name; /* offset in names */
};

struct pmp_objects {
	uint64_t bias; /* ELF address minus distance */
	struct segment *segments;
	size_t segment_count, segment_capacity;
	struct pmp_buf names;
	struct data_symbol *symbols;
	size_t symbol_count;
	struct pmp_interval_map steps;	  /* address to index of symbols */
	struct pmp_address_filter *asked; /* what can be named; NULL: all */
};

/* ---- segments ---------------------------------------------------------------- */

/* The mapping of the file begins with the lowest segment. */
static int read_segments(struct pmp_objects *objects, const struct pmp_elf *elf)
{
	uint64_t lowest = UINT64_MAX;
	size_t count;
	GElf_Phdr header;

	if (elf_getphdrnum(elf->elf, &count) != 0 || count > SEGMENTS_MAX)
		return 0;
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(elf->elf, (int)i, &header) ||
		    header.p_type != PT_LOAD ||
		    header.p_memsz > UINT64_MAX - header.p_vaddr)
			continue;
		if (PMP_RESERVE(&objects->segments, &objects->segment_capacity,
				objects->segment_count + 1))
			return PMP_ENOMEM;
		if (header.p_vaddr < lowest) {
			lowest = header.p_vaddr;
			objects->bias = header.p_vaddr - header.p_offset;
		}
		objects->segments[objects->segment_count++] =
			(struct segment){ header.p_vaddr,
					  header.p_vaddr + header.p_memsz };
	}
	return 0;
}

bool pmp_objects_address(const struct pmp_objects *objects, uint64_t distance,
			 uint64_t *address)
{
	*address = distance + objects->bias;
	for (size_t i = 0; i < objects->segment_count; i++) {
		if (*address >= objects->segments[i].start &&
		    *address < objects->segments[i].end)
			return true;
	}
	return false;
}

/* ---- symbols ------------------------------------------------------------------ */

/* Keep a symbol with its name, of which a bit more than what is shown. */
static int keep_symbol(struct pmp_objects *objects, const char *name,
		       const struct pmp_symbol *symbol, struct pmp_intervals *ranges)
{
	const struct pmp_interval range = {
		.start = symbol->start,
		.end = symbol->size > UINT64_MAX - symbol->start
			       ? UINT64_MAX
			       : symbol->start + symbol->size,
		.rank = objects->symbol_count,
		.value = (uint32_t)objects->symbol_count,
	};

	objects->symbols[objects->symbol_count++] =
		(struct data_symbol){ symbol->start, objects->names.length };
	pmp_buf_add(&objects->names, name, strnlen(name, PMP_NAME_MAX + 1));
	pmp_buf_putc(&objects->names, '\0');
	return pmp_intervals_add(ranges, &range);
}

static int keep_symbols(struct pmp_objects *objects, struct pmp_symtab *table)
{
	struct pmp_intervals ranges = { 0 };
	int code = pmp_symtab_sort(table);

	if (code)
		return code;
	objects->symbols = calloc(table->count + 1, sizeof(*objects->symbols));
	if (!objects->symbols)
		return PMP_ENOMEM;
	for (size_t i = 0; i < table->count && !code; i++) {
		const struct pmp_symbol *symbol = &table->items[i];

		code = keep_symbol(objects, table->names.data + symbol->name, symbol,
				   &ranges);
	}
	if (!code && !pmp_buf_failed(&objects->names))
		code = pmp_intervals_flatten(&ranges, &objects->steps);
	pmp_intervals_free(&ranges);
	return pmp_buf_failed(&objects->names) ? PMP_ENOMEM : code;
}

static int read_symbols(struct pmp_objects *objects, struct pmp_elf *const *files,
			size_t count)
{
	struct pmp_symtab table = { .of_data = true };
	int code = pmp_symtab_read(&table, files, count, objects->asked);

	if (code == PMP_ELIMIT && objects->asked) {
		pmp_symtab_free(&table);
		pmp_address_filter_free(objects->asked);
		objects->asked = NULL;
		table = (struct pmp_symtab){ .of_data = true };
		code = pmp_symtab_read(&table, files, count, NULL);
	}
	if (!code)
		code = keep_symbols(objects, &table);
	pmp_symtab_free(&table);
	return code;
}

bool pmp_objects_know(const struct pmp_objects *objects, uint64_t address)
{
	return !objects->asked || pmp_address_filter_has(objects->asked, address);
}

const char *pmp_objects_find(const struct pmp_objects *objects, uint64_t address,
			     uint64_t *start)
{
	uint32_t i = pmp_interval_map_find(&objects->steps, address);

	if (i == PMP_INTERVAL_NONE)
		return NULL;
	*start = objects->symbols[i].start;
	return objects->names.data + objects->symbols[i].name;
}

size_t pmp_objects_count(const struct pmp_objects *objects)
{
	return objects->symbol_count;
}

/* ---- life --------------------------------------------------------------------- */

/* Convert distances to addresses; without memory all symbols will be read. */
static void set_asked(struct pmp_objects *objects, const uint64_t *asked, size_t count)
{
	uint64_t *addresses = calloc(count, sizeof(*addresses));

	for (size_t i = 0; i < count && addresses; i++)
		pmp_objects_address(objects, asked[i], &addresses[i]);
	if (addresses)
		objects->asked = pmp_address_filter_new(addresses, count);
	free(addresses);
}

struct pmp_objects *pmp_objects_new(struct pmp_elf *const *files, size_t count,
				    bool only_segments, const uint64_t *asked,
				    size_t asked_count)
{
	struct pmp_objects *objects = calloc(1, sizeof(*objects));

	if (!objects)
		return NULL;
	if (read_segments(objects, files[0]) == 0) {
		if (pmp_symtab_few_asked(files, count, asked_count))
			set_asked(objects, asked, asked_count);
		if (only_segments || read_symbols(objects, files, count) == 0)
			return objects;
	}
	pmp_objects_free(objects);
	return NULL;
}

void pmp_objects_free(struct pmp_objects *objects)
{
	if (!objects)
		return;
	free(objects->segments);
	free(objects->symbols);
	pmp_buf_free(&objects->names);
	pmp_interval_map_free(&objects->steps);
	pmp_address_filter_free(objects->asked);
	free(objects);
}
