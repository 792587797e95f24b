/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Symbol tables to one sorted array of names.
 *
 * Many symbols may lie over an address. The one that begins last and has not
 * ended wins; of several that begin together the best name wins (see score()).
 * Symbols without a size are hand-written assembly: they reach to the next symbol
 * of their section, and count only where no sized symbol is. Local ones without
 * size and type are labels, and no functions.
 */
#include "resolve/symbols.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "libpmp.h"
#include "resolve/ranges.h"

#define SYMBOLS_MAX ((size_t)32 << 20) /* taken from all tables of a module */
#define NAMES_MAX ((size_t)2 << 30)    /* bytes of all names */
#define NAME_MAX_LENGTH 65535	       /* longer ones are left out */

struct symbol {
	uint64_t start;
	uint64_t size;	/* 0: unknown */
	uint32_t name;	/* offset in names */
	uint32_t score; /* lower is better */
};

struct section {
	uint64_t start, end;
};

struct pmp_symbols {
	struct pmp_buf names;	/* string tables, one after the other */
	struct pmp_steps steps; /* address to offset in names */
	size_t count;
	bool complete;
};

struct builder {
	struct pmp_buf *names;
	struct symbol *symbols; /* once sorted, of the same index as ranges */
	size_t count, capacity;
	struct section *code; /* executable sections, ascending */
	size_t code_count;
	const struct section *last; /* in which an address was, or NULL */
	struct pmp_ranges ranges;
	bool complete;
};

static int section_order(const void *a, const void *b)
{
	const struct section *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Where code is: sections, else (their table was cut off) segments. */
static int read_code(struct builder *builder, const struct pmp_elf *elf)
{
	Elf_Scn *section = NULL;
	size_t capacity = 0;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf->elf, section))) {
		const uint64_t wanted = SHF_ALLOC | SHF_EXECINSTR;

		if (!gelf_getshdr(section, &header) ||
		    (header.sh_flags & wanted) != wanted ||
		    header.sh_size > UINT64_MAX - header.sh_addr)
			continue;
		if (PMP_RESERVE(&builder->code, &capacity, builder->code_count + 1))
			return PMP_ENOMEM;
		builder->code[builder->code_count++] =
			(struct section){ header.sh_addr,
					  header.sh_addr + header.sh_size };
	}
	for (size_t i = 0; i < elf->code_count && !section && !capacity; i++) {
		const struct pmp_elf_code *code = &elf->code[i];

		if (code->size > UINT64_MAX - code->address)
			continue;
		builder->code = calloc(1, sizeof(*builder->code));
		if (!builder->code)
			return PMP_ENOMEM;
		capacity = builder->code_count = 1;
		*builder->code =
			(struct section){ code->address, code->address + code->size };
	}
	if (builder->code_count)
		qsort(builder->code, builder->code_count, sizeof(*builder->code),
		      section_order);
	return 0;
}

/* The next symbol is mostly in the same section. */
static const struct section *section_at(struct builder *builder, uint64_t address)
{
	const struct section *end = builder->code + builder->code_count;
	const struct section *found = builder->last;
	size_t after;

	if (!found || address < found->start ||
	    (found + 1 < end && address >= found[1].start)) {
		after = pmp_ranges_after(builder->code, builder->code_count,
					 sizeof(*builder->code), address);
		found = after ? &builder->code[after - 1] : NULL;
		builder->last = found;
	}
	return found && address < found->end ? found : NULL;
}

/* $x, $d.12 and the like mark code and data, and are no functions. */
static bool mapping_symbol(const char *name)
{
	return name[0] == '$' && name[1] && strchr("adtx", name[1]) &&
	       (name[2] == '\0' || name[2] == '.');
}

/* In this order: has a size, is a function, how it is bound, few leading
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

static bool wanted(const Elf64_Sym *symbol)
{
	int type = ELF64_ST_TYPE(symbol->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE) &&
	       symbol->st_shndx != SHN_UNDEF && symbol->st_shndx != SHN_ABS &&
	       symbol->st_shndx != SHN_COMMON && symbol->st_name != 0;
}

/* The name at an offset of builder->names, which ends with a NUL. Its version is
 * cut off where it lies: who shares the end of a name shares the version. */
