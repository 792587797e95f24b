/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All that has names for one module, put together: which files there are, what
 * is taken from which, and what is missing.
 */
#include "resolve/module.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "resolve/debugfile.h"
#include "resolve/elf.h"
#include "resolve/nomem.h"
#include "resolve/plt.h"
#include "resolve/symbols.h"
#include "resolve/unpack.h"

struct pmp_opened {
	struct pmp_opened_options options;
	char problem[96]; /* "": none */
	char build_id[PMP_BUILD_ID_TEXT];
	struct pmp_debug_place place;
	struct pmp_elf file, debug, mini, alt;
	struct pmp_symbols *symbols;
	const struct pmp_module *module; /* borrowed */
	struct pmp_plt plt;
	struct pmp_buf plt_name; /* of the last stub asked for */
	struct pmp_elf *dwarf;	 /* that of file and debug which has DWARF, or NULL */
	struct pmp_buf dwarf_path;
	struct pmp_lines *lines;
	bool lines_tried;
	bool dropped; /* a file, for want of memory */
};

static void set_problem(struct pmp_opened *opened, const char *text)
{
	snprintf(opened->problem, sizeof(opened->problem), "%s", text);
}

/* The module's own file. False with a problem. */
static bool open_file(struct pmp_opened *opened, const struct pmp_module *module)
{
	const char *problem = NULL;
	struct stat status;

	if (module->fd >= 0) {
		problem = pmp_elf_open(&opened->file, module->fd);
		if (fstat(module->fd, &status) == 0)
			opened->place.owner = status.st_uid;
	} else if (module->image) {
		problem = pmp_elf_open_image(&opened->file, module->image,
					     module->image_size);
	} else if (module->open_errno == ESTALE) {
		problem = "replaced on disk";
	} else if (module->open_errno) {
		problem = strerror(module->open_errno);
	} else {
		problem = "not a file";
	}
	if (problem)
		set_problem(opened, problem);
	return !problem;
}

static bool has_section(const struct pmp_elf *file, const char *name)
{
	GElf_Shdr header;

	return pmp_elf_section(file, name, &header) && header.sh_type != SHT_NOBITS;
}

static void use_dwarf(struct pmp_opened *opened, struct pmp_elf *file, const char *path)
{
	opened->dwarf = file;
	pmp_buf_puts(&opened->dwarf_path, path);
}

/* The debug file that was found here, which lacks something, gives way. */
static void fetch_debug_file(struct pmp_opened *opened)
{
	struct pmp_elf fetched;

	if (opened->dwarf == &opened->debug ||
	    !pmp_debugfile_fetch(&opened->file, &opened->place, &fetched))
		return;
	pmp_elf_close(&opened->debug);
	opened->debug = fetched;
	if (!opened->dwarf && pmp_elf_has_dwarf(&opened->debug))
		use_dwarf(opened, &opened->debug, opened->place.path);
}

/* Look outside for what the file does not have. */
static void open_debug_files(struct pmp_opened *opened)
{
	bool symbols = has_section(&opened->file, ".symtab");
	bool dwarf = pmp_elf_has_dwarf(&opened->file);
	struct pmp_buf path = { 0 };

	if (dwarf)
		use_dwarf(opened, &opened->file, opened->place.path);
	if (symbols && (dwarf || opened->options.no_dwarf))
		return;
	if (pmp_debugfile_find(&opened->file, &opened->place, &path, &opened->debug)) {
		symbols = symbols || has_section(&opened->debug, ".symtab");
		if (!dwarf && pmp_elf_has_dwarf(&opened->debug))
			use_dwarf(opened, &opened->debug, path.data);
	}
	if (!symbols)
		symbols = pmp_debugfile_unpack(&opened->file, &opened->mini);
	if (!symbols || (!opened->dwarf && !opened->options.no_dwarf))
		fetch_debug_file(opened);
	pmp_buf_free(&path);
}

