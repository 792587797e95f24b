/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Locations and their names. Counting a sample costs one hash lookup a frame;
 * files are opened and names looked up when the first frame of a module is to be
 * shown, and each location once. No process is needed any more by then.
 */
#include "resolve/symbolizer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/intern.h"
#include "base/log.h"
#include "resolve/demangle.h"
#include "resolve/jitmap.h"
#include "resolve/module.h"

#define DEBUG_DIR "/usr/lib/debug"
#define FIRST_SLOTS 1024 /* of a hash table; a power of two */
#define UNPACKING_MAX 4 /* modules at a time, each of which may have a thread */
#define MODULE_SIZE 131072 /* what a module is counted for: it also has a descriptor */

static const char no_memory_text[] = "[unknown]";

static const struct pmp_frame no_memory_frame = {
	.function = no_memory_text,
	.unnamed = true,
	.module = no_memory_text,
};

/* A place in a module: what is equal here has one location. */
struct place {
	uint64_t address; /* file offset; pc in what has no file */
	uint32_t module;  /* index */
	uint32_t flags;	  /* PMP_FRAME_EXACT, PMP_FRAME_SIGNAL; of saved ones also
			   * the number of its names, from NAMES_SHIFT on */
};

#define NAMES_SHIFT 2

/* The key of a mapping. */
struct region {
	uint64_t start, end, offset;
	uint32_t module; /* index */
	uint32_t unused; /* 0: keys are compared as bytes */
};

struct location {
	struct place place;
	uint32_t frame_count;		/* 0: not named yet */
	const struct pmp_frame *frames; /* owned unless no_memory_frame */
	uint64_t pc;			/* where it was first seen */
	uint32_t mapping;
};

/* What can be named. The first source seen is kept; its open descriptor also
 * keeps its inode from being used again. */
struct module {
	struct pmp_module *source; /* one reference; NULL: [unmapped] */
	uint64_t device, inode;
	bool file;		   /* has an ELF file or image: offsets, not pcs */
	bool wanted;		   /* has a location without names */
	const char *path;	   /* interned */
	struct pmp_opened *opened; /* of files, once a name was wanted */
	struct pmp_jitmap *jitmap; /* of PMP_MODULE_JITMAP, likewise */
	const char *saved_id;	   /* interned; of a saved profile: its build-id, or NULL */
	const char *saved_problem; /* why its file is not used, or NULL */
	uint64_t frames, unnamed;
};

/* A source that has been seen before. The pointer alone may be another module's
 * by now; what the others tell of it is checked too. */
struct alias {
	const struct pmp_module *source; /* not dereferenced; NULL: free slot */
	uint32_t id;
	uint64_t device, inode;
	uint32_t module; /* index */
};

struct pmp_symbolizer {
	struct pmp_symbolizer_options options;
	char *debug_dir, *symfs;
	struct pmp_log log;
	struct pmp_intern *strings;
	struct module **modules; /* each stays where it is: see release() */
	size_t module_count, module_capacity;
	struct alias *aliases;
	size_t alias_count, alias_slots;
	uint32_t unmapped; /* index of [unmapped], or PMP_LOCATION_NONE */
	struct pmp_intern *regions; /* struct region; its ids are those of mappings */
	struct pmp_intern *names;   /* of saved locations */
	struct location *locations;
	size_t location_count, location_capacity;
	pmp_location *slots; /* hash table of locations */
	size_t slot_count;
	struct pmp_buf text; /* scratch */
	/* Of bounded memory, see sweep. */
	pmp_location *free_numbers;
	size_t free_count, free_capacity;
	size_t frames_size; /* bytes of all locations' frames */
	unsigned users;	    /* who keep numbers of locations */
	bool naming;	    /* a location is being named, maybe without the lock */
};

/* ---- life --------------------------------------------------------------- */

int pmp_symbolizer_new(const struct pmp_symbolizer_options *options,
		       struct pmp_symbolizer **symbolizer, struct pmp_error *err)
{
	struct pmp_symbolizer *made = calloc(1, sizeof(*made));
	const char *debug_dir = DEBUG_DIR;

	*symbolizer = NULL;
	if (!made)
		return pmp_error_nomem(err, "making a symbolizer");
	if (options) {
		size_t size = options->size < sizeof(*options) ? options->size
							       : sizeof(*options);

		memcpy(&made->options, options, size);
	}
	if (made->options.debug_dir)
		debug_dir = made->options.debug_dir;
	made->log = (struct pmp_log){ made->options.log, made->options.log_arg };
	made->unmapped = PMP_LOCATION_NONE;
	made->debug_dir = strdup(debug_dir);
	made->symfs = strdup(made->options.symfs ? made->options.symfs : "");
	made->strings = pmp_intern_new();
	made->regions = pmp_intern_new();
	made->names = pmp_intern_new();
	if (!made->debug_dir || !made->symfs || !made->strings || !made->regions ||
	    !made->names) {
		pmp_symbolizer_free(made);
		return pmp_error_nomem(err, "making a symbolizer");
	}
	*symbolizer = made;
	return 0;
}

static void free_module(struct module *module)
{
	pmp_opened_free(module->opened);
	pmp_jitmap_free(module->jitmap);
	pmp_module_unref(module->source);
	free(module);
}

