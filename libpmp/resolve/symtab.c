/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See symtab.h. */
#include "resolve/symtab.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/search.h"
#include "libpmp.h"
#include "resolve/strings.h"

#define SYMBOLS_MAX ((size_t)32 << 20) /* taken from all tables of a module */
#define NAMES_MAX ((size_t)512 << 20)  /* bytes of all names */
#define NAME_READ 256		       /* of one name at a time */
#define READ_COUNT 512		       /* symbols at a time */
#define ASKED_MIN 1000		       /* symbols: of fewer, read all at once */
#define ASKED_SHARE 4		       /* likewise, of fewer than this per address */
#define ASKED_MAX 16384		       /* symbols taken for addresses asked for */

/* One table, with the strings that it refers to. */
struct table_source {
	const struct pmp_elf *elf;
	Elf_Scn *symbols, *strings;
	size_t count;
	uint64_t strings_size;
	size_t first; /* start of its strings in names, if all were read */
};

/* ---- code ----------------------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
	const struct pmp_code_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Find out where code is: in executable sections or, if the file has no table of sections,
 * in the first executable segment. */
static int read_code(struct pmp_symtab *table, const struct pmp_elf *elf)
{
	const uint64_t kind = SHF_ALLOC | SHF_EXECINSTR | (table->of_data ? SHF_TLS : 0);
	const uint64_t wanted = SHF_ALLOC | (table->of_data ? 0 : SHF_EXECINSTR);
	Elf_Scn *section = NULL;
	size_t capacity = 0;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf->elf, section))) {
		if (!gelf_getshdr(section, &header) ||
		    (header.sh_flags & kind) != wanted ||
		    header.sh_size > UINT64_MAX - header.sh_addr)
			continue;
		if (PMP_RESERVE(&table->code, &capacity, table->code_count + 1))
			return PMP_ENOMEM;
		table->code[table->code_count++] =
			(struct pmp_code_range){ header.sh_addr,
						 header.sh_addr + header.sh_size };
	}
	for (size_t i = 0; i < elf->code_count && !section && !capacity; i++) {
		const struct pmp_elf_code *code = &elf->code[i];

		if (code->size > UINT64_MAX - code->address)
			continue;
		table->code = calloc(1, sizeof(*table->code));
		if (!table->code)
			return PMP_ENOMEM;
		capacity = table->code_count = 1;
		*table->code = (struct pmp_code_range){ code->address,
							code->address + code->size };
	}
	if (table->code_count)
		qsort(table->code, table->code_count, sizeof(*table->code), by_start);
	return 0;
}

/* The next symbol is mostly in the same section, so the last result is checked first. */
const struct pmp_code_range *pmp_symtab_code(struct pmp_symtab *table, uint64_t address)
{
	const struct pmp_code_range *found = table->last, *end;
	size_t after;

	if (table->code_count == 0)
		return NULL;
	end = table->code + table->code_count;
	if (!found || address < found->start ||
	    (found + 1 < end && address >= found[1].start)) {
		after = pmp_search_after(table->code, table->code_count,
					 sizeof(*table->code), address);
		found = after ? &table->code[after - 1] : NULL;
		table->last = found;
	}
	return found && address < found->end ? found : NULL;
}

/* ---- symbols ---------------------------------------------------------------- */

/* $x, $d.12 and the like mark code and data; they are not functions. */
static bool mapping_symbol(const char *name)
{
	return name[0] == '$' && name[1] && strchr("adtx", name[1]) &&
	       (name[2] == '\0' || name[2] == '.');
}

/* Criteria, most important first: has a size, is a function, binding, few leading
 * underscores and dots, short. */
static uint32_t score(const Elf64_Sym *symbol, const char *name, uint32_t length)
{
	static const uint8_t bind_score[16] = {
		[STB_LOCAL] = 2,
		[STB_WEAK] = 1,
		[STB_GLOBAL] = 0,
	};
	uint32_t leading = 0;

	while (leading < 63 && (name[leading] == '_' || name[leading] == '.'))
		leading++;
	return (uint32_t)(symbol->st_size == 0) << 30 |
	       (uint32_t)(ELF64_ST_TYPE(symbol->st_info) == STT_NOTYPE) << 29 |
	       (uint32_t)bind_score[ELF64_ST_BIND(symbol->st_info)] << 27 |
	       leading << 16 | length;
}

