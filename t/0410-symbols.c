/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names from symbol tables: which of several names, where a function ends, what
 * is left of a stripped file, files that are none, return addresses.
 */
#include <time.h>

#include "lib/names.h"

#include "resolve/symtab.h"

static const struct pmp_symbolizer_options defaults = { .no_inline = true };

/* aaaa fills the gaps with something that no symbol covers. */
static const char assembly[] =
	"	.text\n"
	"	.globl	_start, better, __better, weak_one, unsized, next, gap_end\n"
	"	.weak	weak_one\n"
	"	.type	_start, @function\n"
	"_start:	.skip 16\n"
	"	.size	_start, 16\n"
	"	.skip 16\n"
	"	.type	better, @function\n"
	"	.type	__better, @function\n"
	"	.type	weak_one, @function\n"
	"	.type	a, @function\n"
	"a:\n"
	"weak_one:\n"
	"__better:\n"
	"better:	.skip 8\n"
	"label:	.skip 8\n"
	"	.size	a, 16\n"
	"	.size	weak_one, 16\n"
	"	.size	__better, 16\n"
	"	.size	better, 16\n"
	"	.skip 16\n"
	"unsized: .skip 8\n"
	"local_label: .skip 8\n"
	"next:	.skip 4\n"
	"	.type	outer, @function\n"
	"	.type	inner, @function\n"
	"outer:	.skip 4\n"
	"inner:	.skip 4\n"
	"	.size	inner, 4\n"
	"	.skip 4\n"
	"	.size	outer, 12\n"
	"$x:	.skip 4\n"
	"gap_end:\n"
	"	.type	f.part.0, @function\n"
	"	.type	f.cold, @function\n"
	"f.part.0: .skip 4\n"
	"	.size	f.part.0, 4\n"
	"f.cold: .skip 4\n"
	"	.size	f.cold, 4\n"
	"	.type	_ZN2ns3fooEi.cold, @function\n"
	"_ZN2ns3fooEi.cold: .skip 4\n"
	"	.size	_ZN2ns3fooEi.cold, 4\n";

static void check_names(const char *path, uint64_t start)
{
	static const struct {
		unsigned offset;
		const char *name, *why;
	} wanted[] = {
		{ 0, "_start", "first byte" },
		{ 15, "_start", "last byte" },
		{ 32, "better", "global before weak and local, fewer underscores" },
		{ 44, "better", "a label does not end a function" },
		{ 64, "unsized", "without a size" },
		{ 76, "unsized", "a local label is no function" },
		{ 80, "next", "without a size, before a sized one" },
		{ 84, "outer", "before the inner one" },
		{ 88, "inner", "the one that begins last" },
		{ 92, "outer", "after the inner one" },
		{ 100, "f.part.0", "suffix of gcc" },
		{ 104, "f.cold", "suffix of gcc" },
		{ 108, "ns::foo(int) [clone .cold]", "suffix of a C++ name" },
	};
	char text[64];

	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		is_str(name_in(path, start + wanted[i].offset, defaults), wanted[i].name,
		       "%s+%u: %s", path, wanted[i].offset, wanted[i].why);
	snprintf(text, sizeof(text), "[%s+0x%llx]", path, (unsigned long long)start + 20);
	is_str(name_in(path, start + 20, defaults), text,
	       "between two functions: no name");
	snprintf(text, sizeof(text), "[%s+0x%llx]", path, (unsigned long long)start + 50);
	is_str(name_in(path, start + 50, defaults), text, "after the aliases: no name");
}

static void test_assembly(void)
{
	uint64_t start;

	write_file("names.s", assembly);
	if (!ok(run("${CC:-cc} -nostdlib -no-pie -Wl,--build-id=sha1 -o names names.s 2>/dev/null"),
		"assembled"))
		return;
	start = symbol_address("names", "_start");
	check_names("names", start);
	if (run("ld.lld --version >/dev/null 2>&1") &&
	    run("${CC:-cc} -nostdlib -pie -fuse-ld=lld -o lld names.s 2>/dev/null"))
		check_names("lld", symbol_address("lld", "_start"));
	else
		skip("no lld");
}

