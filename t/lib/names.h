/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For tests of libpmp/resolve: an artificial address space with one file, which
 * compilers make.
 *
 *	run("cc -g -o a.out a.c");
 *	struct space space = space_of("a.out");
 *	size_t n = names_at(&space, symbolizer, address, true, &frames);
 *	space_free(&space);
 *
 * Each test works in a temporary directory of its own: enter_tmp(), leave_tmp().
 */
#ifndef PMP_T_NAMES_H
#define PMP_T_NAMES_H

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/tap.h"
#include "libpmp.h"
#include "resolve/symbolizer.h"
#include "sample.h"

#define SPACE_BASE 0x7f0000000000u

struct space {
	struct pmp_maps *maps;
	uint64_t bias; /* pc = ELF address + bias */
};

/* A program whose function `hidden` is only known by its debug information. */
TAP_UNUSED
static const char hidden_source[] =
	"volatile int sink;\n"
	"static inline __attribute__((always_inline)) int inlined(int x) { return sink + x; }\n"
	"static __attribute__((noinline)) int hidden(int x)\n"
	"{\n"
	"	return inlined(x) * 3;\n"
	"}\n"
	"int main(int argc, char **argv) { (void)argv; return hidden(argc); }\n";

static char tmp_dir[] = "/tmp/pmp-test.XXXXXX";

TAP_UNUSED
static void enter_tmp(void)
{
	setenv("LC_ALL", "C", 1);
	if (!mkdtemp(tmp_dir) || chdir(tmp_dir) != 0) {
		perror(tmp_dir);
		exit(99);
	}
}

__attribute__((format(printf, 1, 2))) static bool run(const char *format, ...)
{
	char command[4096];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	return system(command) == 0;
}

TAP_UNUSED
static void leave_tmp(void)
{
	if (chdir("/") != 0 || !run("rm -rf %s", tmp_dir))
		diag("cannot remove %s", tmp_dir);
}

TAP_UNUSED
static bool have(const char *command)
{
	return run("command -v %s >/dev/null 2>&1", command);
}

TAP_UNUSED
static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	if (!file || fputs(text, file) < 0 || fclose(file) != 0) {
		perror(path);
		exit(99);
	}
}

/* The first line of a command's output, without its newline. */
__attribute__((format(printf, 3, 4))) TAP_UNUSED static void
output_of(char *line, size_t size, const char *format, ...)
{
	char command[4096];
	va_list args;
	FILE *pipe;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	line[0] = '\0';
	pipe = popen(command, "r");
	if (!pipe)
		return;
	if (!fgets(line, (int)size, pipe))
		line[0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	/* Read all, so that the command does not die of SIGPIPE. */
	while (fgetc(pipe) != EOF)
		;
	pclose(pipe);
}

/* The address of a symbol in a file that has not been stripped; 0: none. */
TAP_UNUSED
static uint64_t symbol_address(const char *file, const char *symbol)
{
	char line[256];

	output_of(line, sizeof(line), "nm %s | awk '$3 == \"%s\" { print $1 }'", file,
		  symbol);
	return strtoull(line, NULL, 16);
}

/*
 * Map a file like the kernel: each executable segment is rounded to pages, its offset
 * is rounded down.
 */
static struct space space_of(const char *path)
{
	struct space space = { .maps = pmp_maps_new() };
	struct pmp_module *module = pmp_module_new(1, PMP_MODULE_FILE, path);
	struct pmp_region region = { .module = module,
				     .prot = PMP_PROT_READ | PMP_PROT_EXEC };
	Elf64_Ehdr header = { 0 };
	Elf64_Phdr segment;
	struct stat status = { 0 };

	module->fd = open(path, O_RDONLY | O_CLOEXEC);
	module->open_errno = module->fd < 0 ? errno : 0;
	if (module->fd >= 0 && fstat(module->fd, &status) == 0) {
		module->device = status.st_dev;
		module->inode = status.st_ino;
	}
	if (pread(module->fd, &header, sizeof(header), 0) != sizeof(header))
		header.e_phnum = 0;
	pmp_maps_add_module(space.maps, module);
	if (header.e_type == ET_DYN)
		space.bias = SPACE_BASE;
	for (unsigned i = 0; i < header.e_phnum && i < 64; i++) {
		if (pread(module->fd, &segment, sizeof(segment),
			  (off_t)(header.e_phoff + i * sizeof(segment))) !=
			    sizeof(segment) ||
		    segment.p_type != PT_LOAD || !(segment.p_flags & PF_X))
			continue;
		region.start = (segment.p_vaddr & ~0xfffull) + space.bias;
		region.end = ((segment.p_vaddr + segment.p_memsz + 0xfff) & ~0xfffull) +
			     space.bias;
		region.offset = segment.p_offset & ~0xfffull;
		pmp_maps_add_region(space.maps, &region);
	}
	return space;
}

static void space_free(struct space *space)
{
	pmp_maps_unref(space->maps);
}

static struct pmp_symbolizer *symbolizer_of(struct pmp_symbolizer_options options)
{
	struct pmp_symbolizer *symbolizer;

	options.size = sizeof(options);
	if (pmp_symbolizer_new(&options, &symbolizer, NULL) != 0)
		exit(99);
	return symbolizer;
}

/* The frames at an ELF address. */
static size_t names_at(const struct space *space, struct pmp_symbolizer *symbolizer,
		       uint64_t address, bool exact, const struct pmp_frame **frames)
{
	const struct pmp_raw_frame raw = {
		.pc = address + space->bias,
		.flags = exact ? PMP_FRAME_EXACT : 0,
	};

	return pmp_symbolizer_frames(
		symbolizer, pmp_symbolizer_locate(symbolizer, space->maps, &raw), frames);
}

/* The physical function at an address of a file, with a symbolizer of its own;
 * the text is valid until the next call. */
TAP_UNUSED
static const char *name_in(const char *path, uint64_t address,
			   struct pmp_symbolizer_options options)
{
	static char name[8192];
	struct space space = space_of(path);
	struct pmp_symbolizer *symbolizer = symbolizer_of(options);
	const struct pmp_frame *frames;
	size_t count = names_at(&space, symbolizer, address, true, &frames);

	snprintf(name, sizeof(name), "%s", frames[count - 1].function);
	pmp_symbolizer_free(symbolizer);
	space_free(&space);
	return name;
}

#endif