void pmp_symbolizer_free(struct pmp_symbolizer *symbolizer)
{
	if (!symbolizer)
		return;
	for (size_t i = 0; i < symbolizer->location_count; i++) {
		if (symbolizer->locations[i].frames != &no_memory_frame)
			free((void *)symbolizer->locations[i].frames);
	}
	for (size_t i = 0; i < symbolizer->module_count; i++)
		free_module(symbolizer->modules[i]);
	free(symbolizer->locations);
	free(symbolizer->slots);
	free(symbolizer->modules);
	free(symbolizer->aliases);
	free(symbolizer->free_numbers);
	free(symbolizer->debug_dir);
	free(symbolizer->symfs);
	pmp_intern_free(symbolizer->strings);
	pmp_intern_free(symbolizer->regions);
	pmp_intern_free(symbolizer->names);
	pmp_buf_free(&symbolizer->text);
	free(symbolizer);
}

static const char *keep(struct pmp_symbolizer *symbolizer, const char *text,
			size_t length)
{
	uint32_t id = pmp_intern(symbolizer->strings, text, length);

	return id == PMP_INTERN_NONE ? no_memory_text
				     : pmp_intern_data(symbolizer->strings, id, NULL);
}

static const char *keep_text(struct pmp_symbolizer *symbolizer, const char *text)
{
	return keep(symbolizer, text, strlen(text));
}

/* What has been put together in the scratch buffer, which is cleared. */
static const char *keep_scratch(struct pmp_symbolizer *symbolizer)
{
	struct pmp_buf *text = &symbolizer->text;
	const char *kept = no_memory_text;

	if (!pmp_buf_failed(text))
		kept = keep(symbolizer, text->data, text->length);
	else
		pmp_buf_free(text);
	pmp_buf_clear(text);
	return kept;
}

static uint64_t mix(uint64_t value)
{
	value *= 0x9e3779b97f4a7c15u;
	return value ^ value >> 29;
}

/* ---- modules ------------------------------------------------------------ */

/* Memory files, SysV segments and the like may be code that a JIT compiler has
 * made: then there is no ELF file in them. */
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

static bool same_module(const struct module *module, const struct pmp_module *source,
			uint64_t device, uint64_t inode)
{
	const struct pmp_module *kept = module->source;

	if (!kept || kept->kind != source->kind || (kept->fd < 0) != (source->fd < 0))
		return false;
	switch (source->kind) {
	case PMP_MODULE_VDSO:
		return kept->image && source->image &&
		       kept->image_size == source->image_size &&
		       memcmp(kept->image, source->image, kept->image_size) == 0;
	case PMP_MODULE_FILE:
	case PMP_MODULE_JITMAP:
		return inode != 0 && module->inode == inode && module->device == device &&
		       (source->fd >= 0 || strcmp(kept->path, source->path) == 0);
	default: return strcmp(kept->path, source->path) == 0;
	}
}

static const char *shown_path(const struct pmp_module *source)
{
	if (!source)
		return "[unmapped]";
	if (source->kind == PMP_MODULE_ANON || source->kind == PMP_MODULE_JITMAP)
		return "[anon]";
	if (source->kind == PMP_MODULE_VDSO)
		return "[vdso]";
	return source->path[0] ? source->path : no_memory_text;
}

/* A copy that stays where it is; takes over its source, also when it fails. Its
 * number, or PMP_LOCATION_NONE. */
static uint32_t keep_module(struct pmp_symbolizer *symbolizer, const struct module *module)
{
	struct module *kept = malloc(sizeof(*kept));

	if (!kept || PMP_RESERVE(&symbolizer->modules, &symbolizer->module_capacity,
				 symbolizer->module_count + 1)) {
		free(kept);
		pmp_module_unref(module->source);
		return PMP_LOCATION_NONE;
	}
	*kept = *module;
	symbolizer->modules[symbolizer->module_count] = kept;
	return (uint32_t)symbolizer->module_count++;
}

/* source NULL: [unmapped]. The index, or PMP_LOCATION_NONE without memory. */
static uint32_t add_module(struct pmp_symbolizer *symbolizer, struct pmp_module *source)
{
	struct stat status;
	struct module module = { .path = keep_text(symbolizer, shown_path(source)) };

	if (source) {
		module.device = source->device;
		module.inode = source->inode;
		module.file = has_elf(source);
	}
	/* A perf map is not in maps, so nobody has told its inode yet. */
	if (source && source->kind == PMP_MODULE_JITMAP &&
	    fstat(source->fd, &status) == 0) {
		module.device = status.st_dev;
		module.inode = status.st_ino;
	}
	for (size_t i = 0; source && i < symbolizer->module_count; i++) {
		if (same_module(symbolizer->modules[i], source, module.device,
				module.inode))
			return (uint32_t)i;
	}
	if (source)
		module.source = pmp_module_ref(source);
	return keep_module(symbolizer, &module);
}

/* The slot of a source, or a free one. The table is never full. */
static struct alias *find_alias(struct alias *aliases, size_t slots,
				const struct pmp_module *source)
{
	size_t i = mix((uintptr_t)source) & (slots - 1);

	while (aliases[i].source && aliases[i].source != source)
		i = (i + 1) & (slots - 1);
	return &aliases[i];
}