static void test_return_address(void)
{
	struct space space = space_of("names");
	struct pmp_symbolizer *symbolizer = symbolizer_of(defaults);
	uint64_t start = symbol_address("names", "_start");
	const struct pmp_frame *first, *again, *frames;
	struct pmp_raw_frame raw = { .pc = start, .flags = PMP_FRAME_SIGNAL };
	pmp_location one, two;

	names_at(&space, symbolizer, start + 16, false, &frames);
	is_str(frames->function, "_start", "a call may be a function's last instruction");
	is_int((long long)frames->address, (long long)start + 16, "address as found");
	names_at(&space, symbolizer, start + 16, true, &frames);
	ok(frames->unnamed, "the same address, exact: between functions");
	names_at(&space, symbolizer, start, true, &first);
	names_at(&space, symbolizer, start, true, &again);
	ok(first == again, "named once");
	one = pmp_symbolizer_locate(symbolizer, space.maps, &raw);
	two = pmp_symbolizer_locate(symbolizer, space.maps, &raw);
	is_int(one, two, "one place, one location");
	pmp_symbolizer_frames(symbolizer, one, &frames);
	is_str(frames->function, "<signal handler called>", "signal frame");
	ok(frames->signal && !frames->unnamed, "is marked");
	raw = (struct pmp_raw_frame){ .pc = 0x10, .flags = PMP_FRAME_EXACT };
	pmp_symbolizer_frames(
		symbolizer, pmp_symbolizer_locate(symbolizer, space.maps, &raw), &frames);
	is_str(frames->function, "[unmapped+0x10]", "where nothing is mapped");
	is_int((long long)pmp_symbolizer_frames(symbolizer, PMP_LOCATION_NONE, &frames),
	       1, "no location");
	is_str(frames->function, "[unknown]", "has a frame too");
	pmp_symbolizer_free(symbolizer);
	space_free(&space);
}

/* The same file in two address spaces, at two places. */
static void test_sharing(void)
{
	struct space a = space_of("names"), b = space_of("names");
	struct pmp_symbolizer *symbolizer = symbolizer_of(defaults);
	uint64_t start = symbol_address("names", "_start");
	struct pmp_raw_frame raw = { .pc = start, .flags = PMP_FRAME_EXACT };
	pmp_location one = pmp_symbolizer_locate(symbolizer, a.maps, &raw);
	const struct pmp_frame *frames;

	b.maps->regions[0].start += 0x100000;
	b.maps->regions[0].end += 0x100000;
	raw.pc += 0x100000;
	is_int(pmp_symbolizer_locate(symbolizer, b.maps, &raw), one,
	       "the same place of a file in another process");
	is_int((long long)pmp_symbolizer_module_count(symbolizer), 1, "one module");
	space_free(&a);
	space_free(&b);
	pmp_symbolizer_frames(symbolizer, one, &frames);
	is_str(frames->function, "_start", "named after both processes are gone");
	pmp_symbolizer_free(symbolizer);
}

static const char c_source[] =
	"static __attribute__((noinline)) int hidden(int x) { return x * 3; }\n"
	"int exported(int x) { return hidden(x) + 1; }\n";

static void test_stripped(void)
{
	struct pmp_module_info info = { .size = sizeof(info) };
	uint64_t hidden, exported;
	const struct pmp_frame *frames;
	struct pmp_symbolizer *symbolizer;
	struct space space;

	write_file("lib.c", c_source);
	if (!ok(run("${CC:-cc} -O1 -shared -fPIC -Wl,--build-id=0xabcdef01 -o lib.so lib.c &&"
		    " strip -o stripped.so lib.so"),
		"a stripped library"))
		return;
	hidden = symbol_address("lib.so", "hidden");
	exported = symbol_address("lib.so", "exported");
	is_str(name_in("lib.so", hidden, defaults), "hidden", "static function");
	space = space_of("stripped.so");
	symbolizer = symbolizer_of(defaults);
	names_at(&space, symbolizer, exported, true, &frames);
	is_str(frames->function, "exported", "stripped: what is exported");
	is_str(frames->module, "stripped.so", "module");
	names_at(&space, symbolizer, hidden, true, &frames);
	ok(frames->unnamed && strncmp(frames->function, "[stripped.so+0x", 15) == 0,
	   "stripped: %s and not the function before", frames->function);
	pmp_symbolizer_module(symbolizer, 0, &info);
	is_str(info.build_id, "abcdef01", "build-id");
	is_str(info.problem, "only exported symbols", "problem");
	is_int((long long)info.frames, 2, "frames");
	is_int((long long)info.unnamed, 1, "unnamed");
	pmp_symbolizer_free(symbolizer);
	space_free(&space);
}

