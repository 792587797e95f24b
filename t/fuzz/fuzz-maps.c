/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: the maps of a process that changes: the input has its maps one after the
 * other, separated by NULs. The result must keep what sample.h promises, and reading the
 * same maps again must give the same result.
 */
#include "fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proc/maps.h"

#define READS_MAX 8 /* further maps of an input are not read */

static const char stat_line[] =
	"4100 (a) S 1 4100 4100 0 -1 4194304 0 0 0 0 1 2 0 0 20 0 1 0 121259 2\n";

/* A directory that looks like one of a process in /proc; its root is empty. */
static char directory[64];
static struct pmp_process process = {
	.pid = 4100, .pidfd = -1, .proc = -1, .mem = -1, .ns_pid = 4100
};
static int maps_file = -1;

static void leave_nothing(void)
{
	unlinkat(process.proc, "stat", 0);
	unlinkat(process.proc, "maps", 0);
	unlinkat(process.proc, "root", AT_REMOVEDIR);
	rmdir(directory);
}

static void make_process(void)
{
	const char *tmp = getenv("TMPDIR");
	int stat;

	snprintf(directory, sizeof(directory), "%.40s/fuzz-maps-XXXXXX",
		 tmp ? tmp : "/tmp");
	if (!mkdtemp(directory))
		abort();
	process.proc = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	atexit(leave_nothing);
	stat = openat(process.proc, "stat", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (stat < 0 || write(stat, stat_line, sizeof(stat_line) - 1) < 0 || close(stat))
		abort();
	maps_file = openat(process.proc, "maps", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (maps_file < 0 || mkdirat(process.proc, "root", 0700))
		abort();
}

static bool has_module(const struct pmp_maps *maps, const struct pmp_module *module)
{
	for (size_t i = 0; i < maps->module_count; i++) {
		if (maps->modules[i] == module)
			return true;
	}
	return false;
}

static void check_regions(const struct pmp_maps *maps)
{
	uint64_t end = 0;

	for (size_t i = 0; i < maps->region_count; i++) {
		const struct pmp_region *region = &maps->regions[i];

		if (region->start < end || region->start >= region->end ||
		    !has_module(maps, region->module) ||
		    pmp_maps_find(maps, region->start) != region ||
		    pmp_maps_find(maps, region->end - 1) != region ||
		    pmp_maps_room(maps, region->start, SIZE_MAX) !=
			    region->end - region->start)
			abort();
		end = region->end;
	}
}

/* No module occurs twice, and none lacks a name. */
static void check_modules(const struct pmp_maps *maps, uint32_t next_id)
{
	for (size_t i = 0; i < maps->module_count; i++) {
		const struct pmp_module *module = maps->modules[i];

		if (!module->path || module->id >= next_id)
			abort();
		for (size_t j = 0; j < i; j++) {
			if (maps->modules[j] == module ||
			    maps->modules[j]->id == module->id)
				abort();
		}
	}
}

/* Read the maps of a text; takes ownership of the old maps. */
static struct pmp_maps *read_maps(const uint8_t *text, size_t length,
				  struct pmp_maps *old, uint32_t *next_id)
{
	struct pmp_maps *maps, *again;
	struct pmp_error err;

	if (pwrite(maps_file, text, length, 0) != (ssize_t)length ||
	    ftruncate(maps_file, (off_t)length))
		abort();
	if (pmp_maps_read(&process, old, next_id, NULL, &maps, &err)) {
		if (maps || !*err.message)
			abort();
		return old;
	}
	if (old && maps != old && maps->generation != old->generation + 1)
		abort();
	if (pmp_maps_read(&process, maps, next_id, NULL, &again, &err) || again != maps)
		abort();
	pmp_maps_unref(again);
	pmp_maps_unref(old);
	return maps;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pmp_maps *maps = NULL;
	uint32_t next_id = 1;

	if (maps_file < 0)
		make_process();
	for (int i = 0; i < READS_MAX && size; i++) {
		const uint8_t *end = memchr(data, 0, size);
		size_t length = end ? (size_t)(end - data) : size;

		maps = read_maps(data, length, maps, &next_id);
		if (maps) {
			check_regions(maps);
			check_modules(maps, next_id);
		}
		data += length + (end != NULL);
		size -= length + (end != NULL);
	}
	pmp_maps_unref(maps);
	return 0;
}

#define PROGRAM "55d0c0000000-55d0c0001000 r--p 00000000 fe:01 77     /usr/bin/program\n"
#define CODE "55d0c0001000-55d0c0009000 r-xp 00001000 fe:01 77     /usr/bin/program\n"
#define GONE \
	"55d0c0001000-55d0c0009000 r-xp 00001000 fe:01 77     /usr/bin/program (deleted)\n"
#define HEAP "55d0c1000000-55d0c1021000 rw-p 00000000 00:00 0      [heap]\n"
#define NEWLINE "7f31c3a00000-7f31c3b55000 r-xp 00026000 fe:01 1234  /tmp/a\\012b.so\n"
#define JIT "7f31c4000000-7f31c4010000 rwxp 00000000 00:00 0 \n"
#define MEMFD \
	"7f31c5000000-7f31c5010000 r-xs 00000000 00:01 9      /memfd:jit (deleted)\n"
#define NAMED "7f31c6000000-7f31c6010000 rw-p 00000000 00:00 0      [anon:arena]\n"
#define STACK "7ffc7a7a8000-7ffc7a7c9000 rw-p 00000000 00:00 0      [stack]\n"
#define VDSO "7ffc7a7d8000-7ffc7a7da000 r-xp 00000000 00:00 0      [vdso]\n"
#define OVERLAP "55d0c0000000-55d0c0004000 r-xp 00000000 fe:01 78     /usr/lib/other.so\n"

size_t fuzz_seed(unsigned n, uint8_t *data, size_t size)
{
	static const struct {
		const char *first, *then;
	} seeds[] = {
		{ PROGRAM CODE HEAP STACK VDSO, PROGRAM CODE HEAP NEWLINE STACK VDSO },
		{ PROGRAM CODE HEAP, PROGRAM GONE HEAP },
		{ PROGRAM GONE, PROGRAM CODE },
		{ CODE JIT MEMFD NAMED, CODE MEMFD NAMED },
		{ PROGRAM CODE OVERLAP NEWLINE, PROGRAM OVERLAP CODE },
		{ NEWLINE "not a line\n" STACK, "" },
	};
	size_t first, then;

	if (n >= sizeof(seeds) / sizeof(*seeds))
		return 0;
	first = strlen(seeds[n].first) + 1;
	then = strlen(seeds[n].then);
	if (first + then > size)
		return 0;
	memcpy(data, seeds[n].first, first);
	memcpy(data + first, seeds[n].then, then);
	return first + then;
}