static int add_symbol(struct builder *builder, const Elf64_Sym *symbol, uint32_t offset)
{
	char *name = builder->names->data + offset;
	char *end = name[0] ? strchrnul(name + 1, '@') : name;
	size_t length = (size_t)(end - name);
	bool untyped = ELF64_ST_TYPE(symbol->st_info) == STT_NOTYPE;
	bool label = untyped && symbol->st_size == 0 &&
		     (name[0] == '.' || ELF64_ST_BIND(symbol->st_info) == STB_LOCAL);

	if (length == 0 || length > NAME_MAX_LENGTH || mapping_symbol(name) || label ||
	    !section_at(builder, symbol->st_value))
		return 0;
	if (builder->count == builder->capacity &&
	    PMP_RESERVE(&builder->symbols, &builder->capacity, builder->count + 1))
		return PMP_ENOMEM;
	*end = '\0';
	builder->symbols[builder->count++] = (struct symbol){
		.start = symbol->st_value,
		.size = symbol->st_size,
		.name = offset,
		.score = score(symbol, name, (uint32_t)length),
	};
	return 0;
}

static int add_symbols(struct builder *builder, const Elf_Data *table, size_t first)
{
	size_t count = table->d_size / sizeof(Elf64_Sym);

	for (size_t i = 1; i < count && builder->count < SYMBOLS_MAX; i++) {
		Elf64_Sym symbol;

		/* Its bytes are in our order: open_checked() has seen to it. */
		memcpy(&symbol, (char *)table->d_buf + i * sizeof(symbol),
		       sizeof(symbol));
		if (!wanted(&symbol) || symbol.st_name >= builder->names->length - first)
			continue;
		if (add_symbol(builder, &symbol, (uint32_t)(first + symbol.st_name)))
			return PMP_ENOMEM;
	}
	return 0;
}

static int read_table(struct builder *builder, const struct pmp_elf *elf,
		      Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Scn *name_section = elf_getscn(elf->elf, header->sh_link);
	const Elf_Data *table = pmp_elf_data(elf, section);
	struct pmp_buf *names = builder->names;
	size_t first = names->length;
	GElf_Shdr name_header;

	if (!table || header->sh_entsize != sizeof(Elf64_Sym) ||
	    !gelf_getshdr(name_section, &name_header) ||
	    name_header.sh_size > NAMES_MAX - first)
		return 0;
	if (!pmp_elf_append(elf, name_section, names))
		return pmp_buf_failed(names) ? PMP_ENOMEM : 0;
	/* A last name without an end would go on in what follows. */
	if (names->data[names->length - 1] != '\0') {
		pmp_buf_cut(names, first);
		return 0;
	}
	return add_symbols(builder, table, first);
}

static int read_tables(struct builder *builder, const struct pmp_elf *elf, bool *full)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf->elf, section))) {
		if (!gelf_getshdr(section, &header) ||
		    (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM))
			continue;
		if (header.sh_type == SHT_SYMTAB)
			*full = true;
		if (read_table(builder, elf, section, &header))
			return PMP_ENOMEM;
	}
	return 0;
}

/*
 * By start, digit by digit of those in which the starts differ: a tenth of what
 * qsort() takes, which has all of a large program's symbols to compare here.
 */
static int sort_by_start(struct builder *builder)
{
	struct symbol *from = builder->symbols;
	struct symbol *to = malloc(builder->count * sizeof(*to) + 1);
	uint64_t differing = 0;

	if (!to)
		return PMP_ENOMEM;
	for (size_t i = 0; i < builder->count; i++)
		differing |= from[i].start ^ from[0].start;
	for (unsigned shift = 0; shift < 64; shift += 8) {
		size_t places[257] = { 0 };
		struct symbol *sorted = to;

		if (!(differing >> shift & 0xff))
			continue;
		for (size_t i = 0; i < builder->count; i++)
			places[(from[i].start >> shift & 0xff) + 1]++;
		for (size_t i = 0; i < 256; i++)
			places[i + 1] += places[i];
		for (size_t i = 0; i < builder->count; i++)
			to[places[from[i].start >> shift & 0xff]++] = from[i];
		to = from;
		from = sorted;
	}
	builder->symbols = from;
	free(to);
	return 0;
}

/* Of those that begin together the best one comes last. */
static int better_last(const void *a, const void *b, void *names)
{
	const struct symbol *x = a, *y = b;
	int order;

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	order = strcmp((char *)names + y->name, (char *)names + x->name);
	return order ? order : (x->size > y->size) - (x->size < y->size);
}

static int sort_symbols(struct builder *builder)
{
	if (sort_by_start(builder))
		return PMP_ENOMEM;
	for (size_t first = 0, i = 1; i <= builder->count; i++) {
		const struct symbol *same = &builder->symbols[first];

		if (i < builder->count && builder->symbols[i].start == same->start)
			continue;
		if (i - first > 1)
			qsort_r(&builder->symbols[first], i - first, sizeof(*same),
				better_last, builder->names->data);
		first = i;
	}
	return 0;
}

