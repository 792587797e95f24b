/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: a module, its debug file, and what debug files have in common, fetched in that
 * order. Each is preceded by its length (16 bits, the low byte first). The corpus was made of a
 * program with inlined functions (gcc -g -O2 -nostdlib -no-pie -Wl,-z,noseparate-code
 * -Wl,--build-id=sha1): its copy without symbols and itself; and the debug file that
 * dwz -m left, with what it took out.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "resolve/symbolizer.h"
#include "sample.h"

#define LOOKUPS 64

struct files {
	const uint8_t *data;
	size_t size;
};

/* The next one, in memory; -1: there is none. */
static int next_file(struct files *files, size_t *size)
{
	int fd;

	if (files->size < 2)
		return -1;
	*size = files->data[0] | (size_t)files->data[1] << 8;
	if (*size > files->size - 2)
		*size = files->size - 2;
	fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0 || write(fd, files->data + 2, *size) != (ssize_t)*size)
		__builtin_trap();
	files->data += 2 + *size;
	files->size -= 2 + *size;
	return fd;
}

static int fetch(void *arg, const struct pmp_wanted_file *wanted)
{
	size_t size;

	if (strlen(wanted->build_id) % 2 ||
	    strspn(wanted->build_id, "0123456789abcdef") != strlen(wanted->build_id))
		__builtin_trap();
	return next_file(arg, &size);
}

static void look_up(struct pmp_symbolizer *symbolizer, const struct pmp_maps *maps,
		    size_t size)
{
	for (unsigned i = 0; i < LOOKUPS; i++) {
		struct pmp_raw_frame raw = {
			.pc = 0x10000 + size * i / LOOKUPS,
			.flags = i & 1 ? PMP_FRAME_EXACT : 0,
		};
		pmp_location location = pmp_symbolizer_locate(symbolizer, maps, &raw);
		const struct pmp_frame *frames;
		size_t count = pmp_symbolizer_frames(symbolizer, location, &frames);

		/* Whatever was found, it can be read to its end. */
		for (size_t k = 0; k < count; k++) {
			if (strlen(frames[k].function) == 0 ||
			    strlen(frames[k].module) == 0 ||
			    (frames[k].file && !*frames[k].file))
				__builtin_trap();
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct files files = { data, size };
	const struct pmp_symbolizer_options options = {
		.size = sizeof(options),
		.lines = true,
		.debug_dir = "/nonexistent",
		.fetch = fetch,
		.fetch_arg = &files,
	};
	struct pmp_maps *maps = pmp_maps_new();
	struct pmp_module *module = pmp_module_new(1, PMP_MODULE_FILE, "fuzz");
	struct pmp_region region = {
		.start = 0x10000,
		.module = module,
		.prot = PMP_PROT_READ | PMP_PROT_EXEC,
	};
	struct pmp_symbolizer *symbolizer = NULL;
	size_t room = 0;

	if (!maps || !module)
		__builtin_trap();
	module->fd = next_file(&files, &room);
	region.end = region.start + room + 1;
	if (pmp_maps_add_module(maps, module) || pmp_maps_add_region(maps, &region) ||
	    pmp_symbolizer_new(&options, &symbolizer, NULL))
		__builtin_trap();
	look_up(symbolizer, maps, room);
	pmp_symbolizer_free(symbolizer);
	pmp_maps_unref(maps);
	return 0;
}