static bool wanted(const struct pmp_symtab *table, const Elf64_Sym *symbol)
{
	int type = ELF64_ST_TYPE(symbol->st_info);
	bool function = type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;

	return (table->of_data ? type == STT_OBJECT && symbol->st_size : function) &&
	       symbol->st_shndx != SHN_UNDEF && symbol->st_shndx != SHN_ABS &&
	       symbol->st_shndx != SHN_COMMON && symbol->st_name != 0;
}

/* Symbols without size and type are labels if they are local or begin with a dot. */
static bool may_be_label(const Elf64_Sym *symbol)
{
	return symbol->st_size == 0 && ELF64_ST_TYPE(symbol->st_info) == STT_NOTYPE;
}

static bool local(const Elf64_Sym *symbol)
{
	return ELF64_ST_BIND(symbol->st_info) == STB_LOCAL;
}

/* The end of a name: its version, its NUL, or just beyond what is kept of it. */
static char *end_of_name(const struct pmp_symtab *table, char *name)
{
	size_t length;
	char *version;

	if (!name[0] || !table->long_names)
		return name[0] ? strchrnul(name + 1, '@') : name;
	length = strnlen(name, PMP_NAME_MAX + 1);
	version = memchr(name + 1, '@', length - 1);
	return version ? version : name + length;
}

/* Add a symbol with the name at an offset of names. The version is cut off in place, as
 * names that share their end share the version. */
static int add_symbol(struct pmp_symtab *table, const Elf64_Sym *symbol, uint32_t offset)
{
	char *name = table->names.data + offset;
	char *end = end_of_name(table, name);
	size_t length = (size_t)(end - name);

	if (length == 0 || mapping_symbol(name) ||
	    (may_be_label(symbol) && name[0] == '.'))
		return 0;
	if (table->count == table->capacity &&
	    PMP_RESERVE(&table->items, &table->capacity, table->count + 1))
		return PMP_ENOMEM;
	if (length <= PMP_NAME_MAX)
		*end = '\0';
	table->items[table->count++] = (struct pmp_symbol){
		.start = symbol->st_value,
		.size = symbol->st_size,
		.name = offset,
		.score = score(symbol, name, (uint32_t)length),
	};
	return 0;
}

/* Append one name to names; of a long one, a bit more than is kept. False: damaged, or out
 * of memory. */
static bool read_name(struct pmp_symtab *table, const struct table_source *source,
		      uint64_t offset)
{
	struct pmp_buf *names = &table->names;
	size_t before = names->length, n;
	char text[NAME_READ];

	for (uint64_t at = offset; at - offset <= PMP_NAME_MAX; at += n) {
		n = sizeof(text);
		if (at < source->strings_size && n > source->strings_size - at)
			n = source->strings_size - at;
		if (at >= source->strings_size ||
		    !pmp_elf_read(source->elf, source->strings, at, text, n)) {
			if (!pmp_buf_failed(names))
				pmp_buf_cut(names, before);
			return false;
		}
		pmp_buf_add(names, text, strnlen(text, n));
		if (memchr(text, '\0', n))
			break;
	}
	pmp_buf_putc(names, '\0');
	return !pmp_buf_failed(names);
}

/* Take a symbol, if wanted. Without a filter all names have been read; with one, the name
 * is read if the symbol passes. */
static int take_symbol(struct pmp_symtab *table, const struct table_source *source,
		       const Elf64_Sym *symbol, struct pmp_address_filter *filter)
{
	size_t offset = source->first + symbol->st_name;

	if (!wanted(table, symbol) || symbol->st_name >= source->strings_size ||
	    (may_be_label(symbol) && local(symbol)) ||
	    !pmp_symtab_code(table, symbol->st_value))
		return 0;
	table->seen++;
	if (filter) {
		if (!pmp_address_filter_covers(filter, symbol->st_value, symbol->st_size))
			return 0;
		if (table->count == ASKED_MAX)
			return PMP_ELIMIT;
		offset = table->names.length;
		if (!read_name(table, source, symbol->st_name))
			return pmp_buf_failed(&table->names) ? PMP_ENOMEM : 0;
	}
	return add_symbol(table, symbol, (uint32_t)offset);
}