/* Aliases, and the same symbol in several tables. */
static void drop_doubles(struct builder *builder)
{
	size_t kept = 0;

	/* The better one comes last. */
	for (size_t i = 0; i < builder->count; i++) {
		const struct symbol *this = &builder->symbols[i];

		if (kept && builder->symbols[kept - 1].start == this->start &&
		    builder->symbols[kept - 1].size == this->size)
			kept--;
		builder->symbols[kept++] = *this;
	}
	builder->count = kept;
}

/*
 * Symbols without a size end at the next symbol or with their section. From the
 * highest address down; those that begin together end together.
 */
static int make_ranges(struct builder *builder)
{
	struct pmp_ranges *ranges = &builder->ranges;
	uint64_t at = UINT64_MAX, after = UINT64_MAX;

	if (PMP_RESERVE(&ranges->items, &ranges->capacity, builder->count))
		return PMP_ENOMEM;
	ranges->count = builder->count;
	for (size_t i = builder->count; i-- > 0;) {
		const struct symbol *symbol = &builder->symbols[i];
		const struct section *section = section_at(builder, symbol->start);
		uint64_t end;

		if (symbol->start != at)
			after = at;
		at = symbol->start;
		if (symbol->size > UINT64_MAX - symbol->start)
			end = UINT64_MAX;
		else if (symbol->size)
			end = symbol->start + symbol->size;
		else
			end = after < section->end ? after : section->end;
		/* That which begins last wins. */
		ranges->items[i] =
			(struct pmp_range){ symbol->start, end, i, symbol->name };
	}
	return 0;
}

/* At or within a symbol that has a size, one without is a label: it stays empty.
 * Of those that begin together, the ones with a size come last. */
static void drop_labels(struct builder *builder)
{
	struct pmp_range *ranges = builder->ranges.items;
	uint64_t reach = 0; /* of the sized symbols so far */

	for (size_t i = 0, first = 0; i < builder->count; i++) {
		const struct symbol *symbol = &builder->symbols[i];

		if (symbol->size && ranges[i].end > reach)
			reach = ranges[i].end;
		if (i + 1 < builder->count && symbol[1].start == symbol->start)
			continue;
		for (; first <= i; first++) {
			if (!builder->symbols[first].size && ranges[first].start < reach)
				ranges[first].end = ranges[first].start;
		}
	}
}

static int build(struct builder *builder, struct pmp_symbols *symbols)
{
	if (sort_symbols(builder))
		return PMP_ENOMEM;
	drop_doubles(builder);
	if (make_ranges(builder))
		return PMP_ENOMEM;
	drop_labels(builder);
	symbols->count = builder->count;
	symbols->complete = builder->complete;
	return pmp_ranges_flatten(&builder->ranges, &symbols->steps);
}

struct pmp_symbols *pmp_symbols_new(struct pmp_elf *const *files, size_t count)
{
	struct pmp_symbols *symbols = calloc(1, sizeof(*symbols));
	struct builder builder = { .names = &symbols->names };
	int rc = 0;

	if (!symbols)
		return NULL;
	for (size_t i = 0; i < count && rc == 0; i++) {
		if (!files[i] || !files[i]->elf)
			continue;
		/* Sections of the module itself: it has the segments at least. */
		if (!builder.code)
			rc = read_code(&builder, files[i]);
		if (rc == 0)
			rc = read_tables(&builder, files[i], &builder.complete);
	}
	if (rc == 0)
		rc = build(&builder, symbols);
	free(builder.symbols);
	free(builder.code);
	pmp_ranges_free(&builder.ranges);
	if (rc == 0)
		return symbols;
	pmp_symbols_free(symbols);
	return NULL;
}

void pmp_symbols_free(struct pmp_symbols *symbols)
{
	if (!symbols)
		return;
	pmp_buf_free(&symbols->names);
	pmp_steps_free(&symbols->steps);
	free(symbols);
}

const char *pmp_symbols_find(const struct pmp_symbols *symbols, uint64_t address)
{
	uint32_t name = pmp_steps_find(&symbols->steps, address);

	return name == PMP_RANGE_NONE ? NULL : symbols->names.data + name;
}

size_t pmp_symbols_count(const struct pmp_symbols *symbols)
{
	return symbols->count;
}

bool pmp_symbols_complete(const struct pmp_symbols *symbols)
{
	return symbols->complete;
}
