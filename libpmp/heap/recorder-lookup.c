/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finding functions after this library in load order. dlsym() would do, but it may
 * allocate, and its symbol version differs between versions of glibc.
 */
#include "heap/recorder.h"

#include <elf.h>
#include <link.h>

#define VERSION_HIDDEN 0x8000 /* not the default version of a name */

/* The tables of one module. */
struct module {
	const char *strings;
	const ElfW(Sym) * symbols;
	const uint32_t *gnu_hash;
	const uint32_t *hash;
	const uint16_t *versions;
	uintptr_t base;
};

struct lookup {
	const char *name;
	bool behind;	/* search only modules after this library */
	bool seen_self; /* this library has been visited */
	bool own;	/* search only this library */
	bool before;	/* search only modules before it */
	uint64_t size;	/* of what was found */
	const void *address;
	void *found;
	const char *path; /* of the module that address is in */
	uint64_t start, end;
};

static bool equal(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

/* Some entries hold addresses, others (musl, the vDSO) offsets. */
static const void *table_at(uintptr_t base, uintptr_t value)
{
	return (const void *)(value < base ? base + value : value);
}

static bool read_module(const struct dl_phdr_info *info, struct module *module)
{
	const ElfW(Dyn) *dynamic = NULL;

	*module = (struct module){ .base = info->dlpi_addr };
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			dynamic = (const void *)(info->dlpi_addr +
						 info->dlpi_phdr[i].p_vaddr);
	for (; dynamic && dynamic->d_tag != DT_NULL; dynamic++) {
		const void *table = table_at(module->base, dynamic->d_un.d_ptr);

		switch (dynamic->d_tag) {
		case DT_STRTAB: module->strings = table; break;
		case DT_SYMTAB: module->symbols = table; break;
		case DT_GNU_HASH: module->gnu_hash = table; break;
		case DT_HASH: module->hash = table; break;
		case DT_VERSYM: module->versions = table; break;
		default: break;
		}
	}
	return module->strings && module->symbols;
}

/* Does the symbol have this name, a definition, and the default version? */
static bool is_meant(const struct module *module, uint32_t index, const char *name)
{
	const ElfW(Sym) *symbol = &module->symbols[index];

	return symbol->st_shndx != SHN_UNDEF && symbol->st_value &&
	       !(module->versions && module->versions[index] & VERSION_HIDDEN) &&
	       equal(module->strings + symbol->st_name, name);
}

static const ElfW(Sym) * find_gnu(const struct module *module, const char *name)
{
	const uint32_t *table = module->gnu_hash;
	const uint32_t buckets = table[0], first = table[1], words = table[2];
	const uint32_t *bucket =
		table + 4 + words * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
	const uint32_t *chain = bucket + buckets;
	uint32_t hash = 5381, index;

	for (const char *c = name; *c; c++)
		hash = hash * 33 + (unsigned char)*c;
	index = buckets ? bucket[hash % buckets] : 0;
	for (; index >= first && index; index++) {
		const uint32_t has = chain[index - first];

		if ((has | 1) == (hash | 1) && is_meant(module, index, name))
			return &module->symbols[index];
		if (has & 1)
			break;
	}
	return NULL;
}

static const ElfW(Sym) * find_old(const struct module *module, const char *name)
{
	const uint32_t buckets = module->hash[0];
	const uint32_t *chain = module->hash + 2 + buckets;
	uint32_t hash = 0;

	for (const char *c = name; *c; c++) {
		hash = (hash << 4) + (unsigned char)*c;
		hash = (hash ^ ((hash & 0xf0000000u) >> 24)) & 0x0fffffffu;
	}
	for (uint32_t i = buckets ? module->hash[2 + hash % buckets] : 0; i; i = chain[i])
		if (is_meant(module, i, name))
			return &module->symbols[i];
	return NULL;
}

static void *find_in(const struct module *module, const char *name, uint64_t *size)
{
	const ElfW(Sym) *symbol = module->gnu_hash ? find_gnu(module, name)
				  : module->hash   ? find_old(module, name)
						   : NULL;
	void *address;

	if (!symbol)
		return NULL;
	*size = symbol->st_size;
	address = (void *)(module->base + symbol->st_value);
	if (ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC)
		return ((void *(*)(void))address)();
	return address;
}

static bool contains(const struct dl_phdr_info *info, const void *address,
		     struct lookup *bounds)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type != PT_LOAD || (uintptr_t)address < start ||
		    (uintptr_t)address - start >= segment->p_memsz)
			continue;
		bounds->start = start;
		bounds->end = start + segment->p_memsz;
		return true;
	}
	return false;
}

static int find_symbol(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct lookup *search = arg, bounds = { 0 };
	struct module module;
	const bool is_self =
		contains(info, (const void *)(uintptr_t)&find_symbol, &bounds);

	(void)size;
	search->seen_self = search->seen_self || is_self;
	if (search->before && search->seen_self)
		return 1;
	if (is_self != search->own || (search->behind && !search->seen_self) ||
	    !read_module(info, &module))
		return 0;
	search->found = find_in(&module, search->name, &search->size);
	return search->found != NULL;
}

static int find_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct lookup *search = arg;

	(void)size;
	if (!contains(info, search->address, search))
		return 0;
	search->path = info->dlpi_name;
	return 1;
}

void *lookup_next(const char *name)
{
	struct lookup search = { .name = name, .behind = true };

	dl_iterate_phdr(find_symbol, &search);
	return search.found;
}

bool lookup_is_before(const char *name)
{
	struct lookup search = { .name = name, .before = true };

	dl_iterate_phdr(find_symbol, &search);
	return search.found != NULL;
}

void *lookup_any(const char *name)
{
	struct lookup search = { .name = name };

	dl_iterate_phdr(find_symbol, &search);
	return search.found;
}

void *lookup_own(const char *name, uint64_t *size)
{
	struct lookup search = { .name = name, .own = true };

	dl_iterate_phdr(find_symbol, &search);
	*size = search.size;
	return search.found;
}

void lookup_module(const void *address, char *name, size_t size)
{
	struct lookup search = { .address = address, .path = NULL };
	const char *base;
	size_t n = 0;

	dl_iterate_phdr(find_module, &search);
	base = search.path;
	for (const char *c = base; c && *c; c++)
		if (*c == '/')
			base = c + 1;
	for (; base && base[n] && n + 1 < size; n++)
		name[n] = base[n];
	name[n] = '\0';
}

void lookup_bounds(const void *address, uint64_t *start, uint64_t *end)
{
	struct lookup search = { .address = address };

	dl_iterate_phdr(find_module, &search);
	*start = search.start;
	*end = search.end;
}
