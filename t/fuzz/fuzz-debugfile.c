/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: a module, its debug file, and the common part of debug files, fetched in
 * that order. Each is preceded by its length (16 bits, the low byte first). The corpus was
 * made from a program with inlined functions (gcc -g -O2 -nostdlib -no-pie
 * -Wl,-z,noseparate-code -Wl,--build-id=sha1): a stripped copy and the program itself; and
 * the debug file that dwz -m has reduced, with the common part that it has moved out.
 */
#include "fuzz.h"
#include "look-up.h"

#define LOOKUPS 64

struct files {
	const uint8_t *data;
	size_t size;
};

/* The next file, as a memory file; -1: there is none. */
static int next_file(struct files *files, size_t *size)
{
	const uint8_t *data;

	if (files->size < 2)
		return -1;
	*size = files->data[0] | (size_t)files->data[1] << 8;
	if (*size > files->size - 2)
		*size = files->size - 2;
	data = files->data + 2;
	files->data += 2 + *size;
	files->size -= 2 + *size;
	return memory_file(data, *size);
}

static int fetch(void *arg, const struct pmp_wanted_file *wanted)
{
	size_t size;

	if (strlen(wanted->build_id) % 2 ||
	    strspn(wanted->build_id, "0123456789abcdef") != strlen(wanted->build_id))
		__builtin_trap();
	return next_file(arg, &size);
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
	size_t room = 0;
	const int module = next_file(&files, &room);

	look_up(&options, module, room, LOOKUPS, size);
	return 0;
}