static void test_no_file(void)
{
	struct pmp_module_info info = { .size = sizeof(info) };
	struct pmp_symbolizer *symbolizer = symbolizer_of(defaults);
	struct space space = space_of("lib.so");
	const struct pmp_frame *frames;

	close(space.maps->modules[0]->fd);
	space.maps->modules[0]->fd = -1;
	space.maps->modules[0]->open_errno = ESTALE;
	names_at(&space, symbolizer, symbol_address("lib.so", "exported"), true, &frames);
	ok(frames->unnamed, "replaced on disk: never a name of the other file");
	pmp_symbolizer_module(symbolizer, 0, &info);
	is_str(info.problem, "replaced on disk", "and says so");
	ok(info.replaced, "also as a flag");
	pmp_symbolizer_free(symbolizer);
	space.maps->modules[0]->open_errno = PMP_EFOREIGN;
	symbolizer = symbolizer_of(defaults);
	names_at(&space, symbolizer, symbol_address("lib.so", "exported"), true, &frames);
	ok(frames->unnamed, "a file that was not opened");
	pmp_symbolizer_module(symbolizer, 0, &info);
	is_str(info.problem, "on another user's file system", "and why");
	ok(!info.replaced, "it was not replaced");
	pmp_symbolizer_free(symbolizer);
	space_free(&space);

	is_str(name_in("lib.so", symbol_address("lib.so", "exported"),
		       (struct pmp_symbolizer_options){ .no_symbols = true })[0] == '['
		       ? "["
		       : "",
	       "[", "no symbols wanted");
}

static void test_versions(void)
{
	write_file(
		"ver.c",
		"int new_f(void) { return 1; } int old_f(void) { return 2; }\n"
		"__asm__(\".symver new_f, f@@V2\"); __asm__(\".symver old_f, g@V1\");\n");
	write_file("ver.map", "V1 { }; V2 { global: *; } V1;\n");
	if (!ok(run("${CC:-cc} -O1 -shared -fPIC -Wl,--version-script=ver.map -o ver.so ver.c "
		    "2>/dev/null"),
		"a library with versions"))
		return;
	is_str(name_in("ver.so", symbol_address("ver.so", "f@@V2"), defaults), "f",
	       "the version is cut off");
}

/* Names longer than people read: their start is shown. */
static void test_long(void)
{
	static const size_t lengths[] = { 4096, 4097, 60000 };
	char *text = malloc(70000), *name = malloc(70000);

	write_file("long.c", "int f(void) { return 1; }\n"
			     "int main(void) { return f(); }\n");
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		size_t n = lengths[i];
		const char *got;

		memset(name, 'n', n);
		name[n] = '\0';
		snprintf(text, 70000, "f %s\n", name);
		write_file("long.map", text);
		if (!run("${CC:-cc} -O1 -c -o long.o long.c && "
			 "objcopy --redefine-syms=long.map long.o && "
			 "${CC:-cc} -o long long.o"))
			break;
		output_of(text, 70000, "nm long | awk 'length($3) > 4000 { print $1 }'");
		got = name_in("long", strtoull(text, NULL, 16), defaults);
		is_int(strlen(got), n <= 4096 ? n : 4096 + 3, "of a name of %zu bytes",
		       n);
		ok(strspn(got, "n") == (n <= 4096 ? n : 4096) &&
			   (n <= 4096 || strcmp(got + 4096, "...") == 0),
		   "the start is shown");
	}
	free(text);
	free(name);
}

/* All over one function: their names are the ends of one that is longer than what is kept, so
 * that they differ nowhere in what is. */