static bool grow_aliases(struct pmp_symbolizer *symbolizer)
{
	size_t slots =
		symbolizer->alias_slots ? symbolizer->alias_slots * 2 : FIRST_SLOTS;
	struct alias *aliases;

	if (symbolizer->alias_count * 2 < symbolizer->alias_slots)
		return true;
	aliases = calloc(slots, sizeof(*aliases));
	if (!aliases)
		return false;
	for (size_t i = 0; i < symbolizer->alias_slots; i++) {
		const struct alias *alias = &symbolizer->aliases[i];

		if (alias->source)
			*find_alias(aliases, slots, alias->source) = *alias;
	}
	free(symbolizer->aliases);
	symbolizer->aliases = aliases;
	symbolizer->alias_slots = slots;
	return true;
}

static uint32_t module_of(struct pmp_symbolizer *symbolizer, struct pmp_module *source)
{
	struct alias *alias;
	uint32_t module;

	if (!grow_aliases(symbolizer))
		return PMP_LOCATION_NONE;
	alias = find_alias(symbolizer->aliases, symbolizer->alias_slots, source);
	if (alias->source && alias->id == source->id && alias->device == source->device &&
	    alias->inode == source->inode)
		return alias->module;
	module = add_module(symbolizer, source);
	if (module == PMP_LOCATION_NONE)
		return module;
	if (!alias->source)
		symbolizer->alias_count++;
	*alias = (struct alias){ source, source->id, source->device, source->inode,
				 module };
	return module;
}

static uint32_t unmapped_module(struct pmp_symbolizer *symbolizer)
{
	if (symbolizer->unmapped == PMP_LOCATION_NONE)
		symbolizer->unmapped = add_module(symbolizer, NULL);
	return symbolizer->unmapped;
}

/* ---- locations ---------------------------------------------------------- */

static bool same_place(const struct place *a, const struct place *b)
{
	return a->address == b->address && a->module == b->module && a->flags == b->flags;
}

static size_t find_slot(const struct pmp_symbolizer *symbolizer,
			const pmp_location *slots, size_t slot_count,
			const struct place *place)
{
	uint64_t hash =
		mix(place->address ^ mix((uint64_t)place->module << 2 | place->flags));
	size_t i = hash & (slot_count - 1);

	while (slots[i] != PMP_LOCATION_NONE &&
	       !same_place(&symbolizer->locations[slots[i]].place, place))
		i = (i + 1) & (slot_count - 1);
	return i;
}

/* Not one that a sweep has taken. */
static bool is_location(const struct pmp_symbolizer *symbolizer, pmp_location location)
{
	return location < symbolizer->location_count &&
	       symbolizer->locations[location].place.module != PMP_LOCATION_NONE;
}

/* All locations, into slots that are empty. */
static void fill_slots(struct pmp_symbolizer *symbolizer)
{
	for (size_t i = 0; i < symbolizer->location_count; i++) {
		const struct place *place = &symbolizer->locations[i].place;

		if (is_location(symbolizer, (pmp_location)i))
			symbolizer->slots[find_slot(symbolizer, symbolizer->slots,
						    symbolizer->slot_count, place)] =
				(pmp_location)i;
	}
}

static bool grow_slots(struct pmp_symbolizer *symbolizer)
{
	size_t count = symbolizer->slot_count ? symbolizer->slot_count * 2 : FIRST_SLOTS;
	pmp_location *slots;

	if (symbolizer->location_count * 2 < symbolizer->slot_count)
		return true;
	slots = malloc(count * sizeof(*slots));
	if (!slots)
		return false;
	memset(slots, 0xff, count * sizeof(*slots));
	free(symbolizer->slots);
	symbolizer->slots = slots;
	symbolizer->slot_count = count;
	fill_slots(symbolizer);
	return true;
}

/* The number of a location that is new: one that was given back, or the next. */
static pmp_location new_number(struct pmp_symbolizer *symbolizer)
{
	if (symbolizer->free_count)
		return symbolizer->free_numbers[--symbolizer->free_count];
	if (symbolizer->location_count >= PMP_LOCATION_NONE - 1 ||
	    PMP_RESERVE(&symbolizer->locations, &symbolizer->location_capacity,
			symbolizer->location_count + 1))
		return PMP_LOCATION_NONE;
	return (pmp_location)symbolizer->location_count++;
}

/* first: where it was seen, if it is new. */
static pmp_location find_location(struct pmp_symbolizer *symbolizer,
				  const struct place *place,
				  const struct pmp_origin *first)
{
	pmp_location number;
	size_t slot;

	if (!grow_slots(symbolizer))
		return PMP_LOCATION_NONE;
	slot = find_slot(symbolizer, symbolizer->slots, symbolizer->slot_count, place);
	if (symbolizer->slots[slot] != PMP_LOCATION_NONE)
		return symbolizer->slots[slot];
	number = new_number(symbolizer);
	if (number == PMP_LOCATION_NONE)
		return number;
	symbolizer->locations[number] = (struct location){
		.place = *place,
		.pc = first->pc,
		.mapping = first->mapping,
	};
	symbolizer->slots[slot] = number;
	symbolizer->modules[place->module]->wanted = true;
	return number;
}

