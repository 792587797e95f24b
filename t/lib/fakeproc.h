/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes for tests of the unwinder: one made of arrays, and the test itself.
 * Each is a struct pmp_reader and a struct pmp_maps.
 */
#ifndef PMP_T_FAKEPROC_H
#define PMP_T_FAKEPROC_H

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/reader.h"
#include "sample.h"

#define FAKE_UNUSED __attribute__((unused))
#define FAKE_PARTS 16

/* ---- memory made of arrays ------------------------------------------------------- */

struct fake {
	struct {
		uint64_t address;
		const void *data;
		size_t size;
	} parts[FAKE_PARTS];
	size_t count;
	unsigned long reads;
};

static bool fake_read(void *arg, uint64_t address, void *data, size_t length)
{
	struct fake *fake = arg;

	fake->reads++;
	for (size_t i = 0; i < fake->count; i++) {
		uint64_t offset = address - fake->parts[i].address;

		if (offset < fake->parts[i].size &&
		    length <= fake->parts[i].size - offset) {
			memcpy(data, (const char *)fake->parts[i].data + offset, length);
			return true;
		}
	}
	return false;
}

FAKE_UNUSED
static void fake_add(struct fake *fake, uint64_t address, const void *data, size_t size)
{
	if (fake->count == FAKE_PARTS)
		abort();
	fake->parts[fake->count].address = address;
	fake->parts[fake->count].data = data;
	fake->parts[fake->count++].size = size;
}

FAKE_UNUSED
static struct pmp_reader fake_reader(struct fake *fake)
{
	return (struct pmp_reader){ .read = fake_read, .arg = fake };
}

/* Add a region with a module of its own (or the module before, if kind is negative). */
FAKE_UNUSED
static struct pmp_module *fake_region(struct pmp_maps *maps, uint64_t start,
				      uint64_t size, unsigned prot, int kind)
{
	struct pmp_region region = { .start = start, .end = start + size, .prot = prot };

	if (kind >= 0 &&
	    pmp_maps_add_module(maps, pmp_module_new((uint32_t)maps->module_count + 1,
						     (enum pmp_module_kind)kind, "fake")))
		abort();
	region.module = maps->modules[maps->module_count - 1];
	if (kind < 0)
		region.offset = start - maps->regions[maps->region_count - 1].start +
				maps->regions[maps->region_count - 1].offset;
	if (pmp_maps_add_region(maps, &region))
		abort();
	return region.module;
}

/* ---- the test itself ----------------------------------------------------------------
 */

FAKE_UNUSED
static bool self_read(void *arg, uint64_t address, void *data, size_t length)
{
	return pread(*(int *)arg, data, length, (off_t)address) == (ssize_t)length;
}

/* fd: keeps the descriptor of /proc/self/mem. */
FAKE_UNUSED
static struct pmp_reader self_reader(int *fd)
{
	*fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	return (struct pmp_reader){ .read = self_read, .arg = fd };
}

static struct pmp_module *self_module(struct pmp_maps *maps, uint64_t inode,
				      const char *path)
{
	enum pmp_module_kind kind = *path == '/'	      ? PMP_MODULE_FILE
				    : !strcmp(path, "[vdso]") ? PMP_MODULE_VDSO
				    : *path		      ? PMP_MODULE_SPECIAL
							      : PMP_MODULE_ANON;
	struct pmp_module *module;

	for (size_t i = 0; i < maps->module_count; i++)
		if (inode && maps->modules[i]->inode == inode &&
		    !strcmp(maps->modules[i]->path, path))
			return maps->modules[i];
	module = pmp_module_new((uint32_t)maps->module_count + 1, kind, path);
	if (!module)
		abort();
	module->inode = inode;
	module->fd = kind == PMP_MODULE_FILE ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (pmp_maps_add_module(maps, module))
		abort();
	return module;
}

FAKE_UNUSED
static struct pmp_maps *self_maps(void)
{
	struct pmp_maps *maps = pmp_maps_new();
	FILE *file = fopen("/proc/self/maps", "re");
	char line[4352];

	if (!maps || !file)
		abort();
	while (fgets(line, sizeof(line), file)) {
		struct pmp_region region = { 0 };
		char prot[5], path[4096] = "";
		uint64_t inode;

		if (sscanf(line,
			   "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %" SCNu64
			   " %4095[^\n]",
			   &region.start, &region.end, prot, &region.offset, &inode,
			   path) < 5)
			abort();
		region.prot = (prot[0] == 'r' ? PMP_PROT_READ : 0) |
			      (prot[1] == 'w' ? PMP_PROT_WRITE : 0) |
			      (prot[2] == 'x' ? PMP_PROT_EXEC : 0);
		region.module = self_module(maps, inode, path);
		if (pmp_maps_add_region(maps, &region))
			abort();
	}
	fclose(file);
	return maps;
}

#endif
