/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See allocator.h. */
#include "census/allocator.h"

#include <string.h>

static const struct {
	const char *prefix, *name; /* of the library's file; of the allocator */
} allocators[] = {
	{ "libjemalloc", "jemalloc" },
	{ "libtcmalloc", "tcmalloc" },
	{ "libmimalloc", "mimalloc" },
	{ "ld-musl-", "musl's malloc" },
	{ "libc.musl-", "musl's malloc" },
	{ "libsnmalloc", "snmalloc" },
	{ "librpmalloc", "rpmalloc" },
	{ "libhoard", "Hoard" },
	{ "libasan", "AddressSanitizer" },
	{ "libtsan", "ThreadSanitizer" },
	{ "libclang_rt.asan", "AddressSanitizer" },
	{ "libscudo", "Scudo" },
	{ "libuClibc", "uClibc's malloc" },
	{ "ld-uClibc", "uClibc's malloc" },
};

static const char *allocator_of(const char *path)
{
	const char *base = strrchr(path, '/');

	base = base ? base + 1 : path;
	/* The loader may be a link to the library: .../x86_64-linux-musl/libc.so */
	if (strcmp(base, "libc.so") == 0 && strstr(path, "musl"))
		return "musl's malloc";
	for (size_t i = 0; i < sizeof(allocators) / sizeof(*allocators); i++)
		if (strncmp(base, allocators[i].prefix, strlen(allocators[i].prefix)) ==
		    0)
			return allocators[i].name;
	return NULL;
}

const char *pmp_census_allocator(const struct pmp_maps *maps, const char **library)
{
	for (size_t i = 0; i < maps->module_count; i++) {
		const struct pmp_module *module = maps->modules[i];
		const char *name = module->kind == PMP_MODULE_FILE
					   ? allocator_of(module->path)
					   : NULL;

		*library = module->path;
		if (name)
			return name;
	}
	return NULL;
}
