/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/modules.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/intern.h"

#define VDSO_MAX (256u << 10)
#define NONE SIZE_MAX
#define TRIED_MAX 65536u /* files: how many a process can map by default */

static const char deleted[] = " (deleted)";
static const char no_program[] =
	"on this machine it is not a program or library for that processor";
static const char too_many[] = "too many other files were mapped";

/* ---- is it that file? ------------------------------------------------------------------- */

static bool read_fd(void *arg, uint64_t offset, void *data, size_t length)
{
	return offset < INT64_MAX - length &&
	       pmp_file_pread(*(int *)arg, data, length, offset) == (ssize_t)length;
}

static void id_text(const struct pmp_core_image *image, char text[PMP_CORE_ID_TEXT])
{
	text[0] = '\0';
	for (size_t i = 0; i < image->id_size; i++)
		snprintf(text + 2 * i, 3, "%02x", image->id[i]);
}

static bool has_id(const struct pmp_core_image *image)
{
	return image->id_size || image->go_id_size;
}

/* Compare by build-id, or by Go's if the core has no other. */
static bool same_id(const struct pmp_core_image *file, const struct pmp_core_image *core)
{
	if (core->id_size)
		return file->id_size == core->id_size &&
		       memcmp(file->id, core->id, core->id_size) == 0;
	return file->go_id_size == core->go_id_size &&
	       memcmp(file->go_id, core->go_id, core->go_id_size) == 0;
}

/* If the core has no build-id, the time at which the file was written must do. */
static bool is_newer(int fd, uint64_t written)
{
	struct stat status;

	return written && fstat(fd, &status) == 0 &&
	       (uint64_t)status.st_mtim.tv_sec > written / PMP_S;
}

/* NULL: it is the file; else why not. */
static const char *check_file(struct pmp_core_modules *modules,
			      const struct pmp_core_module *module, int fd)
{
	struct pmp_core_image image;
	const struct pmp_reader reader = { read_fd, &fd };

	if (!pmp_core_image_read(&image, modules->arch, &reader, 0, false,
				 &modules->image_work))
		return modules->image_work < PMP_CORE_IMAGE_WORK_MAX ? no_program
								     : too_many;
	if (module->has_image && has_id(&module->image))
		return same_id(&image, &module->image)
			       ? NULL
			       : "this machine has another version of it";
	if (is_newer(fd, modules->places.written))
		return "on this machine it is newer than the core";
	return NULL;
}

/* ---- where it is -------------------------------------------------------------------------- */

static void use_file(struct pmp_module *module, int fd)
{
	struct stat status;

	module->fd = fd;
	module->open_errno = 0;
	if (fstat(fd, &status))
		return;
	module->device = status.st_dev;
	module->inode = status.st_ino;
}

/* Use a file if it is the right one; else keep the first reason why not. */
static bool try_fd(struct pmp_core_modules *modules, struct pmp_core_module *item,
		   struct pmp_module *module, int fd)
{
	const char *problem;

	/* The process that opens files for us has detected this. */
	if (fd == -ENOEXEC && !item->problem)
		item->problem = no_program;
	if (fd < 0)
		return false;
	problem = check_file(modules, item, fd);
	if (!problem) {
		item->problem = NULL;
		use_file(module, fd);
		return true;
	}
	if (!item->problem)
		item->problem = problem;
	close(fd);
	return false;
}

static size_t index_of(const struct pmp_module *module)
{
	return module->id - 1;
}

static bool find_file(struct pmp_core_modules *modules, struct pmp_core_module *item,
		      struct pmp_module *module)
{
	char id[PMP_CORE_ID_TEXT];
	const struct pmp_core_wanted wanted = {
		.path = module->path,
		.build_id = id,
		.deleted = module->deleted,
		.program = index_of(module) == modules->program,
	};

	id_text(&item->image, id);
	for (unsigned place = 0;; place++) {
		int fd = pmp_core_places_open(&modules->places, &wanted, place);

		if (fd == -ENODATA)
			return false;
		if (try_fd(modules, item, module, fd))
			return true;
	}
}

void pmp_core_modules_open(void *arg, struct pmp_module *module)
{
	struct pmp_core_modules *modules = arg;
	struct pmp_core_module *item = &modules->items[index_of(module)];

	if (item->tried || module->kind != PMP_MODULE_FILE)
		return;
	item->tried = true;
	if (modules->tried < TRIED_MAX && find_file(modules, item, module))
		return;
	if (++modules->tried > TRIED_MAX)
		item->problem = too_many;
	if (!item->problem)
		item->problem =
			module->deleted ? "it was deleted" : "not on this machine";
	module->open_errno =
		strcmp(item->problem, "not on this machine") == 0 ? ENOENT : ESTALE;
}

/* ---- the modules ---------------------------------------------------------------------------- */

