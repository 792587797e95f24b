/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All sources of names for one module: which files there are, what is taken from
 * which of them, and what is missing.
 */
#include "resolve/dso.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fault.h"
#include "base/file.h"
#include "resolve/debugfile.h"
#include "resolve/elf.h"
#include "resolve/go-names.h"
#include "resolve/libdw-oom.h"
#include "resolve/objects.h"
#include "resolve/plt.h"
#include "resolve/symbols.h"
#include "resolve/unpack.h"

struct pmp_dso {
	struct pmp_dso_options options;
	char problem[96]; /* "": none */
	char build_id[PMP_BUILD_ID_TEXT];
	struct pmp_debug_place place;
	struct pmp_elf file, debug, mini, alt;
	struct pmp_symbols *symbols;
	struct pmp_go_names *go;     /* of a program in Go, or NULL */
	struct pmp_objects *objects; /* once an object was asked for */
	bool objects_tried;
	const struct pmp_module *module; /* borrowed */
	struct pmp_plt plt;
	struct pmp_stubs *stubs; /* once a stub was asked for */
	bool stubs_tried;
	struct pmp_buf plt_name; /* of the last stub asked for */
	struct pmp_elf *dwarf;	 /* &file or &debug, which has DWARF, or NULL */
	struct pmp_buf dwarf_path;
	struct pmp_lines *lines;
	bool lines_tried;
	bool dropped;	/* a file was closed for want of memory */
	bool unfetched; /* fetching a debug file has failed */
};

static void set_problem(struct pmp_dso *dso, const char *text)
{
	snprintf(dso->problem, sizeof(dso->problem), "%s", text);
}

/* Open the module's own file. False: the problem is set. */
static bool open_file(struct pmp_dso *dso, const struct pmp_module *module)
{
	const char *problem = NULL;
	struct stat status;

	if (module->fd >= 0) {
		problem = pmp_elf_open(&dso->file, module->fd);
		if (fstat(module->fd, &status) == 0)
			dso->place.owner = status.st_uid;
	} else if (module->image) {
		problem =
			pmp_elf_open_image(&dso->file, module->image, module->image_size);
	} else if (module->open_errno == ESTALE) {
		problem = "replaced on disk";
	} else if (module->open_errno == PMP_EFOREIGN) {
		problem = "on another user's file system";
	} else if (module->open_errno) {
		problem = strerror(module->open_errno);
	} else {
		problem = "not a file";
	}
	if (problem)
		set_problem(dso, problem);
	return !problem;
}

static bool has_section(const struct pmp_elf *file, const char *name)
{
	GElf_Shdr header;

	return pmp_elf_section(file, name, &header) && header.sh_type != SHT_NOBITS;
}

static void use_dwarf(struct pmp_dso *dso, struct pmp_elf *file, const char *path)
{
	dso->dwarf = file;
	pmp_buf_puts(&dso->dwarf_path, path);
}

/* Replace a debug file that was found here but lacks something, unless it has the DWARF. */
static void fetch_debug_file(struct pmp_dso *dso)
{
	struct pmp_elf fetched;

	if (dso->dwarf == &dso->debug)
		return;
	dso->unfetched = !pmp_debugfile_fetch(&dso->file, &dso->place, &fetched);
	if (dso->unfetched)
		return;
	pmp_elf_close(&dso->debug);
	dso->debug = fetched;
	if (!dso->dwarf && pmp_elf_has_dwarf(&dso->debug))
		use_dwarf(dso, &dso->debug, dso->place.path);
}

