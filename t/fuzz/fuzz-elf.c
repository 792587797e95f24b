/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: a whole ELF file with symbols and debug information. Looks up
 * addresses all over it. The corpus was made from one source with two inlined calls:
 *	gcc -g, gcc -gdwarf-4 -gz, clang -g, each with -O2 -nostdlib -no-pie
 *	-Wl,-z,noseparate-code -fno-asynchronous-unwind-tables -ffile-prefix-map
 * from two libraries with stubs (gcc -shared -nostdlib -Wl,-z,lazy), from one with
 * .gnu_debugdata, and from go-119 of fuzz-gopclntab as the table of a program, with and
 * without relocations.
 */
#include "fuzz.h"
#include "look-up.h"

#define LOOKUPS 256

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct pmp_symbolizer_options options = {
		.size = sizeof(options),
		.lines = true,
		.debug_dir = "/nonexistent",
	};

	look_up(&options, memory_file(data, size), size, LOOKUPS, size);
	return 0;
}