/* The bytes of symbols are in our order: open_checked() makes sure of that. */
static int take_symbols(struct pmp_symtab *table, const struct table_source *source,
			struct pmp_address_filter *filter)
{
	Elf64_Sym symbols[READ_COUNT];
	size_t n = READ_COUNT;
	int rc;

	for (size_t first = 1; first < source->count; first += n) {
		if (n > source->count - first)
			n = source->count - first;
		if (!pmp_elf_read(source->elf, source->symbols, first * sizeof(*symbols),
				  symbols, n * sizeof(*symbols)))
			return 0;
		for (size_t i = 0; i < n; i++) {
			if (table->count == SYMBOLS_MAX)
				return 0;
			rc = take_symbol(table, source, &symbols[i], filter);
			if (rc)
				return rc;
		}
	}
	return 0;
}

/* Append all strings of a table. False: damaged, or out of memory. */
static bool append_strings(struct pmp_symtab *table, struct table_source *source)
{
	struct pmp_buf *names = &table->names;

	source->first = names->length;
	if (source->strings_size > NAMES_MAX - source->first ||
	    !pmp_elf_append(source->elf, source->strings, names))
		return false;
	for (size_t at = source->first; names->length - at > PMP_NAME_MAX;
	     at += PMP_NAME_MAX) {
		if (!memchr(names->data + at, '\0', PMP_NAME_MAX))
			table->long_names = true;
	}
	/* A last name without a NUL would continue in what follows. */
	if (names->data[names->length - 1] == '\0')
		return true;
	pmp_buf_cut(names, source->first);
	return false;
}

static bool is_table(Elf_Scn *section, GElf_Shdr *header)
{
	return gelf_getshdr(section, header) &&
	       (header->sh_type == SHT_SYMTAB || header->sh_type == SHT_DYNSYM) &&
	       header->sh_entsize == sizeof(Elf64_Sym);
}

static int read_table(struct pmp_symtab *table, const struct pmp_elf *elf,
		      Elf_Scn *section, const GElf_Shdr *header,
		      struct pmp_address_filter *filter)
{
	struct table_source source = {
		.elf = elf,
		.symbols = section,
		.strings = elf_getscn(elf->elf, header->sh_link),
		.count = header->sh_size / sizeof(Elf64_Sym),
	};
	GElf_Shdr strings;

	if (!gelf_getshdr(source.strings, &strings))
		return 0;
	source.strings_size = strings.sh_size;
	if (!filter && !append_strings(table, &source))
		return pmp_buf_failed(&table->names) ? PMP_ENOMEM : 0;
	return take_symbols(table, &source, filter);
}

static size_t symtab_size(const struct pmp_elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t size = 0;

	while (elf->elf && (section = elf_nextscn(elf->elf, section))) {
		if (is_table(section, &header) && header.sh_size <= elf->size)
			size += header.sh_size / sizeof(Elf64_Sym);
	}
	return size;
}

bool pmp_symtab_few_asked(struct pmp_elf *const *files, size_t count, size_t asked)
{
	size_t symbols = 0;

	for (size_t i = 0; i < count; i++) {
		if (!files[i] || !files[i]->elf)
			continue;
		if (files[i]->from < 0)
			return false;
		symbols += symtab_size(files[i]);
	}
	return asked && symbols >= ASKED_MIN && symbols / ASKED_SHARE >= asked;
}