/* Keep nothing open and in memory that is not needed any more. */
static void release_files(struct pmp_opened *opened)
{
	if (opened->dwarf != &opened->file || opened->options.no_dwarf)
		pmp_elf_release(&opened->file);
	if (opened->dwarf != &opened->debug || opened->options.no_dwarf)
		pmp_elf_release(&opened->debug);
	pmp_elf_release(&opened->mini);
	if (opened->options.no_dwarf)
		opened->dwarf = NULL;
}

static bool read_symbols(struct pmp_opened *opened, const uint64_t *asked, size_t count)
{
	struct pmp_elf *files[] = { &opened->file, &opened->debug, &opened->mini };

	opened->symbols =
		pmp_symbols_new(files, sizeof(files) / sizeof(*files), asked, count);
	if (!opened->symbols)
		return false;
	PMP_LOG(opened->options.log, "symbols", "%s: %zu symbols%s%s", opened->place.path,
		pmp_symbols_count(opened->symbols),
		pmp_symbols_all(opened->symbols) ? "" : ", read as far as needed",
		opened->dwarf ? ", debug information" : "");
	if (pmp_symbols_all(opened->symbols))
		release_files(opened);
	return true;
}

/* Offsets in the file to addresses. Those that no code is at are left out. */
static bool read_asked(struct pmp_opened *opened, const uint64_t *asked, size_t count)
{
	uint64_t *addresses = calloc(count + 1, sizeof(*addresses));
	size_t n = 0;
	bool read;

	if (!addresses)
		return false;
	for (size_t i = 0; i < count; i++)
		n += pmp_elf_address(&opened->file, asked[i], &addresses[n]);
	read = read_symbols(opened, addresses, n);
	free(addresses);
	if (read && pmp_symbols_count(opened->symbols) == 0)
		set_problem(opened, "no symbols");
	else if (read && !pmp_symbols_complete(opened->symbols))
		set_problem(opened, "only exported symbols");
	return read;
}

/* A file that has been written to since says nothing about the process any more. Others
 * may ask for the module's problem meanwhile, which stays the same. */
static void read_all(struct pmp_opened *opened)
{
	struct pmp_symbols *some = opened->symbols;

	if (opened->dropped || pmp_elf_written(&opened->file) ||
	    pmp_elf_written(&opened->debug) || !read_symbols(opened, NULL, 0)) {
		opened->symbols = some;
		return;
	}
	pmp_symbols_free(some);
}

struct pmp_opened *pmp_opened_new(const struct pmp_module *module,
				  const struct pmp_opened_options *options,
				  const uint64_t *asked, size_t asked_count)
{
	struct pmp_opened *opened = calloc(1, sizeof(*opened));

	if (!opened)
		return NULL;
	opened->options = *options;
	opened->module = module;
	opened->place = (struct pmp_debug_place){
		.debug_dir = options->debug_dir,
		.path = module->path,
		.log = options->log,
	};
	/* What the vDSO has is exported. */
	if (!module->image)
		opened->place.elsewhere = options->elsewhere;
	opened->file = opened->debug = opened->mini = opened->alt =
		(struct pmp_elf)PMP_ELF_EMPTY;
	if (!open_file(opened, module))
		return opened;
	pmp_elf_build_id_text(opened->file.build_id, opened->file.build_id_size,
			      opened->build_id);
	if (options->no_symbols) {
		pmp_elf_release(&opened->file);
		return opened;
	}
	pmp_plt_range(&opened->file, &opened->plt);
	open_debug_files(opened);
	if (opened->dwarf && !options->no_dwarf)
		pmp_elf_prepare_dwarf(opened->dwarf, options->lines);
	if (read_asked(opened, asked, asked_count))
		return opened;
	pmp_opened_free(opened);
	return NULL;
}

