/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each source is compared with known modules only once; after that its pointer is looked up
 * in a table of aliases. Modules are in lists by a hash of what tells them apart, as a core
 * file may have a hundred thousand of them.
 */
#include "resolve/dso-table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/hash.h"
#include "resolve/perf-map.h"

#define FIRST_SLOTS 1024 /* of the aliases; a power of two */
#define FIRST_LISTS 64	 /* likewise */

/* A source that has been seen before. Its memory may have been reused for another one, so
 * the other members are compared as well. */
struct pmp_alias {
	const struct pmp_module *source; /* not dereferenced; NULL: free slot */
	uint32_t id;
	uint64_t device, inode;
	uint32_t module; /* index */
};

/* ---- one module ---------------------------------------------------------- */

/* Memory files, SysV segments and the like may have JIT code: then they are not ELF
 * files. */
static bool has_elf(const struct pmp_module *source)
{
	char magic[4];

	if (source->kind == PMP_MODULE_VDSO)
		return true;
	if (source->kind != PMP_MODULE_FILE)
		return false;
	return source->fd < 0 ||
	       (pmp_file_pread(source->fd, magic, sizeof(magic), 0) == sizeof(magic) &&
		memcmp(magic, "\177ELF", sizeof(magic)) == 0);
}

static bool same_module(const struct pmp_dso_entry *module,
			const struct pmp_dso_entry *other)
{
	const struct pmp_module *kept = module->source, *source = other->source;

	if (!kept || kept->kind != source->kind || (kept->fd < 0) != (source->fd < 0))
		return false;
	switch (source->kind) {
	case PMP_MODULE_VDSO:
		return kept->image && source->image &&
		       kept->image_size == source->image_size &&
		       memcmp(kept->image, source->image, kept->image_size) == 0;
	case PMP_MODULE_FILE:
	case PMP_MODULE_PERF_MAP:
		return other->inode != 0 && module->inode == other->inode &&
		       module->device == other->device &&
		       (source->fd >= 0 || strcmp(kept->path, source->path) == 0);
	default: return strcmp(kept->path, source->path) == 0;
	}
}

/* A file that was not found has no inode to compare with those of others. */
static bool is_missing(const struct pmp_dso_entry *module)
{
	return module->source->kind == PMP_MODULE_FILE && !module->inode;
}

static const char *shown_path(const struct pmp_module *source)
{
	if (!source)
		return "[unmapped]";
	if (source->kind == PMP_MODULE_ANON || source->kind == PMP_MODULE_PERF_MAP)
		return "[anon]";
	if (source->kind == PMP_MODULE_VDSO)
		return "[vdso]";
	return source->path[0] ? source->path : PMP_STRINGS_UNKNOWN;
}

/* ---- lists of them --------------------------------------------------------- */

/* The list of the modules that may equal this one: files hashed by inode, others by path,
 * which is kept. */
static uint32_t *list_of(const struct pmp_dso_table *modules,
			 const struct pmp_dso_entry *module)
{
	const enum pmp_module_kind kind =
		module->source ? module->source->kind : PMP_MODULE_ANON;
	uint64_t one = (uintptr_t)module->path, other = (uintptr_t)module->saved_id;

	if (module->inode && (kind == PMP_MODULE_FILE || kind == PMP_MODULE_PERF_MAP)) {
		one = module->device;
		other = module->inode;
	}
	return &modules->lists[pmp_hash_pair(&modules->key, one, other) &
			       (modules->list_count - 1)];
}

static void put_into_list(struct pmp_dso_table *modules, struct pmp_dso_entry *module)
{
	uint32_t *list = list_of(modules, module);

	module->next = *list;
	*list = module->number;
}

static void make_lists(struct pmp_dso_table *modules)
{
	for (size_t i = 0; i < modules->list_count; i++)
		modules->lists[i] = PMP_LOCATION_NONE;
	for (size_t i = 0; i < modules->count; i++)
		put_into_list(modules, modules->items[i]);
}

/* As many lists as modules, and at least one. */
static bool grow_lists(struct pmp_dso_table *modules)
{
	const size_t wanted = modules->list_count ? modules->list_count * 2 : FIRST_LISTS;
	uint32_t *lists;

	if (modules->count < modules->list_count)
		return true;
	lists = malloc(wanted * sizeof(*lists));
	if (!lists)
		return false;
	free(modules->lists);
	modules->lists = lists;
	modules->list_count = wanted;
	make_lists(modules);
	return true;
}