int pmp_symtab_read(struct pmp_symtab *table, struct pmp_elf *const *files, size_t count,
		    struct pmp_address_filter *filter)
{
	for (size_t i = 0; i < count; i++) {
		const struct pmp_elf *elf = files[i];
		Elf_Scn *section = NULL;
		GElf_Shdr header;

		int rc;

		if (!elf || !elf->elf)
			continue;
		/* From the first open file, mostly the module itself. */
		if (!table->code && read_code(table, elf))
			return PMP_ENOMEM;
		while ((section = elf_nextscn(elf->elf, section))) {
			if (!is_table(section, &header))
				continue;
			if (header.sh_type == SHT_SYMTAB)
				table->complete = true;
			rc = read_table(table, elf, section, &header, filter);
			if (rc)
				return rc;
		}
	}
	return 0;
}

/* ---- order ------------------------------------------------------------------ */

/*
 * A radix sort by start, skipping bytes in which the starts do not differ. For all
 * symbols of a large program this takes a tenth of the time of qsort().
 */
static int sort_by_start(struct pmp_symtab *table)
{
	struct pmp_symbol *from = table->items;
	struct pmp_symbol *to = malloc(table->count * sizeof(*to) + 1);
	uint64_t differing = 0;

	if (!to)
		return PMP_ENOMEM;
	for (size_t i = 0; i < table->count; i++)
		differing |= from[i].start ^ from[0].start;
	for (unsigned shift = 0; shift < 64; shift += 8) {
		size_t places[257] = { 0 };
		struct pmp_symbol *sorted = to;

		if (!(differing >> shift & 0xff))
			continue;
		for (size_t i = 0; i < table->count; i++)
			places[(from[i].start >> shift & 0xff) + 1]++;
		for (size_t i = 0; i < 256; i++)
			places[i + 1] += places[i];
		for (size_t i = 0; i < table->count; i++)
			to[places[from[i].start >> shift & 0xff]++] = from[i];
		to = from;
		from = sorted;
	}
	table->items = from;
	free(to);
	return 0;
}

/* With equal starts the best symbol comes last; with equal scores the one that ends first,
 * as the others continue after its end. Names are not compared: that could take minutes, as
 * a file can have millions of symbols whose names are all parts of a long one. */
static int better_last(const void *a, const void *b)
{
	const struct pmp_symbol *x = a, *y = b;

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	return (x->size < y->size) - (x->size > y->size);
}

static bool same_range(const struct pmp_symbol *x, const struct pmp_symbol *y)
{
	return x->start == y->start && x->size == y->size;
}

/* The better score; else the lower name, as far as kept; else the first in the table. */
static bool better(const struct pmp_symtab *table, const struct pmp_symbol *x,
		   const struct pmp_symbol *y)
{
	const char *names = table->names.data;
	int order = 0;

	if (x->score != y->score)
		return x->score < y->score;
	if (x->name != y->name)
		order = strncmp(names + x->name, names + y->name, PMP_NAME_MAX + 1);
	return order ? order < 0 : x->name < y->name;
}

/* Drop aliases, and the same symbol in several tables. */
static void drop_doubles(struct pmp_symtab *table)
{
	struct pmp_symbol *items = table->items;
	size_t kept = 0;

	for (size_t i = 0; i < table->count; i++) {
		if (!kept || !same_range(&items[kept - 1], &items[i]))
			items[kept++] = items[i];
		else if (better(table, &items[i], &items[kept - 1]))
			items[kept - 1] = items[i];
	}
	table->count = kept;
}

int pmp_symtab_sort(struct pmp_symtab *table)
{
	if (sort_by_start(table))
		return PMP_ENOMEM;
	for (size_t first = 0, i = 1; i <= table->count; i++) {
		const struct pmp_symbol *same = &table->items[first];

		if (i < table->count && table->items[i].start == same->start)
			continue;
		if (i - first > 1)
			qsort(&table->items[first], i - first, sizeof(*same),
			      better_last);
		first = i;
	}
	drop_doubles(table);
	return 0;
}

/* ---- life -------------------------------------------------------------------- */

void pmp_symtab_free(struct pmp_symtab *table)
{
	pmp_buf_free(&table->names);
	free(table->items);
	free(table->code);
	*table = (struct pmp_symtab){ 0 };
}