/* Look in other files for what the module's file lacks. */
static void open_debug_files(struct pmp_dso *dso)
{
	bool symbols = has_section(&dso->file, ".symtab");
	bool dwarf = pmp_elf_has_dwarf(&dso->file);
	struct pmp_buf path = { 0 };

	if (dwarf)
		use_dwarf(dso, &dso->file, dso->place.path);
	if (symbols && (dwarf || dso->options.no_dwarf))
		return;
	if (pmp_debugfile_find(&dso->file, &dso->place, &path, &dso->debug)) {
		symbols = symbols || has_section(&dso->debug, ".symtab");
		if (!dwarf && pmp_elf_has_dwarf(&dso->debug))
			use_dwarf(dso, &dso->debug, path.data);
	}
	if (!symbols)
		symbols = pmp_debugfile_unpack(&dso->file, &dso->mini);
	if (!symbols || (!dso->dwarf && !dso->options.no_dwarf))
		fetch_debug_file(dso);
	pmp_buf_free(&path);
}

/* Close and free what is not needed any more. */
static void release_files(struct pmp_dso *dso)
{
	if (dso->dwarf != &dso->file || dso->options.no_dwarf)
		pmp_elf_release(&dso->file);
	if (dso->dwarf != &dso->debug || dso->options.no_dwarf)
		pmp_elf_release(&dso->debug);
	pmp_elf_release(&dso->mini);
	if (dso->options.no_dwarf)
		dso->dwarf = NULL;
}

static bool read_symbols(struct pmp_dso *dso, const uint64_t *asked, size_t count)
{
	struct pmp_elf *files[] = { &dso->file, &dso->debug, &dso->mini };

	dso->symbols =
		pmp_symbols_new(files, sizeof(files) / sizeof(*files), asked, count);
	if (!dso->symbols)
		return false;
	PMP_LOG(dso->options.log, "symbols", "%s: %zu symbols%s%s%s", dso->place.path,
		pmp_symbols_count(dso->symbols),
		pmp_symbols_all(dso->symbols) ? "" : ", read as far as needed",
		dso->dwarf ? ", debug information" : "",
		dso->go ? ", the table of Go" : "");
	if (pmp_symbols_all(dso->symbols))
		release_files(dso);
	return true;
}

/* Convert offsets in the file to addresses, without those that are not of code, and read
 * symbols. */
static bool read_asked(struct pmp_dso *dso, const uint64_t *asked, size_t count)
{
	uint64_t *addresses = calloc(count + 1, sizeof(*addresses));
	size_t n = 0;
	bool read;

	if (!addresses)
		return false;
	for (size_t i = 0; i < count; i++)
		n += pmp_elf_address(&dso->file, asked[i], &addresses[n]);
	read = read_symbols(dso, addresses, n);
	free(addresses);
	if (read && pmp_symbols_count(dso->symbols) == 0 && !dso->go)
		set_problem(dso, "no symbols");
	else if (read && pmp_symbols_count(dso->symbols) &&
		 !pmp_symbols_complete(dso->symbols))
		set_problem(dso, "only exported symbols");
	return read;
}

/* Read all symbols, unless a file has been written to, as it may not match the process any
 * more. Other threads may read the module's problem meanwhile, so do not change that. */
static void read_all(struct pmp_dso *dso)
{
	struct pmp_symbols *some = dso->symbols;

	if (dso->dropped || pmp_elf_written(&dso->file) || pmp_elf_written(&dso->debug) ||
	    !read_symbols(dso, NULL, 0)) {
		dso->symbols = some;
		return;
	}
	pmp_symbols_free(some);
}

struct pmp_dso *pmp_dso_new(const struct pmp_module *module,
			    const struct pmp_dso_options *options, const uint64_t *asked,
			    size_t asked_count)
{
	struct pmp_dso *dso = calloc(1, sizeof(*dso));

	if (!dso)
		return NULL;
	dso->options = *options;
	dso->module = module;
	dso->place = (struct pmp_debug_place){
		.debug_dir = options->debug_dir,
		.path = module->path,
		.log = options->log,
		.budget = options->budget,
	};
	/* The vDSO needs no debug files: all it has is exported. */
	if (!module->image) {
		dso->place.fetch = options->fetch;
		dso->place.ask = options->ask;
		dso->place.ask_arg = options->ask_arg;
	}
	dso->file = dso->debug = dso->mini = dso->alt = (struct pmp_elf)PMP_ELF_EMPTY;
	if (!open_file(dso, module))
		return dso;
	pmp_elf_build_id_text(dso->file.build_id, dso->file.build_id_size, dso->build_id);
	if (options->no_symbols) {
		pmp_elf_release(&dso->file);
		return dso;
	}
	pmp_plt_range(&dso->file, &dso->plt);
	open_debug_files(dso);
	if (dso->dwarf && !options->no_dwarf)
		pmp_elf_prepare_dwarf(dso->dwarf, options->lines);
	dso->go = pmp_go_names_new(&dso->file, options->budget);
	if (read_asked(dso, asked, asked_count))
		return dso;
	pmp_dso_free(dso);
	return NULL;
}