pmp_location pmp_symbolizer_locate(struct pmp_symbolizer *symbolizer,
				   const struct pmp_maps *maps,
				   const struct pmp_raw_frame *frame)
{
	/* The call may be the last instruction of its region. */
	uint64_t lookup = frame->pc - !(frame->flags & PMP_FRAME_EXACT);
	const struct pmp_region *region = maps ? pmp_maps_find(maps, lookup) : NULL;
	struct place place = {
		.address = frame->pc,
		.flags = (uint32_t)(frame->flags & (PMP_FRAME_EXACT | PMP_FRAME_SIGNAL)),
	};
	struct region key = { 0 };
	struct pmp_origin origin = { .pc = frame->pc };

	if (!region) {
		place.module = unmapped_module(symbolizer);
	} else {
		place.module = module_of(symbolizer, region->module);
		if (place.module == PMP_LOCATION_NONE)
			return PMP_LOCATION_NONE;
		if (symbolizer->modules[place.module]->file)
			place.address = frame->pc - region->start + region->offset;
		else if (maps->jitmap)
			place.module = module_of(symbolizer, maps->jitmap);
	}
	if (place.module == PMP_LOCATION_NONE)
		return PMP_LOCATION_NONE;
	if (region) {
		key.start = region->start;
		key.end = region->end;
		key.offset = region->offset;
	}
	key.module = place.module;
	origin.mapping = pmp_intern(symbolizer->regions, &key, sizeof(key));
	if (origin.mapping == PMP_INTERN_NONE)
		return PMP_LOCATION_NONE;
	return find_location(symbolizer, &place, &origin);
}

void pmp_symbolizer_origin(const struct pmp_symbolizer *symbolizer,
			   pmp_location number, struct pmp_origin *origin)
{
	const struct location *location;

	*origin = (struct pmp_origin){ .mapping = PMP_INTERN_NONE };
	if (number >= symbolizer->location_count)
		return;
	location = &symbolizer->locations[number];
	origin->pc = location->pc;
	origin->mapping = location->mapping;
	origin->exact = location->place.flags & PMP_FRAME_EXACT;
}

/* ---- names -------------------------------------------------------------- */

/*
 * Around what is slow the caller's lock is let go, and samples are counted meanwhile:
 * modules and locations are added, strings interned. So nothing of the symbolizer is
 * touched there but the opened files, which belong to the one thread that names, and
 * the array of locations is looked at anew afterwards.
 */
static void release(const struct pmp_symbolizer *symbolizer)
{
	if (symbolizer->options.release)
		symbolizer->options.release(symbolizer->options.lock_arg);
}

static void acquire(const struct pmp_symbolizer *symbolizer)
{
	if (symbolizer->options.acquire)
		symbolizer->options.acquire(symbolizer->options.lock_arg);
}

static const char *readable(struct pmp_symbolizer *symbolizer, const char *name)
{
	if (!symbolizer->options.no_demangle && pmp_demangle(name, &symbolizer->text))
		return keep_scratch(symbolizer);
	return keep_text(symbolizer, name);
}

/* [libfoo.so.1+0x1234], [vdso+0x7f0], [anon+0x7f0000001000] */
static void add_placeholder(struct pmp_buf *text, const struct module *module,
			    uint64_t address)
{
	const char *slash = strrchr(module->path, '/');
	const char *name = slash && slash[1] ? slash + 1 : module->path;
	size_t length = strlen(name);

	if (length > 2 && name[0] == '[' && name[length - 1] == ']') {
		name++;
		length -= 2;
	}
	pmp_buf_putc(text, '[');
	pmp_buf_add(text, name, length);
	pmp_buf_printf(text, "+0x%llx]", (unsigned long long)address);
}

static const char *placeholder(struct pmp_symbolizer *symbolizer,
			       const struct module *module, uint64_t address)
{
	add_placeholder(&symbolizer->text, module, address);
	return keep_scratch(symbolizer);
}

/* A regular file, or a negative errno. */
static int open_regular(const char *path)
{
	struct stat status;
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
		return fd;
	close(fd);
	return -EINVAL;
}

static int open_below(const char *directory, const char *path)
{
	struct pmp_buf buf = { 0 };
	int fd;

	pmp_buf_printf(&buf, "%s/%s", directory, path);
	fd = pmp_buf_failed(&buf) ? -ENOMEM : open_regular(buf.data);
	pmp_buf_free(&buf);
	return fd;
}

/* The file that a saved profile names; nothing is read from it yet. */
static void open_saved(const char *symfs, struct pmp_module *source)
{
	const char *slash = strrchr(source->path, '/');
	int fd = -ENOENT;

	if (symfs[0])
		fd = open_below(symfs, source->path);
	if (symfs[0] && fd < 0)
		fd = open_below(symfs, slash ? slash + 1 : source->path);
	if (fd < 0)
		fd = open_regular(source->path);
	source->open_errno = fd < 0 ? -fd : 0;
	source->fd = fd < 0 ? -1 : fd;
}

/* Whose file it was says the build-id, not the name. */
static void check_saved(struct module *module)
{
	if (module->source->fd < 0)
		module->saved_problem = "not on this machine";
	else if (!module->opened ||
		 strcmp(pmp_opened_build_id(module->opened), module->saved_id) != 0)
		module->saved_problem = "on this machine is another version of it";
	if (!module->saved_problem)
		return;
	pmp_opened_free(module->opened);
	module->opened = NULL;
}