void pmp_opened_free(struct pmp_opened *opened)
{
	if (!opened)
		return;
	pmp_lines_free(opened->lines);
	pmp_symbols_free(opened->symbols);
	pmp_elf_close(&opened->file);
	pmp_elf_close(&opened->debug);
	pmp_elf_close(&opened->mini);
	pmp_elf_close(&opened->alt); /* after those that refer to it */
	pmp_buf_free(&opened->dwarf_path);
	pmp_buf_free(&opened->plt_name);
	free(opened);
}

bool pmp_opened_is_unpacking(const struct pmp_opened *opened)
{
	return opened->dwarf && pmp_unpack_has_thread(opened->dwarf->unpacking);
}

const char *pmp_opened_build_id(const struct pmp_opened *opened)
{
	return opened->build_id;
}

const char *pmp_opened_problem(const struct pmp_opened *opened)
{
	return opened->problem[0] ? opened->problem : NULL;
}

bool pmp_opened_address(const struct pmp_opened *opened, uint64_t offset,
			uint64_t *address)
{
	return pmp_elf_address(&opened->file, offset, address);
}

/* Nobody is often in a stub: its file is opened again. */
static const char *stub_name(struct pmp_opened *opened, uint64_t address)
{
	struct pmp_elf file;
	bool found;

	if (opened->module->fd < 0 || pmp_elf_open(&file, opened->module->fd))
		return NULL;
	found = pmp_plt_name(&file, address, &opened->plt_name);
	pmp_elf_close(&file);
	return found ? opened->plt_name.data : NULL;
}

const char *pmp_opened_symbol(struct pmp_opened *opened, uint64_t address)
{
	const char *name = NULL;

	if (opened->symbols && !pmp_symbols_know(opened->symbols, address))
		read_all(opened);
	if (opened->symbols)
		name = pmp_symbols_find(opened->symbols, address);
	if (!name && address >= opened->plt.start && address < opened->plt.end)
		name = stub_name(opened, address);
	return name;
}

/*
 * A file that shares DWARF with others is of no use without what they share:
 * libdw would look for it by itself wherever the file says.
 */
static void open_lines(struct pmp_opened *opened)
{
	opened->lines_tried = true;
	if (!opened->dwarf || pmp_buf_failed(&opened->dwarf_path))
		return;
	if (!pmp_elf_dwarf(opened->dwarf))
		PMP_LOG(opened->options.log, "lines", "%s: debug information is damaged",
			opened->dwarf_path.data);
	else if (!pmp_debugfile_alt(opened->dwarf, opened->dwarf_path.data,
				    &opened->place, &opened->alt))
		PMP_LOG(opened->options.log, "lines", "%s: its dwz file is missing",
			opened->dwarf_path.data);
	else
		opened->lines = pmp_lines_new(opened->dwarf->dwarf, opened->options.log);
}

struct question {
	struct pmp_opened *opened;
	uint64_t address;
	struct pmp_place *places;
	size_t count;
};

static void answer(void *arg)
{
	struct question *question = arg;
	struct pmp_opened *opened = question->opened;

	if (!opened->lines_tried)
		open_lines(opened);
	if (opened->lines)
		question->count = pmp_lines_find(opened->lines, question->address,
						 opened->options.lines, question->places);
}

/* Without memory for its debug information a module goes on without it. */
static void drop_lines(struct pmp_opened *opened)
{
	PMP_LOG(opened->options.log, "lines", "%s: no memory for debug information",
		opened->place.path);
	pmp_lines_free(opened->lines);
	opened->lines = NULL;
	if (!pmp_symbols_all(opened->symbols))
		read_all(opened);
	if (opened->dwarf)
		pmp_elf_release(opened->dwarf);
	opened->dwarf = NULL;
	opened->dropped = true;
}

size_t pmp_opened_places(struct pmp_opened *opened, uint64_t address,
			 struct pmp_place *places)
{
	struct question question = { opened, address, places, 0 };

	if (opened->lines_tried && !opened->lines)
		return 0;
	if (pmp_nomem_run(answer, &question))
		return question.count;
	drop_lines(opened);
	return 0;
}
