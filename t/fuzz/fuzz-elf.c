/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: a whole ELF file with symbols and debug information. Looks up
 * addresses all over it. The corpus was made of one source with two inlined calls:
 *	gcc -g, gcc -gdwarf-4 -gz, clang -g, each with -O2 -nostdlib -no-pie
 *	-Wl,-z,noseparate-code -fno-asynchronous-unwind-tables -ffile-prefix-map
 * of two libraries with stubs (gcc -shared -nostdlib -Wl,-z,lazy), of one with .gnu_debugdata,
 * and of go-119 of fuzz-gopclntab as the table of a program, with relocations and without.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "resolve/symbolizer.h"
#include "sample.h"

#define LOOKUPS 256

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
			    (frames[k].file && strlen(frames[k].file) > size))
				__builtin_trap();
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct pmp_symbolizer_options options = {
		.size = sizeof(options),
		.lines = true,
		.debug_dir = "/nonexistent",
	};
	struct pmp_maps *maps = pmp_maps_new();
	struct pmp_module *module = pmp_module_new(1, PMP_MODULE_FILE, "fuzz");
	struct pmp_region region = {
		.start = 0x10000,
		.end = 0x10000 + size + 1,
		.module = module,
		.prot = PMP_PROT_READ | PMP_PROT_EXEC,
	};
	struct pmp_symbolizer *symbolizer = NULL;

	if (!maps || !module)
		__builtin_trap();
	module->fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (module->fd < 0 || write(module->fd, data, size) != (ssize_t)size ||
	    pmp_maps_add_module(maps, module) || pmp_maps_add_region(maps, &region) ||
	    pmp_symbolizer_new(&options, &symbolizer, NULL))
		__builtin_trap();
	look_up(symbolizer, maps, size);
	pmp_symbolizer_free(symbolizer);
	pmp_maps_unref(maps);
	return 0;
}