static void open_module(struct pmp_symbolizer *symbolizer, struct module *module)
{
	const struct pmp_opened_options options = {
		.debug_dir = symbolizer->debug_dir,
		.no_symbols = symbolizer->options.no_symbols,
		.no_dwarf = symbolizer->options.no_inline && !symbolizer->options.lines,
		.lines = symbolizer->options.lines,
		.log = &symbolizer->log,
	};

	struct pmp_opened *opened = module->opened;
	struct pmp_jitmap *jitmap = module->jitmap;

	if (module->saved_problem)
		return;
	release(symbolizer);
	if (module->saved_id && module->file && !opened)
		open_saved(symbolizer->symfs, module->source);
	if (module->file && !opened)
		opened = pmp_opened_new(module->source, &options);
	if (module->source && module->source->kind == PMP_MODULE_JITMAP && !jitmap &&
	    !options.no_symbols)
		jitmap = pmp_jitmap_new(module->source->fd);
	acquire(symbolizer);
	module->opened = opened;
	module->jitmap = jitmap;
	if (module->saved_id && module->file)
		check_saved(module);
}

/*
 * Whoever writes a profile wants names of all modules in it: they are opened one after
 * the other, and meanwhile threads unpack what debug information some of them have. With
 * a lock there is a view, which wants what is on its screen.
 */
static void open_with_others(struct pmp_symbolizer *symbolizer, struct module *first)
{
	size_t unpacking = 0;

	open_module(symbolizer, first);
	if (symbolizer->options.release)
		return;
	for (size_t i = 0; i < symbolizer->module_count; i++) {
		const struct pmp_opened *opened = symbolizer->modules[i]->opened;

		unpacking += opened && pmp_opened_is_unpacking(opened);
	}
	for (size_t i = 0; i < symbolizer->module_count && unpacking < UNPACKING_MAX;
	     i++) {
		struct module *module = symbolizer->modules[i];

		if (!module->wanted || module->opened)
			continue;
		open_module(symbolizer, module);
		unpacking += module->opened && pmp_opened_is_unpacking(module->opened);
	}
}

/* Names from the debug information; the last frame is the function itself.
 * Returns the number of frames, at least 1. */
static size_t name_inlined(struct pmp_symbolizer *symbolizer, struct module *module,
			   uint64_t lookup, struct pmp_frame *frames)
{
	const struct pmp_symbolizer_options *options = &symbolizer->options;
	struct pmp_place places[PMP_PLACES_MAX];
	size_t count = 0, first = 0;

	if (!options->no_symbols && (!options->no_inline || options->lines)) {
		release(symbolizer);
		count = pmp_opened_places(module->opened, lookup, places);
		acquire(symbolizer);
	}
	if (count == 0)
		return 1;
	if (options->no_inline)
		first = count - 1;
	for (size_t i = first; i < count; i++) {
		struct pmp_frame *frame = &frames[i - first];

		*frame = (struct pmp_frame){ .line = places[i].line,
					     .inlined = i + 1 < count };
		if (places[i].file)
			frame->file = keep_text(symbolizer, places[i].file);
		if (places[i].function)
			frame->function = readable(symbolizer, places[i].function);
	}
	return count - first;
}

/* A place in an ELF file. */
static size_t name_in_file(struct pmp_symbolizer *symbolizer, struct module *module,
			   const struct place *place, struct pmp_frame *frames)
{
	uint64_t lookup = place->address - !(place->flags & PMP_FRAME_EXACT);
	uint64_t address = place->address;
	const char *symbol = NULL;
	size_t count = 1;

	if (module->opened && pmp_opened_address(module->opened, lookup, &lookup)) {
		address = lookup + !(place->flags & PMP_FRAME_EXACT);
		symbol = pmp_opened_symbol(module->opened, lookup);
		count = name_inlined(symbolizer, module, lookup, frames);
	}
	for (size_t i = 0; i < count; i++)
		frames[i].address = address;
	/* One address can have several right names; the symbol is what others show. */
	if (symbol)
		frames[count - 1].function = readable(symbolizer, symbol);
	return count;
}

static size_t name_without_file(struct pmp_symbolizer *symbolizer, struct module *module,
				const struct place *place, struct pmp_frame *frames)
{
	uint64_t lookup = place->address - !(place->flags & PMP_FRAME_EXACT);
	const char *name =
		module->jitmap ? pmp_jitmap_find(module->jitmap, lookup) : NULL;

	frames[0].address = place->address;
	if (name)
		frames[0].function = readable(symbolizer, name);
	return 1;
}

