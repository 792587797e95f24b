/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzz target: a map of JIT code, in two pieces, then lookups; and as a file that grows. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

static void look_up(struct pmp_perf_map *map, size_t size)
{
	for (uint64_t address = 0; address < 64; address++) {
		const char *name = pmp_perf_map_find(map, address << (address / 2));

		if (name && (strlen(name) == 0 || strlen(name) > size))
			__builtin_trap();
	}
}

static void parse(const uint8_t *data, size_t size)
{
	struct pmp_perf_map *map = pmp_perf_map_new(-1);
	const char *text = (const char *)data;

	if (!map)
		return;
	pmp_perf_map_parse(map, text, size / 2);
	pmp_perf_map_parse(map, text + size / 2, size - size / 2);
	look_up(map, size);
	pmp_perf_map_free(map);
}

/* Write half of it, look up, then write all of it: the first half may or may not change. */
static void read_file(const uint8_t *data, size_t size)
{
	const int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct pmp_perf_map *map = pmp_perf_map_new(fd);

	if (fd < 0 || !map || pwrite(fd, data, size / 2, 0) < 0)
		__builtin_trap();
	look_up(map, size);
	if (pwrite(fd, data + (size & 1), size - (size & 1), 0) < 0)
		__builtin_trap();
	look_up(map, size);
	pmp_perf_map_free(map);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	parse(data, size);
	read_file(data, size);
	return 0;
}