void pmp_dso_free(struct pmp_dso *dso)
{
	if (!dso)
		return;
	pmp_lines_free(dso->lines);
	pmp_symbols_free(dso->symbols);
	pmp_go_names_free(dso->go);
	pmp_objects_free(dso->objects);
	pmp_stubs_free(dso->stubs);
	pmp_elf_close(&dso->file);
	pmp_elf_close(&dso->debug);
	pmp_elf_close(&dso->mini);
	pmp_elf_close(&dso->alt); /* after those that refer to it */
	pmp_buf_free(&dso->dwarf_path);
	pmp_buf_free(&dso->plt_name);
	free(dso);
}

bool pmp_dso_is_unpacking(const struct pmp_dso *dso)
{
	return dso->dwarf && pmp_unpack_has_thread(dso->dwarf->unpacking);
}

const char *pmp_dso_build_id(const struct pmp_dso *dso)
{
	return dso->build_id;
}

const char *pmp_dso_problem(const struct pmp_dso *dso)
{
	return dso->problem[0] ? dso->problem : NULL;
}

bool pmp_dso_address(const struct pmp_dso *dso, uint64_t offset, uint64_t *address)
{
	return pmp_elf_address(&dso->file, offset, address);
}

static const char *stub_name(struct pmp_dso *dso, uint64_t address)
{
	if (!dso->stubs_tried && dso->module->fd >= 0)
		dso->stubs = pmp_stubs_new(dso->module->fd);
	dso->stubs_tried = true;
	if (!dso->stubs || !pmp_stubs_name(dso->stubs, address, &dso->plt_name))
		return NULL;
	return dso->plt_name.data;
}

const char *pmp_dso_symbol(struct pmp_dso *dso, uint64_t address)
{
	const char *name = NULL;

	if (dso->symbols && !pmp_symbols_know(dso->symbols, address))
		read_all(dso);
	if (dso->symbols)
		name = pmp_symbols_find(dso->symbols, address);
	if (!name && dso->go)
		name = pmp_go_names_find(dso->go, address);
	if (!name && address >= dso->plt.start && address < dso->plt.end)
		name = stub_name(dso, address);
	return name;
}

/* ---- objects ----------------------------------------------------------------- */

/* Open the module's file again, as it may be closed by now; fails if it was written to. */
static bool open_again(const struct pmp_dso *dso, struct pmp_elf *file)
{
	if (dso->module->fd < 0 || pmp_elf_open(file, dso->module->fd))
		return false;
	if (file->size == dso->file.size && !pmp_elf_written(&dso->debug) &&
	    file->written.tv_sec == dso->file.written.tv_sec &&
	    file->written.tv_nsec == dso->file.written.tv_nsec)
		return true;
	pmp_elf_close(file);
	return false;
}

/* Find the debug file for symbols of data. It may have been read for code and closed. */
static void find_data_symbols(struct pmp_dso *dso, const struct pmp_elf *file,
			      struct pmp_elf *debug)
{
	struct pmp_buf path = { 0 };

	if (!pmp_debugfile_find(file, &dso->place, &path, debug) && !dso->unfetched)
		dso->unfetched = !pmp_debugfile_fetch(file, &dso->place, debug);
	pmp_buf_free(&path);
}