/* Keep a copy of a module; takes over its source, also on failure. Returns its number, or
 * PMP_LOCATION_NONE. */
static uint32_t keep_module(struct pmp_dso_table *modules,
			    const struct pmp_dso_entry *module)
{
	struct pmp_dso_entry *kept = malloc(sizeof(*kept));

	if (!kept ||
	    PMP_RESERVE(&modules->items, &modules->capacity, modules->count + 1)) {
		free(kept);
		pmp_module_unref(module->source);
		return PMP_LOCATION_NONE;
	}
	*kept = *module;
	kept->number = (uint32_t)modules->count;
	modules->items[modules->count] = kept;
	put_into_list(modules, kept);
	return (uint32_t)modules->count++;
}

/* ---- those of processes ---------------------------------------------------- */

static uint32_t find_module(const struct pmp_dso_table *modules,
			    const struct pmp_dso_entry *module)
{
	uint32_t i = *list_of(modules, module);

	while (i != PMP_LOCATION_NONE && !same_module(modules->items[i], module))
		i = modules->items[i]->next;
	return i;
}

/* source NULL: [unmapped]. Returns the index; PMP_LOCATION_NONE: out of memory. */
static uint32_t add_module(struct pmp_dso_table *modules, struct pmp_module *source)
{
	struct stat status;
	struct pmp_dso_entry module = { .source = source,
					.path = pmp_strings_keep(modules->strings,
								 shown_path(source)) };
	uint32_t same = PMP_LOCATION_NONE;

	if (!grow_lists(modules) ||
	    (source && source->kind == PMP_MODULE_KERNEL &&
	     pmp_kernel_names_add(&modules->kernel, modules->strings, source)))
		return PMP_LOCATION_NONE;
	if (source) {
		module.device = source->device;
		module.inode = source->inode;
		module.file = has_elf(source);
	}
	/* A perf map is not in maps, so its inode is not known yet. */
	if (source && source->kind == PMP_MODULE_PERF_MAP &&
	    fstat(source->fd, &status) == 0) {
		module.device = status.st_dev;
		module.inode = status.st_ino;
	}
	if (source && !is_missing(&module))
		same = find_module(modules, &module);
	if (same != PMP_LOCATION_NONE)
		return same;
	if (source)
		pmp_module_ref(source);
	return keep_module(modules, &module);
}

/* The slot of a source, or a free one. The table is never full. */
static struct pmp_alias *find_alias(struct pmp_alias *aliases, size_t slots,
				    const struct pmp_module *source)
{
	size_t i = pmp_hash((uintptr_t)source) & (slots - 1);

	while (aliases[i].source && aliases[i].source != source)
		i = (i + 1) & (slots - 1);
	return &aliases[i];
}

static bool grow_aliases(struct pmp_dso_table *modules)
{
	size_t slots = modules->alias_slots ? modules->alias_slots * 2 : FIRST_SLOTS;
	struct pmp_alias *aliases;

	if (modules->alias_count * 2 < modules->alias_slots)
		return true;
	aliases = calloc(slots, sizeof(*aliases));
	if (!aliases)
		return false;
	for (size_t i = 0; i < modules->alias_slots; i++) {
		const struct pmp_alias *alias = &modules->aliases[i];

		if (alias->source)
			*find_alias(aliases, slots, alias->source) = *alias;
	}
	free(modules->aliases);
	modules->aliases = aliases;
	modules->alias_slots = slots;
	return true;
}

static uint32_t unmapped_module(struct pmp_dso_table *modules)
{
	if (modules->unmapped == PMP_LOCATION_NONE)
		modules->unmapped = add_module(modules, NULL);
	return modules->unmapped;
}

uint32_t pmp_dso_table_of(struct pmp_dso_table *modules, struct pmp_module *source)
{
	struct pmp_alias *alias;
	uint32_t module;

	if (!source)
		return unmapped_module(modules);
	if (!grow_aliases(modules))
		return PMP_LOCATION_NONE;
	alias = find_alias(modules->aliases, modules->alias_slots, source);
	if (alias->source && alias->id == source->id && alias->device == source->device &&
	    alias->inode == source->inode)
		return alias->module;
	module = add_module(modules, source);
	if (module == PMP_LOCATION_NONE)
		return module;
	if (!alias->source)
		modules->alias_count++;
	*alias = (struct pmp_alias){ source, source->id, source->device, source->inode,
				     module };
	return module;
}

/* ---- of saved profiles --------------------------------------------------- */

