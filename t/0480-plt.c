/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stubs of the procedure linkage table: each one's name is what a disassembler
 * shows, for each linker and option that makes other stubs.
 */
#include "lib/names.h"

#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define STUBS_MAX 200 /* looked at in one file */

static const char source[] =
	"#include <stdio.h>\n"
	"#include <stdlib.h>\n"
	"#include <string.h>\n"
	"void *volatile pointer;\n"
	"int main(int argc, char **argv)\n"
	"{\n"
	"	pointer = (void *)free; /* a slot that is no stub's alone */\n"
	"	free(malloc((size_t)argc));\n"
	"	return puts(argv[0]) + (int)strlen(argv[0]) + atoi(argv[0]);\n"
	"}\n";

/* Those at both ends of a stub, each byte of which is the stub's. */
static unsigned wrong_names(const struct space *space, struct pmp_symbolizer *symbolizer,
			    uint64_t address, const char *want)
{
	static const unsigned offsets[] = { 0, 5 };
	unsigned wrong = 0;

	for (size_t i = 0; i < sizeof(offsets) / sizeof(*offsets); i++) {
		const struct pmp_frame *frames;

		names_at(space, symbolizer, address + offsets[i], true, &frames);
		if (strcmp(frames->function, want) != 0) {
			diag("0x%llx: %s but %s", (unsigned long long)address,
			     frames->function, want);
			wrong++;
		}
	}
	return wrong;
}

/* Compare with the lines "ADDRESS <NAME@plt>:" of a disassembler. */
static void check_file(const char *path, const char *what, const char *disassembler)
{
	struct pmp_symbolizer *symbolizer =
		symbolizer_of((struct pmp_symbolizer_options){ .no_demangle = true });
	struct space space = space_of(path);
	unsigned stubs = 0, wrong = 0;
	char command[512], line[4096];
	FILE *pipe;

	snprintf(command, sizeof(command), "%s -d %s 2>/dev/null | grep '@plt>:'",
		 disassembler, path);
	pipe = popen(command, "r");
	while (pipe && fgets(line, sizeof(line), pipe)) {
		char *name = strchr(line, '<'), *end = strstr(line, "@plt>");

		if (!name || !end || stubs == STUBS_MAX)
			continue;
		end[strlen("@plt")] = '\0';
		wrong += wrong_names(&space, symbolizer, strtoull(line, NULL, 16),
				     name + 1);
		stubs++;
	}
	if (pipe)
		pclose(pipe);
	ok(stubs > 0 && wrong == 0, "%s: the names of %u stubs", what, stubs);
	pmp_symbolizer_free(symbolizer);
	space_free(&space);
}

static void test_ways(void)
{
	static const char *const ways[] = {
		"${CC:-cc} -O1",
		"${CC:-cc} -O1 -Wl,-z,now",
		"${CC:-cc} -O1 -no-pie",
		"${CC:-cc} -O1 -fcf-protection=full -Wl,-z,ibtplt",
		"${CC:-cc} -O1 -fuse-ld=lld",
		"${CC:-cc} -O1 -fuse-ld=gold",
	};

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		if (run("%s -o plt plt.c 2>/dev/null", ways[i]))
			check_file("plt", ways[i], "objdump");
		else
			diag("not here: %s", ways[i]);
	}
}

static void test_aarch64(void)
{
	static const char *const ways[] = { "", "-Wl,-z,force-bti" };

	if (!have("clang") || !have("ld.lld") || !have("llvm-objdump")) {
		skip("no clang and lld for aarch64");
		return;
	}
	write_file("lib.c", "int one(void); int two(void);\n"
			    "int f(void) { return one() + two(); }\n");
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		if (run("clang --target=aarch64-linux-gnu -O1 -fPIC -nostdlib -shared "
			"-fuse-ld=lld %s -o arm.so lib.c 2>/dev/null",
			ways[i]))
			check_file("arm.so", "aarch64", "llvm-objdump");
		else
			diag("no aarch64 %s", ways[i]);
	}
}

/* Not a stub: what is before the first, and what a damaged stub leads to. */
static void test_others(void)
{
	char first[64], text[96];
	uint64_t start;

	if (!run("${CC:-cc} -O1 -o plt plt.c"))
		return;
	output_of(first, sizeof(first),
		  "objdump -h plt | awk '$2 == \".plt\" { print $4 }'");
	start = strtoull(first, NULL, 16);
	snprintf(text, sizeof(text), "[plt+0x%llx]", (unsigned long long)start);
	is_str(name_in("plt", start, (struct pmp_symbolizer_options){ 0 }), text,
	       "the code before the first stub has no name");
	if (!run("objcopy --only-section=.plt --only-section=.text plt bare 2>/dev/null"))
		return;
	is_str(name_in("bare", start + 16, (struct pmp_symbolizer_options){ 0 })[0] == '['
		       ? "["
		       : "?",
	       "[", "no relocations, no names");
}

/* The relocations are read at the first stub of a file, not at each: whoever writes the
 * file chooses how many there are. */
static void test_once(void)
{
	struct pmp_symbolizer *symbolizer =
		symbolizer_of((struct pmp_symbolizer_options){ 0 });
	char line[256], second[256];
	const struct pmp_frame *frames;
	struct space space;

	if (!run("${CC:-cc} -O1 -o plt plt.c"))
		return;
	output_of(line, sizeof(line), "objdump -d plt | grep '@plt>:'");
	output_of(second, sizeof(second), "objdump -d plt | grep '@plt>:' | sed 1d");
	space = space_of("plt");
	names_at(&space, symbolizer, strtoull(line, NULL, 16), true, &frames);
	ok(strstr(frames->function, "@plt"), "a stub is named: %s", frames->function);
	run(": > plt");
	names_at(&space, symbolizer, strtoull(second, NULL, 16), true, &frames);
	ok(strstr(frames->function, "@plt"),
	   "another one without reading the file again: %s", frames->function);
	pmp_symbolizer_free(symbolizer);
	space_free(&space);
}