/* Returns its index, or NONE: no memory. Ids are index + 1. */
static size_t add_module(struct pmp_core_modules *modules, enum pmp_module_kind kind,
			 const char *path)
{
	struct pmp_maps *maps = modules->maps;
	struct pmp_module *module =
		pmp_module_new((uint32_t)maps->module_count + 1, kind, path);

	if (!module || pmp_maps_add_module(maps, module) < 0)
		return NONE;
	return maps->module_count - 1;
}

static size_t add_file(struct pmp_core_modules *modules, const char *path)
{
	const size_t length = strlen(path), tail = sizeof(deleted) - 1;
	size_t number = add_module(modules, PMP_MODULE_FILE, path);
	struct pmp_module *module;

	if (number == NONE || length <= tail ||
	    strcmp(path + length - tail, deleted) != 0)
		return number;
	module = modules->maps->modules[number];
	module->path[length - tail] = '\0';
	module->deleted = true;
	return number;
}

/* Add a module for each path; numbers[i] becomes the index of mapping i's. */
static int add_files(struct pmp_core_modules *modules, const struct pmp_core_file *core,
		     size_t *numbers)
{
	struct pmp_intern *paths = pmp_intern_new();
	int r = paths ? 0 : PMP_ENOMEM;

	for (size_t i = 0; !r && i < core->mapping_count; i++) {
		const char *path = core->paths.data + core->mappings[i].path;
		uint32_t number = pmp_intern(paths, path, strlen(path));

		if (number == PMP_INTERN_NONE || (number == modules->maps->module_count &&
						  add_file(modules, path) == NONE))
			r = PMP_ENOMEM;
		numbers[i] = number;
	}
	pmp_intern_free(paths);
	return r;
}

/* Read the images whose first page is in the core. */
static int read_images(struct pmp_core_modules *modules, const struct pmp_core_file *core,
		       struct pmp_core_memory *memory, const size_t *numbers)
{
	const struct pmp_reader reader = { pmp_core_memory_read, memory };

	modules->items = calloc(modules->maps->module_count + 2, sizeof(*modules->items));
	if (!modules->items)
		return PMP_ENOMEM;
	for (size_t i = 0; i < core->mapping_count; i++) {
		const struct pmp_core_mapping *mapping = &core->mappings[i];
		struct pmp_core_module *item = &modules->items[numbers[i]];

		if (core->program >= mapping->start && core->program < mapping->end)
			modules->program = numbers[i];
		if (!mapping->offset && !item->has_image)
			item->has_image = pmp_core_image_read(&item->image, modules->arch,
							      &reader, mapping->start,
							      true, &modules->image_work);
	}
	return 0;
}

/* ---- the regions --------------------------------------------------------------------------- */

/* The protection of a mapping for which the core has no segment. */
static unsigned prot_of(struct pmp_core_modules *modules, size_t number, uint64_t offset)
{
	struct pmp_core_module *item = &modules->items[number];
	struct pmp_module *module = modules->maps->modules[number];
	const struct pmp_reader reader = { read_fd, &module->fd };

	if (!item->has_image) {
		pmp_core_modules_open(modules, module);
		item->has_image =
			module->fd >= 0 &&
			pmp_core_image_read(&item->image, modules->arch, &reader, 0,
					    false, &modules->image_work);
	}
	return item->has_image ? pmp_core_image_prot(&item->image, offset)
			       : PMP_PROT_READ;
}

struct region_sweep {
	struct pmp_core_modules *modules;
	const struct pmp_core_file *core;
	const size_t *numbers; /* of the mappings */
	size_t segment, mapping, anon, vdso;
	uint64_t at;
};

static struct pmp_module *module_at(const struct region_sweep *sweep,
				    const struct pmp_core_segment *segment,
				    const struct pmp_core_mapping *mapping)
{
	size_t number = sweep->anon;

	if (mapping)
		number = sweep->numbers[sweep->mapping];
	else if (segment->start == sweep->core->vdso)
		number = sweep->vdso;
	return sweep->modules->maps->modules[number];
}

/* The next piece of memory that belongs to one segment and one mapping, or to only one of
 * the two. False: no more. */
static bool next_region(struct region_sweep *sweep, struct pmp_region *region)
{
	const struct pmp_core_file *core = sweep->core;
	const struct pmp_core_segment *segment;
	const struct pmp_core_mapping *mapping;
	uint64_t s, m;

	while (sweep->segment < core->segment_count &&
	       core->segments[sweep->segment].end <= sweep->at)
		sweep->segment++;
	while (sweep->mapping < core->mapping_count &&
	       core->mappings[sweep->mapping].end <= sweep->at)
		sweep->mapping++;
	segment = sweep->segment < core->segment_count ? &core->segments[sweep->segment]
						       : NULL;
	mapping = sweep->mapping < core->mapping_count ? &core->mappings[sweep->mapping]
						       : NULL;
	if (!segment && !mapping)
		return false;
	s = segment ? segment->start : UINT64_MAX;
	m = mapping ? mapping->start : UINT64_MAX;
	region->start = s < m ? s : m;
	if (region->start < sweep->at)
		region->start = sweep->at;
	region->end = UINT64_MAX;
	if (segment)
		region->end = s <= region->start ? segment->end : s;
	if (mapping && (m <= region->start ? mapping->end : m) < region->end)
		region->end = m <= region->start ? mapping->end : m;
	segment = segment && s <= region->start ? segment : NULL;
	mapping = mapping && m <= region->start ? mapping : NULL;
	region->offset = mapping ? mapping->offset + (region->start - m) : 0;
	region->module = module_at(sweep, segment, mapping);
	region->prot = segment ? segment->prot
			       : prot_of(sweep->modules, sweep->numbers[sweep->mapping],
					 region->offset);
	sweep->at = region->end;
	return true;
}