uint32_t pmp_dso_table_of_saved(struct pmp_dso_table *modules,
				const struct pmp_mapping *mapping)
{
	struct pmp_dso_entry module = {
		.path = pmp_strings_keep(modules->strings, mapping->path),
		.saved_id = pmp_strings_keep(modules->strings, mapping->build_id),
	};

	if (!grow_lists(modules))
		return PMP_LOCATION_NONE;
	/* Kept strings are equal if and only if their addresses are. */
	for (uint32_t i = *list_of(modules, &module); i != PMP_LOCATION_NONE;
	     i = modules->items[i]->next) {
		if (modules->items[i]->saved_id == module.saved_id &&
		    modules->items[i]->path == module.path)
			return i;
	}
	module.file = mapping->path[0] &&
		      (mapping->path[0] != '[' || strcmp(mapping->path, "[vdso]") == 0);
	if (!module.file || !*mapping->build_id || mapping->path[0] != '/')
		module.saved_problem = "the profile does not tell its build-id";
	module.source = pmp_module_new(0, PMP_MODULE_FILE, mapping->path);
	if (!module.source)
		return PMP_LOCATION_NONE;
	return keep_module(modules, &module);
}

/* ---- what is reported ---------------------------------------------------- */

const char *pmp_dso_table_build_id(const struct pmp_dso_entry *module)
{
	if (module->saved_id)
		return module->saved_id;
	if (module->remote)
		return module->remote_id ? module->remote_id : "";
	return module->dso ? pmp_dso_build_id(module->dso) : "";
}

const char *pmp_dso_table_problem(const struct pmp_dso_entry *module)
{
	if (module->saved_problem)
		return module->saved_problem;
	if (module->names_refused)
		return "names take too much memory";
	if (module->remote_problem)
		return module->remote_problem;
	if (module->dso)
		return pmp_dso_problem(module->dso);
	if (module->lacks_lines)
		return PMP_PERF_MAP_LOST;
	if (!module->source)
		return "nothing is mapped there";
	if (!module->file && module->source->kind != PMP_MODULE_PERF_MAP &&
	    module->source->kind != PMP_MODULE_KERNEL)
		return "no file: code made or moved at run time, without a perf map";
	return NULL;
}

/* ---- life ---------------------------------------------------------------- */

void pmp_dso_table_init(struct pmp_dso_table *modules, struct pmp_strings *strings)
{
	*modules = (struct pmp_dso_table){ .strings = strings,
					   .unmapped = PMP_LOCATION_NONE };
	pmp_hash_key_make(&modules->key);
}

static void free_module(struct pmp_dso_entry *module)
{
	pmp_dso_free(module->dso);
	pmp_perf_map_free(module->perf_map);
	if (module->remote)
		free(module->remote->debug_path);
	free(module->remote);
	pmp_module_unref(module->source);
	free(module);
}

static void forget_aliases(struct pmp_dso_table *modules)
{
	free(modules->aliases);
	modules->aliases = NULL;
	modules->alias_count = modules->alias_slots = 0;
}

void pmp_dso_table_free(struct pmp_dso_table *modules)
{
	for (size_t i = 0; i < modules->count; i++)
		free_module(modules->items[i]);
	free(modules->items);
	free(modules->lists);
	pmp_kernel_names_free(&modules->kernel);
	forget_aliases(modules);
	*modules = (struct pmp_dso_table){ 0 };
}

/* Keep a string again, in a new table of strings. */
static void keep_again(struct pmp_strings *strings, const char **text)
{
	if (*text)
		*text = pmp_strings_keep(strings, *text);
}

void pmp_dso_table_gc(struct pmp_dso_table *modules, uint32_t *numbers)
{
	size_t kept = 0;

	for (size_t i = 0; i < modules->count; i++) {
		struct pmp_dso_entry *module = modules->items[i];

		if (numbers[i] == PMP_LOCATION_NONE) {
			free_module(module);
			continue;
		}
		keep_again(modules->strings, &module->path);
		keep_again(modules->strings, &module->saved_id);
		keep_again(modules->strings, &module->remote_id);
		keep_again(modules->strings, &module->remote_problem);
		module->number = numbers[i] = (uint32_t)kept;
		modules->items[kept++] = module;
	}
	modules->count = kept;
	make_lists(modules);
	if (modules->unmapped != PMP_LOCATION_NONE)
		modules->unmapped = numbers[modules->unmapped];
	forget_aliases(modules);
}
