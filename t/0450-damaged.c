/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Damaged ELF files: flipped bytes, every length a file can be cut to, sizes that
 * no file has, a file that shrinks while it is open. No crash, no hang, names or
 * none.
 */
#include "lib/names.h"

#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#include "base/clock.h"

#define FLIPS 10000
#define CUTS 2000

static const char source[] =
	"volatile int sink;\n"
	"static inline __attribute__((always_inline)) int inlined(int x) { return sink + x; }\n"
	"int _start(int x);\n"
	"int _start(int x) { return inlined(x) * 3; }\n";

static uint8_t *original;
static size_t original_size;
static uint64_t start;

/* A small generator of our own: the same flips everywhere. */
static uint32_t next(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

static void read_original(void)
{
	struct stat status;
	int fd = open("small", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &status) != 0)
		exit(99);
	original_size = (size_t)status.st_size;
	original = malloc(original_size);
	if (!original || read(fd, original, original_size) != (ssize_t)original_size)
		exit(99);
	close(fd);
}

/* Look up addresses in and around the function. The space is that of the intact
 * file, as a process has it; the file behind it is another one by now. */
static unsigned look_up(const uint8_t *data, size_t size)
{
	struct pmp_symbolizer *symbolizer = symbolizer_of((struct pmp_symbolizer_options){
		.lines = true, .debug_dir = "/nonexistent" });
	struct space space = space_of("small");
	struct pmp_module *module = space.maps->modules[0];
	unsigned named = 0;

	close(module->fd);
	module->fd = memfd_create("small", MFD_CLOEXEC);
	if (module->fd < 0 || write(module->fd, data, size) != (ssize_t)size)
		exit(99);
	for (uint64_t at = start - 1; at < start + 6; at++) {
		const struct pmp_frame *frames;
		size_t count = names_at(&space, symbolizer, at, true, &frames);

		for (size_t i = 0; i < count; i++)
			named += strlen(frames[i].function) > 0 && !frames[i].unnamed;
	}
	pmp_symbolizer_free(symbolizer);
	space_free(&space);
	return named;
}

/* Of a processor: how long others have it is not our affair. */
static uint64_t worked(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * PMP_S + (uint64_t)time.tv_nsec;
}

static void test_flips(void)
{
	uint8_t *copy = malloc(original_size);
	uint32_t state = 1;
	uint64_t longest = 0;
	unsigned named = 0;

	for (unsigned i = 0; copy && i < FLIPS; i++) {
		uint64_t since = worked();

		memcpy(copy, original, original_size);
		for (unsigned n = 1 + i % 4; n > 0; n--)
			copy[next(&state) % original_size] = (uint8_t)next(&state);
		named += look_up(copy, original_size) > 0;
		if (worked() - since > longest)
			longest = worked() - since;
	}
	ok(named > FLIPS / 2, "%d flips: names in %u", FLIPS, named);
	ok(longest < 2 * PMP_S, "the longest took %u ms", (unsigned)(longest / PMP_MS));
	free(copy);
}

static void test_cuts(void)
{
	unsigned named = 0;

	for (unsigned i = 0; i <= CUTS; i++)
		named += look_up(original, original_size * i / CUTS) > 0;
	ok(named >= 1, "%d cuts: names in %u", CUTS, named);
}

/* Each field of each header set to what no file can have. */
static void test_sizes(void)
{
	static const uint64_t values[] = { UINT64_MAX, (uint64_t)1 << 60, 0x7fffffff, 0 };
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)original;
	uint8_t *copy = malloc(original_size);
	size_t end = header->e_shoff + header->e_shnum * sizeof(Elf64_Shdr);
	unsigned tried = 0;

	for (size_t at = 0; copy && at + 8 <= end && end <= original_size; at += 4) {
		/* Headers only: the file's, the segments' and the sections'. */
		if (at == sizeof(Elf64_Ehdr) + header->e_phnum * sizeof(Elf64_Phdr))
			at = header->e_shoff & ~(size_t)3;
		for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
			memcpy(copy, original, original_size);
			memcpy(copy + at, &values[i], at & 4 ? 4 : 8);
			look_up(copy, original_size);
			tried++;
		}
	}
	ok(tried > 500, "%u impossible headers", tried);
	free(copy);
}

/* Sparse: 1 TiB that holds nothing, and a symbol table of that size. */
static void test_sparse(void)
{
	struct pmp_symbolizer *symbolizer =
		symbolizer_of((struct pmp_symbolizer_options){ 0 });
	Elf64_Ehdr *header = (Elf64_Ehdr *)original;
	struct space space;
	const struct pmp_frame *frames;
	struct rusage usage;
	int fd;

	run("cp small sparse");
	fd = open("sparse", O_RDWR | O_CLOEXEC);
	for (unsigned i = 1; i < header->e_shnum; i++) {
		off_t at = (off_t)(header->e_shoff + i * sizeof(Elf64_Shdr) +
				   offsetof(Elf64_Shdr, sh_size));
		uint64_t size = (uint64_t)1 << 39;

		if (pwrite(fd, &size, sizeof(size), at) != sizeof(size))
			exit(99);
	}
	if (ftruncate(fd, (off_t)1 << 40) != 0) {
		skip("no large sparse files here");
		close(fd);
		pmp_symbolizer_free(symbolizer);
		return;
	}
	close(fd);
	space = space_of("sparse");
	names_at(&space, symbolizer, start, true, &frames);
	ok(frames->unnamed, "sections of 512 GiB have no names");
	getrusage(RUSAGE_SELF, &usage);
	ok(usage.ru_maxrss < 1 << 20, "and take no memory: %ld MiB",
	   usage.ru_maxrss >> 10);
	pmp_symbolizer_free(symbolizer);
	space_free(&space);
}

static void test_truncated_meanwhile(void)
{
	struct pmp_symbolizer *symbolizer =
		symbolizer_of((struct pmp_symbolizer_options){ .lines = true });
	const struct pmp_frame *frames;
	struct space space;

	run("cp small shrinks");
	space = space_of("shrinks");
	names_at(&space, symbolizer, start, true, &frames);
	is_str(frames[0].unnamed ? "-" : "named", "named", "before");
	if (truncate("shrinks", 100) != 0)
		diag("truncate fails");
	names_at(&space, symbolizer, start + 1, true, &frames);
	ok(frames[0].function[0] != '\0', "after it has been truncated: no SIGBUS");
	pmp_symbolizer_free(symbolizer);
	space_free(&space);
}

int main(void)
{
	if (!have("${CC:-cc}") || !have("nm")) {
		skip("no compiler");
		return done_testing();
	}
	enter_tmp();
	write_file("small.c", source);
	if (ok(run("${CC:-cc} -g -O2 -nostdlib -no-pie -Wl,-z,noseparate-code -o small small.c"),
	       "a small program")) {
		start = symbol_address("small", "_start");
		read_original();
		ok(look_up(original, original_size) > 7,
		   "intact: names and inlined names");
		test_flips();
		test_cuts();
		test_sizes();
		test_sparse();
		test_truncated_meanwhile();
		free(original);
	}
	if (run("${CC:-cc} -g -O2 -gz=zlib -nostdlib -no-pie -Wl,-z,noseparate-code "
		"-o small small.c 2>/dev/null")) {
		start = symbol_address("small", "_start");
		read_original();
		ok(look_up(original, original_size) > 7,
		   "the same with compressed sections");
		test_flips();
		free(original);
	}
	leave_tmp();
	return done_testing();
}