static void name_location(struct pmp_symbolizer *symbolizer, pmp_location number)
{
	const struct place place = symbolizer->locations[number].place;
	struct module *module = symbolizer->modules[place.module];
	struct pmp_frame frames[PMP_PLACES_MAX] = { { 0 } }, *kept;
	struct location *location;
	size_t count = 1;

	symbolizer->naming = true;
	if (!module->opened)
		open_with_others(symbolizer, module);
	if (module->file)
		count = name_in_file(symbolizer, module, &place, frames);
	else
		count = name_without_file(symbolizer, module, &place, frames);
	if (place.flags & PMP_FRAME_SIGNAL) {
		frames[0] = (struct pmp_frame){
			.function = keep_text(symbolizer, "<signal handler called>"),
			.signal = true,
			.address = frames[0].address,
		};
		count = 1;
	}
	for (size_t i = 0; i < count; i++) {
		frames[i].module = module->path;
		frames[i].unnamed = !frames[i].function || !frames[i].function[0];
		if (frames[i].unnamed)
			frames[i].function =
				placeholder(symbolizer, module, frames[i].address);
	}
	module->frames++;
	module->unnamed += frames[count - 1].unnamed;
	kept = calloc(count, sizeof(*kept));
	if (kept)
		memcpy(kept, frames, count * sizeof(*kept));
	location = &symbolizer->locations[number];
	location->frames = kept ? kept : &no_memory_frame;
	location->frame_count = kept ? (uint32_t)count : 1;
	symbolizer->frames_size += count * sizeof(*kept);
	symbolizer->naming = false;
}

size_t pmp_symbolizer_frames(struct pmp_symbolizer *symbolizer, pmp_location location,
			     const struct pmp_frame **frames)
{
	if (!is_location(symbolizer, location)) {
		*frames = &no_memory_frame;
		return 1;
	}
	if (symbolizer->locations[location].frame_count == 0)
		name_location(symbolizer, location);
	*frames = symbolizer->locations[location].frames;
	return symbolizer->locations[location].frame_count;
}

/* ---- mappings and saved locations ---------------------------------------- */

static const char *build_id_of(const struct module *module)
{
	if (module->saved_id)
		return module->saved_id;
	return module->opened ? pmp_opened_build_id(module->opened) : "";
}

void pmp_symbolizer_mapping(struct pmp_symbolizer *symbolizer, uint32_t number,
			    struct pmp_mapping *mapping)
{
	const struct region *region =
		pmp_intern_data(symbolizer->regions, number, NULL);
	struct module *module;

	*mapping = (struct pmp_mapping){ .path = no_memory_text, .build_id = "" };
	if (!region)
		return;
	module = symbolizer->modules[region->module];
	if (!module->saved_id)
		open_module(symbolizer, module);
	mapping->start = region->start;
	mapping->end = region->end;
	mapping->offset = region->offset;
	mapping->path = module->path;
	mapping->build_id = build_id_of(module);
}

/* The module of a saved profile: equal names and build-ids are the same. */
static uint32_t saved_module(struct pmp_symbolizer *symbolizer,
			     const struct pmp_mapping *mapping)
{
	struct module module = {
		.path = keep_text(symbolizer, mapping->path),
		.saved_id = keep_text(symbolizer, mapping->build_id),
	};

	/* Interned strings are equal if their addresses are. */
	for (size_t i = symbolizer->module_count; i-- > 0;) {
		if (symbolizer->modules[i]->saved_id == module.saved_id &&
		    symbolizer->modules[i]->path == module.path)
			return (uint32_t)i;
	}
	module.file = mapping->path[0] && (mapping->path[0] != '[' ||
					   strcmp(mapping->path, "[vdso]") == 0);
	if (!module.file || !*mapping->build_id || mapping->path[0] != '/')
		module.saved_problem = "the profile does not tell its build-id";
	module.source = pmp_module_new(0, PMP_MODULE_FILE, mapping->path);
	if (!module.source)
		return PMP_LOCATION_NONE;
	return keep_module(symbolizer, &module);
}

uint32_t pmp_symbolizer_add_mapping(struct pmp_symbolizer *symbolizer,
				    const struct pmp_mapping *mapping)
{
	struct region key = {
		.start = mapping->start,
		.end = mapping->end,
		.offset = mapping->offset,
		.module = saved_module(symbolizer, mapping),
	};

	if (key.module == PMP_LOCATION_NONE)
		return PMP_INTERN_NONE;
	return pmp_intern(symbolizer->regions, &key, sizeof(key));
}

/* Names as bytes: equal ones get the same number, from 1 on. 0: no memory. */
static uint32_t number_names(struct pmp_symbolizer *symbolizer,
			     const struct pmp_frame *frames, size_t count)
{
	struct pmp_buf *text = &symbolizer->text;
	uint32_t id = PMP_INTERN_NONE;

	for (size_t i = 0; i < count; i++)
		pmp_buf_printf(text, "%s%c%s%c%u%c%d", frames[i].function, 0,
			       frames[i].file ? frames[i].file : "", 0, frames[i].line,
			       0, frames[i].signal);
	if (!pmp_buf_failed(text))
		id = pmp_intern(symbolizer->names, text->data, text->length);
	else
		pmp_buf_free(text);
	pmp_buf_clear(text);
	return id < UINT32_MAX >> NAMES_SHIFT ? id + 1 : 0;
}

static struct pmp_frame *copy_names(struct pmp_symbolizer *symbolizer,
				    const struct place *place,
				    const struct pmp_frame *frames, size_t count)
{
	struct module *module = symbolizer->modules[place->module];
	struct pmp_frame *kept = calloc(count, sizeof(*kept));

	for (size_t i = 0; kept && i < count; i++)
		kept[i] = (struct pmp_frame){
			.function = keep_text(symbolizer, frames[i].function),
			.file = frames[i].file ? keep_text(symbolizer, frames[i].file)
					       : NULL,
			.line = frames[i].line,
			.inlined = i + 1 < count,
			.signal = frames[i].signal,
			.module = module->path,
			.address = place->address,
		};
	module->frames++;
	return kept;
}