static struct pmp_objects *read_objects(struct pmp_dso *dso, const uint64_t *asked,
					size_t count)
{
	struct pmp_elf file, debug = PMP_ELF_EMPTY;
	struct pmp_elf *files[] = { &file, &debug };
	struct pmp_objects *objects;

	if (!open_again(dso, &file))
		return NULL;
	if (dso->debug.elf)
		files[1] = &dso->debug;
	else if (!dso->options.no_symbols && !has_section(&file, ".symtab"))
		find_data_symbols(dso, &file, &debug);
	objects = pmp_objects_new(files, sizeof(files) / sizeof(*files),
				  dso->options.no_symbols, asked, count);
	if (objects)
		PMP_LOG(dso->options.log, "symbols", "%s: %zu objects", dso->place.path,
			pmp_objects_count(objects));
	pmp_elf_close(&file);
	pmp_elf_close(&debug);
	return objects;
}

bool pmp_dso_lacks_objects(const struct pmp_dso *dso)
{
	return !dso->objects_tried;
}

void pmp_dso_read_objects(struct pmp_dso *dso, const uint64_t *asked, size_t count)
{
	dso->objects = read_objects(dso, asked, count);
	dso->objects_tried = true;
}

/* Read all objects; if the file has changed, keep those that were read. */
static void read_all_objects(struct pmp_dso *dso)
{
	struct pmp_objects *all = read_objects(dso, NULL, 0);

	if (!all)
		return;
	pmp_objects_free(dso->objects);
	dso->objects = all;
}

int pmp_dso_object(struct pmp_dso *dso, uint64_t distance, struct pmp_dso_object *object)
{
	*object = (struct pmp_dso_object){ .name = NULL };
	if (!dso->objects_tried)
		pmp_dso_read_objects(dso, NULL, 0);
	if (!dso->objects)
		return PMP_EIO;
	if (!pmp_objects_address(dso->objects, distance, &object->address))
		return 0;
	if (!pmp_objects_know(dso->objects, object->address))
		read_all_objects(dso);
	object->name = pmp_objects_find(dso->objects, object->address, &object->start);
	return 1;
}

/* ---- lines ------------------------------------------------------------------- */

/*
 * A file that shares DWARF with others is not used without the shared file: libdw
 * would look for that by itself, wherever the file says.
 */
static void open_lines(struct pmp_dso *dso)
{
	dso->lines_tried = true;
	if (!dso->dwarf || pmp_buf_failed(&dso->dwarf_path))
		return;
	if (!pmp_elf_dwarf(dso->dwarf))
		PMP_LOG(dso->options.log, "lines", "%s: debug information is damaged",
			dso->dwarf_path.data);
	else if (!pmp_debugfile_alt(dso->dwarf, dso->dwarf_path.data, &dso->place,
				    &dso->alt))
		PMP_LOG(dso->options.log, "lines", "%s: its dwz file is missing",
			dso->dwarf_path.data);
	else
		dso->lines = pmp_lines_new(dso->dwarf->dwarf, dso->dwarf->from,
					   dso->place.owner, dso->options.budget,
					   dso->options.log);
}

struct question {
	struct pmp_dso *dso;
	uint64_t address;
	struct pmp_place *places;
	size_t count;
};

static void answer(void *arg)
{
	struct question *question = arg;
	struct pmp_dso *dso = question->dso;

	if (!dso->lines_tried)
		open_lines(dso);
	if (dso->lines)
		question->count = pmp_lines_find(dso->lines, question->address,
						 dso->options.lines, question->places);
}

/* If memory runs out for debug information, a module does without. */
static void drop_lines(struct pmp_dso *dso)
{
	PMP_LOG(dso->options.log, "lines", "%s: no memory for debug information",
		dso->place.path);
	pmp_lines_free(dso->lines);
	dso->lines = NULL;
	if (!pmp_symbols_all(dso->symbols))
		read_all(dso);
	if (dso->dwarf)
		pmp_elf_release(dso->dwarf);
	dso->dwarf = NULL;
	dso->dropped = true;
}

