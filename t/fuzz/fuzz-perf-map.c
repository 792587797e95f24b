/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzz target: a map of JIT code, in two pieces, then a lookup at every line's start. */
#include <string.h>

#include "fuzz.h"
#include "resolve/perf-map.h"

size_t fuzz_seed(unsigned n, uint8_t *data, size_t size)
{
	static const char *const seeds[] = {
		"7f01c2a40000 1c0 LazyCompile:~main /srv/app.js:12\n"
		"7f01c2a40100 20 Stub:a b\n7f01c2a40000 8 again\n",
		"0x1000 0x10 x\n1008 10 y\n1000 ffffffffffffffff z",
	};

	if (n >= sizeof(seeds) / sizeof(*seeds) || strlen(seeds[n]) > size)
		return 0;
	memcpy(data, seeds[n], strlen(seeds[n]));
	return strlen(seeds[n]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pmp_perf_map *map = pmp_perf_map_new(-1);
	const char *text = (const char *)data;

	if (!map)
		return 0;
	pmp_perf_map_parse(map, text, size / 2);
	pmp_perf_map_parse(map, text + size / 2, size - size / 2);
	for (uint64_t address = 0; address < 64; address++) {
		const char *name = pmp_perf_map_find(map, address << (address / 2));

		if (name && (strlen(name) == 0 || strlen(name) > size))
			__builtin_trap();
	}
	pmp_perf_map_free(map);
	return 0;
}