pmp_location pmp_symbolizer_add_location(struct pmp_symbolizer *symbolizer,
					 const struct pmp_origin *origin,
					 const struct pmp_frame *frames, size_t count)
{
	const struct region *region =
		pmp_intern_data(symbolizer->regions, origin->mapping, NULL);
	struct place place = { .address = origin->pc };
	struct location *location;
	pmp_location number;
	uint32_t names = 0;

	if (!region)
		return PMP_LOCATION_NONE;
	if (symbolizer->options.no_inline && count > 1) {
		frames += count - 1;
		count = 1;
	}
	if (count) {
		names = number_names(symbolizer, frames, count);
		if (!names)
			return PMP_LOCATION_NONE;
	}
	place.module = region->module;
	place.flags = names << NAMES_SHIFT | (origin->exact ? PMP_FRAME_EXACT : 0);
	if (symbolizer->modules[place.module]->file)
		place.address = origin->pc - region->start + region->offset;
	number = find_location(symbolizer, &place, origin);
	if (number == PMP_LOCATION_NONE || !count)
		return number;
	location = &symbolizer->locations[number];
	if (!location->frame_count) {
		location->frames = copy_names(symbolizer, &place, frames, count);
		location->frame_count = location->frames ? (uint32_t)count : 1;
		symbolizer->frames_size += count * sizeof(*frames);
		if (!location->frames)
			location->frames = &no_memory_frame;
	}
	return number;
}

void pmp_symbolizer_name(struct pmp_symbolizer *symbolizer, pmp_location location)
{
	const struct pmp_frame *frames;

	pmp_symbolizer_frames(symbolizer, location, &frames);
}

size_t pmp_symbolizer_frame(const struct pmp_symbolizer *symbolizer, pmp_location location,
			    size_t i, struct pmp_frame_info *info)
{
	const struct location *known;
	struct pmp_frame_info all;

	if (!is_location(symbolizer, location))
		return 0;
	known = &symbolizer->locations[location];
	if (i >= known->frame_count)
		return known->frame_count;
	all = (struct pmp_frame_info){
		.size = info->size,
		.function = known->frames[i].function,
		.file = known->frames[i].file,
		.line = known->frames[i].line,
		.inlined = known->frames[i].inlined,
		.unnamed = known->frames[i].unnamed,
		.signal = known->frames[i].signal,
		.module = known->frames[i].module,
		.address = known->frames[i].address,
	};
	memcpy(info, &all, all.size < sizeof(all) ? all.size : sizeof(all));
	return known->frame_count;
}

char *pmp_symbolizer_place(const struct pmp_symbolizer *symbolizer, pmp_location location,
			   char *buffer, size_t size)
{
	struct pmp_buf text = { 0 };

	if (is_location(symbolizer, location)) {
		const struct place *place = &symbolizer->locations[location].place;

		add_placeholder(&text, symbolizer->modules[place->module],
				place->address);
	}
	snprintf(buffer, size, "%s",
		 text.length && !pmp_buf_failed(&text) ? text.data : no_memory_text);
	pmp_buf_free(&text);
	return buffer;
}

/* ---- bounded memory ------------------------------------------------------ */

void pmp_symbolizer_attach(struct pmp_symbolizer *symbolizer)
{
	if (symbolizer)
		symbolizer->users++;
}

void pmp_symbolizer_detach(struct pmp_symbolizer *symbolizer)
{
	if (symbolizer)
		symbolizer->users--;
}

uint64_t pmp_symbolizer_size(const struct pmp_symbolizer *symbolizer)
{
	if (!symbolizer)
		return 0;
	return pmp_intern_size(symbolizer->strings) + pmp_intern_size(symbolizer->regions) +
	       pmp_intern_size(symbolizer->names) + symbolizer->frames_size +
	       symbolizer->module_count * MODULE_SIZE +
	       (symbolizer->location_count - symbolizer->free_count) *
		       (sizeof(*symbolizer->locations) + 4 * sizeof(*symbolizer->slots));
}

size_t pmp_symbolizer_location_count(const struct pmp_symbolizer *symbolizer)
{
	return symbolizer->location_count;
}

static void drop_location(struct pmp_symbolizer *symbolizer, pmp_location number)
{
	struct location *location = &symbolizer->locations[number];

	if (location->frames != &no_memory_frame)
		free((void *)location->frames);
	*location = (struct location){ .place.module = PMP_LOCATION_NONE };
	symbolizer->free_numbers[symbolizer->free_count++] = number;
}

