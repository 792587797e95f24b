/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opening the files of modules for their names: with the sample came descriptors, a
 * saved profile tells paths only.
 */
#include "resolve/opening.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "resolve/elf.h"
#include "resolve/elsewhere.h"

#define UNPACKING_MAX 4 /* modules at a time, each of which may have a thread */
#define ASKED_MAX 10000 /* places in a module */

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

static bool is_of_build(int fd, const char *build_id)
{
	char text[PMP_BUILD_ID_TEXT];
	struct pmp_elf file;

	if (fd < 0 || pmp_elf_open(&file, fd))
		return false;
	pmp_elf_build_id_text(file.build_id, file.build_id_size, text);
	pmp_elf_close(&file);
	return strcmp(text, build_id) == 0;
}

/* If this machine does not have it. Of another version the debug file is not wanted. */
static void fetch_saved(const char *build_id, struct pmp_module *source,
			struct pmp_elsewhere *elsewhere)
{
	int fd;

	if (!elsewhere->fetch || is_of_build(source->fd, build_id))
		return;
	fd = pmp_elsewhere_fetch(elsewhere, build_id, source->path, true);
	if (is_of_build(fd, build_id)) {
		if (source->fd >= 0)
			close(source->fd);
		source->fd = fd;
		source->open_errno = 0;
		return;
	}
	if (fd >= 0)
		close(fd);
	*elsewhere = (struct pmp_elsewhere){ 0 };
}

/* Whose file it was says the build-id, not the name. */
static void check_saved(struct pmp_known_module *module)
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

/* Where in a module's file names are wanted, as far as they are known. */
struct asked {
	uint64_t *offsets;
	size_t count, capacity;
};

/* Without memory, or of too many, none: then all names are read. */
static void collect_asked(const struct pmp_symbolizer *symbolizer,
			  const struct pmp_known_module *module, struct asked *asked)
{
	const struct pmp_locations *locations = &symbolizer->locations;

	for (size_t i = 0; i < locations->count; i++) {
		const struct pmp_located *location = &locations->items[i];
		const struct pmp_spot *spot = &location->spot;

		if (location->frame_count || spot->module == PMP_LOCATION_NONE ||
		    symbolizer->modules.items[spot->module] != module)
			continue;
		if (asked->count == ASKED_MAX ||
		    PMP_RESERVE(&asked->offsets, &asked->capacity, asked->count + 1)) {
			asked->count = 0;
			return;
		}
		asked->offsets[asked->count++] =
			spot->address - !(spot->flags & PMP_FRAME_EXACT);
	}
}

void pmp_opening_one(struct pmp_symbolizer *symbolizer, struct pmp_known_module *module)
{
	struct pmp_opened_options options = {
		.debug_dir = symbolizer->debug_dir,
		.no_symbols = symbolizer->options.no_symbols,
		.no_dwarf = symbolizer->options.no_inline && !symbolizer->options.lines,
		.lines = symbolizer->options.lines,
		.log = &symbolizer->log,
	};
	struct pmp_opened *opened = module->opened;
	struct pmp_jitmap *jitmap = module->jitmap;
	struct asked asked = { 0 };

	module->wanted = false;
	if (module->saved_problem)
		return;
	if (!options.no_symbols)
		options.elsewhere =
			(struct pmp_elsewhere){ symbolizer->options.fetch,
						symbolizer->options.fetch_arg };
	if (module->file && !opened)
		collect_asked(symbolizer, module, &asked);
	pmp_state_release(symbolizer);
	if (module->saved_id && module->file && !opened) {
		open_saved(symbolizer->symfs, module->source);
		fetch_saved(module->saved_id, module->source, &options.elsewhere);
	}
	if (module->file && !opened)
		opened = pmp_opened_new(module->source, &options, asked.offsets,
					asked.count);
	if (module->source && module->source->kind == PMP_MODULE_JITMAP && !jitmap &&
	    !options.no_symbols)
		jitmap = pmp_jitmap_new(module->source->fd);
	free(asked.offsets);
	pmp_state_acquire(symbolizer);
	module->opened = opened;
	module->jitmap = jitmap;
	if (module->saved_id && module->file)
		check_saved(module);
}

static bool is_unpacking(const struct pmp_known_module *module)
{
	return module->opened && pmp_opened_is_unpacking(module->opened);
}

void pmp_opening_all(struct pmp_symbolizer *symbolizer, struct pmp_known_module *first)
{
	const struct pmp_modules *modules = &symbolizer->modules;
	const bool others = first->wanted && !symbolizer->options.release;
	size_t unpacking = 0;

	pmp_opening_one(symbolizer, first);
	for (size_t i = 0; others && i < modules->count; i++)
		unpacking += is_unpacking(modules->items[i]);
	for (size_t i = 0; others && i < modules->count && unpacking < UNPACKING_MAX;
	     i++) {
		if (!modules->items[i]->wanted)
			continue;
		pmp_opening_one(symbolizer, modules->items[i]);
		unpacking += is_unpacking(modules->items[i]);
	}
}