/* Find places in the debug information, if there is any. */
static size_t find_lines(struct pmp_dso *dso, uint64_t address, struct pmp_place *places)
{
	struct question question = { dso, address, places, 0 };

	if (dso->lines_tried && !dso->lines)
		return 0;
	if (pmp_libdw_run(answer, &question))
		return question.count;
	drop_lines(dso);
	return 0;
}

size_t pmp_dso_places(struct pmp_dso *dso, uint64_t address, struct pmp_place *places)
{
	size_t count = find_lines(dso, address, places);

	if (!count && dso->go)
		count = pmp_go_names_places(dso->go, address, dso->options.lines, places);
	return count;
}

/* ---- of saved profiles ----------------------------------------------------- */

/* A profile can name any file on this machine, and its reader must not get secrets, so only
 * ELF files are opened. */
static int open_code(const char *path, size_t given)
{
	int fd = pmp_file_open_regular(path, given);

	if (fd < 0 || PMP_FAULT("give-named") || pmp_file_is_code(fd))
		return fd;
	close(fd);
	return -ENOEXEC;
}

static int open_below(const char *directory, const char *path)
{
	struct pmp_buf buf = { 0 };
	int fd;

	pmp_buf_printf(&buf, "%s/%s", directory, path);
	fd = pmp_buf_failed(&buf) ? -ENOMEM : open_code(buf.data, strlen(directory));
	pmp_buf_free(&buf);
	return fd;
}

bool pmp_dso_open_place(const char *symfs, unsigned place, struct pmp_module *source)
{
	const char *slash = strrchr(source->path, '/');
	int fd = -ENOENT;

	if (place > 2)
		return false;
	if (place == 2)
		fd = open_code(source->path, 0);
	else if (symfs[0])
		fd = open_below(symfs, place && slash ? slash + 1 : source->path);
	source->open_errno = fd < 0 ? -fd : 0;
	source->fd = fd < 0 ? -1 : fd;
	return true;
}

bool pmp_dso_is_of_build(int fd, const char *build_id)
{
	char text[PMP_BUILD_ID_TEXT];
	struct pmp_elf file;

	if (fd < 0 || pmp_elf_open(&file, fd))
		return false;
	pmp_elf_build_id_text(file.build_id, file.build_id_size, text);
	pmp_elf_close(&file);
	return strcmp(text, build_id) == 0;
}

/* Fetch the file if this machine does not have it. If that fails, clear *fetch, as the
 * debug file is of no use for another version. */
static void fetch_saved(const char *build_id, struct pmp_module *source,
			struct pmp_fetch *fetch)
{
	int fd;

	if (!fetch->get || pmp_dso_is_of_build(source->fd, build_id))
		return;
	fd = pmp_fetch_file(fetch, build_id, source->path, true);
	if (pmp_dso_is_of_build(fd, build_id)) {
		if (source->fd >= 0)
			close(source->fd);
		source->fd = fd;
		source->open_errno = 0;
		return;
	}
	if (fd >= 0)
		close(fd);
	*fetch = (struct pmp_fetch){ 0 };
}

/* The first file of this build; without one, the first of another build, if any. */
static void open_here(const char *symfs, const char *build_id, struct pmp_module *source)
{
	int other = -1;

	for (unsigned place = 0; pmp_dso_open_place(symfs, place, source); place++) {
		if (pmp_dso_is_of_build(source->fd, build_id))
			break;
		if (other < 0)
			other = source->fd;
		else if (source->fd >= 0)
			close(source->fd);
		source->fd = -1;
	}
	if (source->fd >= 0 && other >= 0)
		close(other);
	else if (other >= 0)
		source->fd = other;
	if (source->fd >= 0)
		source->open_errno = 0;
}

void pmp_dso_open_saved(const char *symfs, const char *build_id,
			struct pmp_module *source, struct pmp_fetch *fetch)
{
	open_here(symfs, build_id, source);
	fetch_saved(build_id, source, fetch);
}