/* That of the C library, which is not called here, with a count. */
static unsigned sorts;
static int (*order)(const void *, const void *);

static int by_order(const void *a, const void *b, void *arg)
{
	(void)arg;
	return order(a, b);
}

void qsort(void *items, size_t count, size_t size,
	   int (*compare)(const void *, const void *))
{
	sorts++;
	order = compare;
	qsort_r(items, count, size, by_order, NULL);
}

#ifdef __aarch64__
#define JUMP_SLOT R_AARCH64_JUMP_SLOT
#else
#define JUMP_SLOT R_X86_64_JUMP_SLOT
#endif

/* Sections behind all others, so many and of that type: all of them are the same bytes, a
 * relocation and zeros, at the end of the file. */
static void add_sections(const char *path, uint32_t type, uint64_t size, uint16_t count)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	const Elf64_Rela slot = { .r_info = JUMP_SLOT };
	Elf64_Ehdr header = { 0 };
	Elf64_Shdr *sections;
	struct stat status;
	ssize_t length;

	if (fd < 0 || fstat(fd, &status) ||
	    pread(fd, &header, sizeof(header), 0) != sizeof(header))
		exit(99);
	sections = calloc((size_t)header.e_shnum + count, sizeof(*sections));
	length = (ssize_t)(header.e_shnum * sizeof(*sections));
	if (!sections ||
	    pread(fd, sections, (size_t)length, (off_t)header.e_shoff) != length)
		exit(99);
	for (uint16_t i = 0; i < count; i++)
		sections[header.e_shnum + i] =
			(Elf64_Shdr){ .sh_type = type,
				      .sh_offset = (uint64_t)status.st_size,
				      .sh_size = size,
				      .sh_entsize = sizeof(Elf64_Rela),
				      .sh_addralign = 8 };
	header.e_shoff = (uint64_t)status.st_size + size;
	header.e_shnum += count;
	length = (ssize_t)(header.e_shnum * sizeof(*sections));
	if (pwrite(fd, &slot, sizeof(slot), status.st_size) != sizeof(slot) ||
	    pwrite(fd, sections, (size_t)length, (off_t)header.e_shoff) != length ||
	    pwrite(fd, &header, sizeof(header), 0) != sizeof(header))
		exit(99);
	free(sections);
	close(fd);
}

/* Is a stub of plt named? */
static bool stub_is_named(void)
{
	char line[256];

	output_of(line, sizeof(line), "objdump -d plt 2>/dev/null | grep '@plt>:'");
	return strstr(name_in("overlap", strtoull(line, NULL, 16),
			      (struct pmp_symbolizer_options){ 0 }),
		      "@plt");
}

/* KiB of memory that were in use at most. */
static long most_memory(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

/* Sections that lie over each other are not read again and again, nor are relocations sorted
 * for each of them. */
static void test_overlap(void)
{
	long before;

	if (!run("${CC:-cc} -O1 -Wl,--build-id=none -o plt plt.c && strip plt && cp plt overlap"))
		return;
	before = most_memory();
	add_sections("overlap", SHT_RELA, (uint64_t)sizeof(Elf64_Rela) << 18, 60);
	ok(stub_is_named(),
	   "60 sections of relocations in the same 6 MiB: names of stubs");
	ok(most_memory() - before < 80 << 10, "which take no memory: %ld MiB",
	   (most_memory() - before) >> 10);
	run("cp plt overlap");
	before = most_memory();
	add_sections("overlap", SHT_NOTE, (uint64_t)sizeof(Elf64_Rela) << 18, 60);
	ok(stub_is_named(), "60 sections of notes");
	ok(most_memory() - before < 80 << 10, "which take no memory: %ld MiB",
	   (most_memory() - before) >> 10);
	run("cp plt overlap");
	add_sections("overlap", SHT_RELA, sizeof(Elf64_Rela), 1000);
	sorts = 0;
	ok(stub_is_named(), "1000 sections of relocations");
	ok(sorts < 20, "are sorted together: %u sorts", sorts);
}

static void test_demangled(void)
{
	char line[256];
	uint64_t address;

	write_file("plt.cc", "namespace far { int away(int); }\n"
			     "int f(int x) { return far::away(x) + 1; }\n");
	if (!run("${CC:-cc} -O1 -fPIC -shared -o plt++.so plt.cc 2>/dev/null")) {
		skip("no C++ compiler");
		return;
	}
	output_of(line, sizeof(line), "objdump -d plt++.so | grep 'away.*@plt>:'");
	address = strtoull(line, NULL, 16);
	is_str(name_in("plt++.so", address, (struct pmp_symbolizer_options){ 0 }),
	       "far::away(int)@plt", "C++ names are readable");
}

int main(void)
{
	char path[256];

	if (!have("${CC:-cc}") || !have("objdump")) {
		skip("no compiler or no objdump");
		return done_testing();
	}
	enter_tmp();
	write_file("plt.c", source);
	test_ways();
	test_aarch64();
	test_others();
	test_overlap();
	test_once();
	test_demangled();
	output_of(path, sizeof(path),
		  "ldd /bin/sh | awk '/libc[.]so/ { print $3; exit }'");
	if (path[0])
		check_file(path, "libc", "objdump -j .plt -j .plt.got -j .plt.sec");
	output_of(path, sizeof(path), "PATH=$PATH:/usr/sbin command -v mariadbd");
	if (path[0])
		check_file(path, "mariadbd", "objdump -j .plt -j .plt.got -j .plt.sec");
	leave_tmp();
	return done_testing();
}