static void test_one_long_name(void)
{
	enum { SYMBOLS = 1000, LENGTH = 1 << 20 };
	struct pmp_symtab table = { 0 };
	char *text = pmp_buf_extend(&table.names, LENGTH);

	table.items = calloc(SYMBOLS, sizeof(*table.items));
	if (!text || !table.items)
		exit(99);
	memset(text, 'A', LENGTH - 1);
	text[LENGTH - 1] = '\0';
	table.count = table.capacity = SYMBOLS;
	for (uint32_t i = 0; i < SYMBOLS; i++)
		table.items[i] = (struct pmp_symbol){ .start = 0x1000,
						      .size = 16 + 16 * (i % 2),
						      .name = 1 + i * 7919 % SYMBOLS };
	is_int(pmp_symtab_sort(&table), 0, "%d symbols in one long name", SYMBOLS);
	is_int(table.count, 2, "one of each size stays");
	ok(table.items[0].size == 32 && table.items[1].size == 16,
	   "that which ends first is the better one");
	is_int(table.items[0].name + table.items[1].name, 1 + 2,
	       "each is the first in the table");
	pmp_symtab_free(&table);
}

/* ---- frames of a sample, without names ------------------------------------------ */

static bool has_id(const struct pmp_sample_frame_info *info, const char *id, size_t size)
{
	return info->build_id_size == size && memcmp(info->build_id, id, size) == 0;
}

/* Frames in the maps, of one thread: those at offsets from start, and one in no mapping. */
static struct pmp_sample *sample_in(const struct space *space, uint64_t start)
{
	const struct pmp_raw_frame frames[] = {
		{ .pc = start + 4 + space->bias, .flags = PMP_FRAME_EXACT },
		{ .pc = start + 8 + space->bias, .flags = PMP_FRAME_SIGNAL },
		{ .pc = 0x10 },
	};
	struct pmp_sample *sample = pmp_sample_new();

	sample->maps = pmp_maps_ref(space->maps);
	pmp_sample_add_thread(sample);
	pmp_sample_add_frames(sample, frames, sizeof(frames) / sizeof(*frames));
	return sample;
}

static void test_sample_frames(void)
{
	struct pmp_sample_frame_info info = { .size = sizeof(info) };
	uint64_t start = symbol_address("lib.so", "exported");
	struct space space = space_of("lib.so");
	struct pmp_sample *sample = sample_in(&space, start);
	const uint8_t *id;

	ok(pmp_sample_frame(sample, 0, 0, &info) && info.exact && !info.signal,
	   "the innermost frame");
	is_str(info.module, "lib.so", "its module");
	is_int((long long)(info.pc - space.bias), (long long)start + 4, "its address");
	ok(has_id(&info, "\xab\xcd\xef\x01", 4), "the module's build-id");
	id = info.build_id;
	close(space.maps->modules[0]->fd);
	space.maps->modules[0]->fd = -1;
	ok(pmp_sample_frame(sample, 0, 1, &info) && !info.exact && info.signal,
	   "the next one");
	ok(info.build_id == id && info.build_id_size == 4, "the file is read once");
	ok(pmp_sample_frame(sample, 0, 2, &info) && !*info.module && !info.build_id &&
		   !info.build_id_size,
	   "one in no mapping has no module and no build-id");
	info.pc = 1;
	ok(!pmp_sample_frame(sample, 0, 3, &info) &&
		   !pmp_sample_frame(sample, 1, 0, &info) && info.pc == 1,
	   "there are no more");
	info = (struct pmp_sample_frame_info){
		.size = offsetof(struct pmp_sample_frame_info, build_id)
	};
	ok(pmp_sample_frame(sample, 0, 0, &info) && !info.build_id && !info.build_id_size,
	   "of a program that does not know of build-ids");
	pmp_sample_free(sample);
	space_free(&space);
}

/* A file without one, one that is no program, and the vDSO, which is no file. */
static void test_build_ids(void)
{
	struct pmp_sample_frame_info info = { .size = sizeof(info) };
	struct space space = space_of("names");
	struct pmp_module *module = space.maps->modules[0];
	struct pmp_sample *sample = sample_in(&space, symbol_address("names", "_start"));
	int fd = module->fd;

	run("objcopy -R .note.gnu.build-id names without 2>/dev/null");
	module->fd = open("without", O_RDONLY | O_CLOEXEC);
	ok(pmp_sample_frame(sample, 0, 0, &info) && !info.build_id && !info.build_id_size,
	   "a file without a build-id");
	close(module->fd);
	module->fd = open("names.s", O_RDONLY | O_CLOEXEC);
	module->build_id_tried = false;
	ok(pmp_sample_frame(sample, 0, 0, &info) && !info.build_id && !info.build_id_size,
	   "a file that is no program");
	close(module->fd);
	module->fd = -1;
	module->build_id_tried = false;
	module->kind = PMP_MODULE_VDSO;
	module->image_size = (size_t)lseek(fd, 0, SEEK_END);
	module->image = malloc(module->image_size);
	if (pread(fd, module->image, module->image_size, 0) !=
	    (ssize_t)module->image_size)
		diag("names: cannot be read");
	ok(pmp_sample_frame(sample, 0, 0, &info) && info.build_id_size == 20,
	   "an image in memory");
	close(fd);
	pmp_sample_free(sample);
	space_free(&space);
}

