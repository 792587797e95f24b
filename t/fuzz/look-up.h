/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looks up names of addresses all over a module, for fuzz targets. */
#ifndef PMP_T_FUZZ_LOOK_UP_H
#define PMP_T_FUZZ_LOOK_UP_H

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "resolve/symbolizer.h"
#include "sample.h"

#define LOOK_UP_BASE 0x10000u

/* A memory file, owned by the caller. */
static int memory_file(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		__builtin_trap();
	return fd;
}

/* All strings must be terminated; no file may have a longer name than `most`. */
static void check_frames(const struct pmp_frame *frames, size_t count, size_t most)
{
	for (size_t i = 0; i < count; i++) {
		if (strlen(frames[i].function) == 0 || strlen(frames[i].module) == 0 ||
		    (frames[i].file && strlen(frames[i].file) > most))
			__builtin_trap();
	}
}

/* Look up addresses of a module of that size; takes ownership of fd,
 * -1: it cannot be opened. */
static void look_up(const struct pmp_symbolizer_options *options, int fd, size_t size,
		    unsigned lookups, size_t most)
{
	struct pmp_maps *maps = pmp_maps_new();
	struct pmp_module *module = pmp_module_new(1, PMP_MODULE_FILE, "fuzz");
	struct pmp_region region = {
		.start = LOOK_UP_BASE,
		.end = LOOK_UP_BASE + size + 1,
		.module = module,
		.prot = PMP_PROT_READ | PMP_PROT_EXEC,
	};
	struct pmp_symbolizer *symbolizer = NULL;

	if (!maps || !module)
		__builtin_trap();
	module->fd = fd;
	if (pmp_maps_add_module(maps, module) || pmp_maps_add_region(maps, &region) ||
	    pmp_symbolizer_new(options, &symbolizer, NULL))
		__builtin_trap();
	for (unsigned i = 0; i < lookups; i++) {
		struct pmp_raw_frame raw = {
			.pc = LOOK_UP_BASE + size * i / lookups,
			.flags = i & 1 ? PMP_FRAME_EXACT : 0,
		};
		pmp_location location = pmp_symbolizer_locate(symbolizer, maps, &raw);
		const struct pmp_frame *frames;
		size_t count = pmp_symbolizer_frames(symbolizer, location, &frames);

		check_frames(frames, count, most);
	}
	pmp_symbolizer_free(symbolizer);
	pmp_maps_unref(maps);
}

#endif