static int add_regions(struct region_sweep *sweep)
{
	struct pmp_region region = { 0 };
	int r = 0;

	while (!r && next_region(sweep, &region))
		r = pmp_maps_add_region(sweep->modules->maps, &region);
	return r;
}

static int copy_vdso(struct pmp_module *module, const struct pmp_core_file *core,
		     struct pmp_core_memory *memory)
{
	const struct pmp_core_segment *segment = pmp_core_file_segment(core, core->vdso);
	size_t size = segment ? segment->end - segment->start : 0;

	if (!core->vdso || !segment || segment->start != core->vdso || size > VDSO_MAX)
		return 0;
	module->image = malloc(size);
	if (!module->image)
		return PMP_ENOMEM;
	if (pmp_core_memory_read(memory, core->vdso, module->image, size)) {
		module->image_size = size;
		return 0;
	}
	free(module->image);
	module->image = NULL;
	return 0;
}

/* ---- the interface --------------------------------------------------------------------------- */

/* The user specified the program, so it is an error if it does not match. */
static int check_exe(struct pmp_core_modules *modules, struct pmp_error *err)
{
	const char *exe = modules->places.exe;
	struct pmp_module *module;
	char shown[256], was[256], id[PMP_CORE_ID_TEXT];

	if (!exe)
		return 0;
	pmp_escape(exe, shown, sizeof(shown));
	if (modules->program == NONE)
		return pmp_error_set(err, PMP_EINVAL,
				     "cannot use %s: the core does not say where its "
				     "program was",
				     shown);
	module = modules->maps->modules[modules->program];
	pmp_core_modules_open(modules, module);
	if (module->fd >= 0)
		return 0;
	pmp_escape(module->path, was, sizeof(was));
	id_text(&modules->items[modules->program].image, id);
	if (modules->places.exe_errno)
		return pmp_error_sys(err, PMP_EINVAL, modules->places.exe_errno,
				     "cannot read %s", shown);
	pmp_error_set(err, PMP_EINVAL, "%s is not the program of the core, %s", shown,
		      was);
	if (*id)
		pmp_error_hint(err, "eu-readelf -n shows its build-id; wanted is %.80s",
			       id);
	return PMP_EINVAL;
}

static int make(struct pmp_core_modules *modules, const struct pmp_core_file *core,
		struct pmp_core_memory *memory)
{
	struct region_sweep sweep = { .modules = modules, .core = core };
	size_t *numbers = malloc((core->mapping_count + 1) * sizeof(*numbers));
	int r = numbers ? add_files(modules, core, numbers) : PMP_ENOMEM;

	sweep.numbers = numbers;
	if (!r)
		r = read_images(modules, core, memory, numbers);
	if (!r) {
		sweep.anon = add_module(modules, PMP_MODULE_ANON, "");
		sweep.vdso = add_module(modules, PMP_MODULE_VDSO, "[vdso]");
		if (sweep.anon == NONE || sweep.vdso == NONE)
			r = PMP_ENOMEM;
	}
	if (!r)
		r = copy_vdso(modules->maps->modules[sweep.vdso], core, memory);
	if (!r)
		r = add_regions(&sweep);
	free(numbers);
	return r;
}

int pmp_core_modules_make(struct pmp_core_modules *modules,
			  const struct pmp_core_file *core,
			  struct pmp_core_memory *memory,
			  const struct pmp_core_places *places, struct pmp_error *err)
{
	*modules = (struct pmp_core_modules){ .arch = core->arch,
					      .program = NONE,
					      .places = *places };
	modules->maps = pmp_maps_new();
	if (!modules->maps || make(modules, core, memory) < 0)
		return pmp_error_nomem(err, "reading a core file");
	modules->maps->generation = modules->maps->exec_generation = 1;
	pmp_core_memory_use(memory, modules->maps, pmp_core_modules_open, modules);
	return check_exe(modules, err);
}

void pmp_core_modules_free(struct pmp_core_modules *modules)
{
	pmp_maps_unref(modules->maps);
	free(modules->items);
	*modules = (struct pmp_core_modules){ 0 };
}