/* ---- many of them ----------------------------------------------------------- */

#define MANY 100000

/* A process that has mapped so many files; some have several names. */
static struct space space_of_many(unsigned names)
{
	struct space space = { .maps = pmp_maps_new() };

	for (uint32_t i = 0; i < MANY; i++) {
		char path[32];
		struct pmp_region region = {
			.start = SPACE_BASE + i * 0x1000ull,
			.end = SPACE_BASE + (i + 1) * 0x1000ull,
			.prot = PMP_PROT_READ | PMP_PROT_EXEC,
		};

		snprintf(path, sizeof(path), "/nowhere/%u", i % names);
		region.module = pmp_module_new(i + 1, PMP_MODULE_FILE, path);
		region.module->device = 1 + i % 2;
		region.module->inode = 1 + i / 2;
		if (pmp_maps_add_module(space.maps, region.module) ||
		    pmp_maps_add_region(space.maps, &region))
			exit(99);
	}
	return space;
}

static pmp_location location_of(struct pmp_symbolizer *symbolizer,
				const struct space *space, uint32_t i)
{
	const struct pmp_raw_frame frame = { .pc = SPACE_BASE + i * 0x1000ull + 1 };

	return pmp_symbolizer_locate(symbolizer, space->maps, &frame);
}

static clock_t locate_all(struct pmp_symbolizer *symbolizer, const struct space *space,
			  pmp_location *locations)
{
	const clock_t begin = clock();

	for (uint32_t i = 0; i < MANY; i++)
		locations[i] = location_of(symbolizer, space, i);
	return clock() - begin;
}

static unsigned count_equal(const pmp_location *a, const pmp_location *b, uint32_t step)
{
	unsigned equal = 0;

	for (uint32_t i = 0; i < MANY; i += step)
		equal += a[i] == b[i];
	return equal;
}

static void test_many(void)
{
	static pmp_location first[MANY], again[MANY];
	static bool used[2 * MANY]; /* those of paths, too */
	struct pmp_symbolizer *symbolizer = symbolizer_of(defaults);
	struct space space = space_of_many(MANY), other = space_of_many(MANY),
		     strange = space_of_many(7);
	clock_t took = locate_all(symbolizer, &space, first);

	ok(took < 3 * CLOCKS_PER_SEC, "%d files: %.2f s", MANY,
	   (double)took / CLOCKS_PER_SEC);
	is_int(pmp_symbolizer_module_count(symbolizer), MANY, "each is another one");
	locate_all(symbolizer, &other, again);
	is_int(count_equal(first, again, 1), MANY, "the same files in another process");
	locate_all(symbolizer, &strange, again);
	is_int(count_equal(first, again, 1), 7,
	       "a file that is not open is its path, too");
	for (uint32_t i = 0; i < MANY; i += 3)
		used[first[i]] = true;
	ok(pmp_symbolizer_gc(symbolizer, used), "most are forgotten");
	locate_all(symbolizer, &other, again);
	is_int(count_equal(first, again, 3), (MANY + 2) / 3,
	       "the others are still known");
	pmp_symbolizer_free(symbolizer);
	space_free(&space);
	space_free(&other);
	space_free(&strange);
}

int main(void)
{
	if (!have("${CC:-cc}") || !have("nm")) {
		skip("no compiler");
		return done_testing();
	}
	enter_tmp();
	test_assembly();
	test_return_address();
	test_sharing();
	test_stripped();
	test_no_file();
	test_versions();
	test_long();
	test_one_long_name();
	test_sample_frames();
	test_build_ids();
	test_many();
	leave_tmp();
	return done_testing();
}