/* Drop the modules without a location. new[i] becomes the number of module i. */
static void sweep_modules(struct pmp_symbolizer *symbolizer, uint32_t *new)
{
	size_t count = 0;

	for (size_t i = 0; i < symbolizer->module_count; i++)
		new[i] = PMP_LOCATION_NONE;
	for (size_t i = 0; i < symbolizer->location_count; i++) {
		if (is_location(symbolizer, (pmp_location)i))
			new[symbolizer->locations[i].place.module] = 0;
	}
	for (size_t i = 0; i < symbolizer->module_count; i++) {
		struct module *module = symbolizer->modules[i];

		if (new[i] == PMP_LOCATION_NONE) {
			free_module(module);
			continue;
		}
		new[i] = (uint32_t)count;
		symbolizer->modules[count++] = module;
	}
	symbolizer->module_count = count;
	if (symbolizer->unmapped != PMP_LOCATION_NONE)
		symbolizer->unmapped = new[symbolizer->unmapped];
	free(symbolizer->aliases);
	symbolizer->aliases = NULL;
	symbolizer->alias_count = symbolizer->alias_slots = 0;
}

/* The locations' modules and mappings, by their new numbers. A mapping's module is its
 * locations'. */
static void renumber(struct pmp_symbolizer *symbolizer, const struct pmp_intern *old,
		     const uint32_t *new)
{
	for (size_t i = 0; i < symbolizer->location_count; i++) {
		struct location *location = &symbolizer->locations[i];
		const struct region *region;
		struct region key;

		if (!is_location(symbolizer, (pmp_location)i))
			continue;
		location->place.module = new[location->place.module];
		region = pmp_intern_data(old, location->mapping, NULL);
		if (!region)
			continue;
		key = *region;
		key.module = location->place.module;
		location->mapping = pmp_intern(symbolizer->regions, &key, sizeof(key));
	}
}

/* Keep again what is still in use of the old strings. */
static void sweep_strings(struct pmp_symbolizer *symbolizer)
{
	for (size_t i = 0; i < symbolizer->module_count; i++) {
		struct module *module = symbolizer->modules[i];

		module->path = keep_text(symbolizer, module->path);
		if (module->saved_id)
			module->saved_id = keep_text(symbolizer, module->saved_id);
	}
	symbolizer->frames_size = 0;
	for (size_t i = 0; i < symbolizer->location_count; i++) {
		const struct location *location = &symbolizer->locations[i];
		struct pmp_frame *frames = (struct pmp_frame *)location->frames;

		if (frames == &no_memory_frame)
			continue;
		for (uint32_t k = 0; k < location->frame_count; k++) {
			frames[k].function = keep_text(symbolizer, frames[k].function);
			if (frames[k].file)
				frames[k].file = keep_text(symbolizer, frames[k].file);
			frames[k].module =
				symbolizer->modules[location->place.module]->path;
		}
		symbolizer->frames_size += location->frame_count * sizeof(*frames);
	}
}

bool pmp_symbolizer_sweep(struct pmp_symbolizer *symbolizer, const bool *used)
{
	struct pmp_intern *strings = symbolizer->strings, *regions = symbolizer->regions;
	struct pmp_intern *new_strings, *new_regions;
	uint32_t *new;

	if (symbolizer->users > 1 || symbolizer->naming || !symbolizer->location_count ||
	    PMP_RESERVE(&symbolizer->free_numbers, &symbolizer->free_capacity,
			symbolizer->location_count))
		return false;
	new_strings = pmp_intern_new();
	new_regions = pmp_intern_new();
	new = calloc(symbolizer->module_count + 1, sizeof(*new));
	if (!new_strings || !new_regions || !new) {
		pmp_intern_free(new_strings);
		pmp_intern_free(new_regions);
		free(new);
		return false;
	}
	for (size_t i = 0; i < symbolizer->location_count; i++) {
		if (!used[i] && is_location(symbolizer, (pmp_location)i))
			drop_location(symbolizer, (pmp_location)i);
	}
	symbolizer->strings = new_strings;
	symbolizer->regions = new_regions;
	sweep_modules(symbolizer, new);
	renumber(symbolizer, regions, new);
	sweep_strings(symbolizer);
	memset(symbolizer->slots, 0xff, symbolizer->slot_count * sizeof(*symbolizer->slots));
	fill_slots(symbolizer);
	pmp_intern_free(strings);
	pmp_intern_free(regions);
	free(new);
	return true;
}

/* ---- what is missing ---------------------------------------------------- */

size_t pmp_symbolizer_module_count(const struct pmp_symbolizer *symbolizer)
{
	return symbolizer->module_count;
}

static const char *module_problem(const struct module *module)
{
	if (module->saved_problem)
		return module->saved_problem;
	if (module->opened)
		return pmp_opened_problem(module->opened);
	if (!module->source)
		return "nothing is mapped there";
	if (!module->file && module->source->kind != PMP_MODULE_JITMAP)
		return "no file: code made at run time without a perf map";
	return NULL;
}

void pmp_symbolizer_module(const struct pmp_symbolizer *symbolizer, size_t i,
			   struct pmp_module_info *info)
{
	const struct module *module = symbolizer->modules[i];
	const struct pmp_module *source = module->source;
	struct pmp_module_info all = {
		.size = info->size,
		.path = module->path,
		.build_id = build_id_of(module),
		.problem = module_problem(module),
		.replaced = source && source->kind == PMP_MODULE_FILE &&
			    (source->deleted || source->open_errno == ESTALE),
		.frames = module->frames,
		.unnamed = module->unnamed,
	};

	memcpy(info, &all, all.size < sizeof(all) ? all.size : sizeof(all));
}
