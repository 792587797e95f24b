/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an object is called, a lock for instance, and where it lies. */
#include "lib/names.h"

#include "base/buf.h"
#include "report/report.h"
#include "tally/profile.h"
#include "write/wait-names.h"

static const struct pmp_symbolizer_options defaults;

#define RW (PMP_PROT_READ | PMP_PROT_WRITE)
#define PAGE UINT64_C(0x1000)

/* ---- address spaces --------------------------------------------------------- */

static struct pmp_module *add_module(struct pmp_maps *maps, enum pmp_module_kind kind,
				     const char *path)
{
	static uint32_t id = 100;
	struct pmp_module *module = pmp_module_new(id++, kind, path);

	if (!module || pmp_maps_add_module(maps, module))
		exit(99);
	return module;
}

static void add_region(struct pmp_maps *maps, struct pmp_module *module, uint64_t start,
		       uint64_t end, unsigned prot)
{
	const struct pmp_region region = { start, end, 0, module, prot };

	if (pmp_maps_add_region(maps, &region))
		exit(99);
}

static uint64_t page_up(uint64_t address)
{
	return (address + PAGE - 1) & ~(PAGE - 1);
}

/* All segments of a file, as the kernel maps them, and after the last one's zeros a page
 * of other memory. */
static void load(struct pmp_maps *maps, struct pmp_module *module,
		 struct pmp_module *anon, uint64_t bias)
{
	uint64_t end = 0, zeros = 0;
	Elf64_Ehdr header = { 0 };
	Elf64_Phdr segment;

	if (pread(module->fd, &header, sizeof(header), 0) != sizeof(header))
		exit(99);
	for (unsigned i = 0; i < header.e_phnum; i++) {
		if (pread(module->fd, &segment, sizeof(segment),
			  (off_t)(header.e_phoff + i * sizeof(segment))) !=
			    sizeof(segment) ||
		    segment.p_type != PT_LOAD)
			continue;
		end = page_up(segment.p_vaddr + segment.p_filesz) + bias;
		zeros = page_up(segment.p_vaddr + segment.p_memsz) + bias;
		if (pmp_maps_add_region(
			    maps,
			    &(struct pmp_region){
				    .start = (segment.p_vaddr & ~(PAGE - 1)) + bias,
				    .end = end,
				    .offset = segment.p_offset & ~(PAGE - 1),
				    .module = module,
				    .prot = segment.p_flags & PF_X ? PMP_PROT_EXEC : RW,
			    }))
			exit(99);
		if (zeros > end)
			add_region(maps, anon, end, zeros, RW);
	}
	add_region(maps, anon, zeros, zeros + PAGE, RW);
}

static struct pmp_module *add_file(struct pmp_maps *maps, const char *path)
{
	char full[64];
	struct pmp_module *module;
	struct stat status;

	snprintf(full, sizeof(full), "%s/%s", tmp_dir, path);
	module = add_module(maps, PMP_MODULE_FILE, full);
	module->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (module->fd < 0 || fstat(module->fd, &status))
		exit(99);
	module->device = status.st_dev;
	module->inode = status.st_ino;
	return module;
}

/* Programs that are not PIEs are at their own addresses. */
static uint64_t bias_of(const char *path)
{
	Elf64_Ehdr header = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (pread(fd, &header, sizeof(header), 0) != sizeof(header))
		exit(99);
	close(fd);
	return header.e_type == ET_DYN ? SPACE_BASE : 0;
}

/* ---- one object ------------------------------------------------------------- */

/* Its name, or else where it lies; the text is valid until the next call. */
static const char *text_of(const struct pmp_object *object)
{
	static struct pmp_buf text;

	pmp_buf_clear(&text);
	if (!pmp_object_name(object, &text))
		pmp_object_place(object, &text);
	return text.length ? text.data : "";
}

/* The object at an address of an address space. */
static const char *text_at(struct pmp_symbolizer *symbolizer, const struct pmp_maps *maps,
			   uint64_t address)
{
	struct pmp_located_object located;
	struct pmp_object object;

	pmp_symbolizer_locate_object(symbolizer, maps, address, &located);
	pmp_symbolizer_object(symbolizer, &located, &object);
	return text_of(&object);
}

/* The object at an ELF address of a file, with a symbolizer of its own. */
static const char *object_in(const char *path, uint64_t address,
			     struct pmp_symbolizer_options options)
{
	struct pmp_symbolizer *symbolizer = symbolizer_of(options);
	struct pmp_maps *maps = pmp_maps_new();
	struct pmp_module *module = add_file(maps, path);
	struct pmp_module *anon = add_module(maps, PMP_MODULE_ANON, "[anon]");
	const char *text;

	load(maps, module, anon, bias_of(path));
	text = text_at(symbolizer, maps, address + bias_of(path));
	pmp_symbolizer_free(symbolizer);
	pmp_maps_unref(maps);
	return text;
}

/* ---- symbols ---------------------------------------------------------------- */

static const char source[] =
	"int data[8] = { 1 };\n"
	"extern int __data[8] __attribute__((alias(\"data\")));\n"
	"int zeros[4096];\n"
	"static int own_data[8] = { 2 };\n"
	"static int own_zeros[4096];\n"
	"static __thread int of_thread[64] = { 1 };\n"
	"int main(int argc, char **argv)\n"
	"{\n"
	"	(void)argv;\n"
	"	own_data[argc] = argc;\n"
	"	return own_zeros[argc]++ + own_data[argc + 1] + of_thread[argc]++;\n"
	"}\n";

/* The same objects in a file made of "full", at the same addresses. */
static void check_file(const char *path, const char *full, bool has_own)
{
	uint64_t own = symbol_address(full, "own_zeros");
	char place[64];

	is_str(object_in(path, symbol_address(full, "data"), defaults), "data",
	       "%s: an exported object, by the best of its names", path);
	is_str(object_in(path, symbol_address(full, "data") + 31, defaults), "data+0x1f",
	       "%s: its last byte", path);
	is_str(object_in(path, symbol_address(full, "zeros") + 16000, defaults),
	       "zeros+0x3e80", "%s: without contents, in no mapping of the file", path);
	snprintf(place, sizeof(place), "in %s+0x%llx", path, (unsigned long long)own + 8);
	is_str(object_in(path, own + 8, defaults), has_own ? "own_zeros+0x8" : place,
	       "%s: a static one", path);
	is_str(object_in(path, symbol_address(full, "own_data"), defaults) + 3,
	       has_own ? "_data"
		       : object_in(
				 path, symbol_address(full, "own_data"),
				 (struct pmp_symbolizer_options){ .no_symbols = true }) +
				 3,
	       "%s: a static one with contents", path);
}

static void test_files(void)
{
	write_file("a.c", source);
	if (!ok(run("${CC:-cc} -O1 -pie -fPIE -rdynamic -o pie a.c && "
		    "${CC:-cc} -O1 -no-pie -fno-pie -rdynamic -o fixed a.c"),
		"compiled"))
		return;
	check_file("pie", "pie", true);
	check_file("fixed", "fixed", true);
	ok(run("strip -o stripped pie && strip -o stripped-fixed fixed"), "stripped");
	check_file("stripped", "pie", false);
	check_file("stripped-fixed", "fixed", false);
	ok(run("objcopy --only-keep-debug pie with.debug && cp stripped with && "
	       "objcopy --add-gnu-debuglink=with.debug with"),
	   "with a debug file");
	check_file("with", "pie", true);
	if (run("ld.lld --version >/dev/null 2>&1") &&
	    run("${CC:-cc} -O1 -pie -fPIE -rdynamic -fuse-ld=lld -o lld a.c 2>/dev/null"))
		check_file("lld", "lld", true);
	else
		skip("no lld");
}

static void test_cxx(void)
{
	struct pmp_symbolizer_options raw = { .no_demangle = true };
	uint64_t address;

	write_file("a.cc", "namespace app { struct Lock { long w[8]; } lock, *user; }\n"
			   "int main() { app::user = &app::lock; }\n");
	if (!run("${CXX:-c++} -o cxx a.cc")) {
		skip("no C++ compiler");
		return;
	}
	address = symbol_address("cxx", "_ZN3app4lockE");
	is_str(object_in("cxx", address + 16, defaults), "app::lock+0x10", "of C++");
	is_str(object_in("cxx", address + 16, raw), "_ZN3app4lockE+0x10",
	       "as the linker calls it");
}

/* ---- what has no symbol ----------------------------------------------------- */

static void test_without_symbol(void)
{
	const struct pmp_symbolizer_options no_symbols = { .no_symbols = true };
	uint64_t zeros = symbol_address("pie", "zeros"),
		 end = symbol_address("pie", "_end");
	char place[64];

	snprintf(place, sizeof(place), "in pie+0x%llx", (unsigned long long)zeros);
	is_str(object_in("pie", zeros, no_symbols), place, "no symbols are wanted");
	is_str(object_in("pie", page_up(end) + 8, no_symbols), "in the heap",
	       "after the program's zeros");
	is_str(object_in("pie", page_up(end) + 8, defaults), "in the heap",
	       "other memory begins");
	is_str(object_in("pie", 0x20, defaults), "in pie+0x20", "between objects");
	is_str(object_in("pie", symbol_address("pie", "main"), defaults) + 7,
	       object_in("pie", symbol_address("pie", "main"), no_symbols) + 7,
	       "a function is no object");
	is_str(object_in("pie", symbol_address("pie", "of_thread"), defaults) + 7,
	       object_in("pie", symbol_address("pie", "of_thread"), no_symbols) + 7,
	       "nor is what a thread has its own of");
}

/* What is not known is not guessed: the heap may begin there, or not yet. */
static void test_unreadable(void)
{
	struct pmp_symbolizer *symbolizer = symbolizer_of(defaults);
	struct pmp_maps *maps = pmp_maps_new();
	struct pmp_module *module = add_file(maps, "pie");
	struct pmp_module *anon = add_module(maps, PMP_MODULE_ANON, "[anon]");
	char place[64];

	load(maps, module, anon, SPACE_BASE);
	close(module->fd);
	module->fd = -1;
	module->open_errno = EACCES;
	is_str(text_at(symbolizer, maps,
		       SPACE_BASE + symbol_address("pie", "zeros") + 2 * PAGE),
	       "", "after a file that cannot be read");
	snprintf(place, sizeof(place), "in pie+0x%llx",
		 (unsigned long long)symbol_address("pie", "data"));
	is_str(text_at(symbolizer, maps, SPACE_BASE + symbol_address("pie", "data")),
	       place, "in it");
	pmp_symbolizer_free(symbolizer);
	pmp_maps_unref(maps);
}

/* A file that is written to after the first names were read from it. */
static void test_written(void)
{
	struct pmp_symbolizer *symbolizer = symbolizer_of(defaults);
	struct pmp_maps *maps = pmp_maps_new();
	struct pmp_module *module, *anon;
	const struct pmp_frame *frames;
	struct pmp_raw_frame raw = { .flags = PMP_FRAME_EXACT };

	ok(run("cp pie written"), "a copy");
	module = add_file(maps, "written");
	anon = add_module(maps, PMP_MODULE_ANON, "[anon]");
	load(maps, module, anon, SPACE_BASE);
	raw.pc = SPACE_BASE + symbol_address("pie", "main");
	pmp_symbolizer_frames(symbolizer, pmp_symbolizer_locate(symbolizer, maps, &raw),
			      &frames);
	is_str(frames->function, "main", "a function of it is named");
	ok(run("touch -d 2001-01-01 written"), "and it is written to");
	ok(strncmp(text_at(symbolizer, maps, SPACE_BASE + symbol_address("pie", "data")),
		   "in written+", 11) == 0,
	   "no object of it is named any more");
	pmp_symbolizer_free(symbolizer);
	pmp_maps_unref(maps);
}

/* ---- numbers ----------------------------------------------------------------- */

static void test_numbers(void)
{
	struct pmp_symbolizer *symbolizer = symbolizer_of(defaults);
	struct pmp_maps *maps = pmp_maps_new();
	struct pmp_module *module = add_file(maps, "pie");
	struct pmp_module *anon = add_module(maps, PMP_MODULE_ANON, "[anon]");
	uint64_t data = SPACE_BASE + symbol_address("pie", "data");
	const uint64_t far = 0x100000000;
	struct pmp_located_object one, other;
	struct pmp_object object;
	const bool used[16] = { false };

	load(maps, module, anon, SPACE_BASE);
	load(maps, module, anon, SPACE_BASE + far);
	pmp_symbolizer_attach(symbolizer);
	pmp_symbolizer_locate_object(symbolizer, maps, data + 4, &one);
	pmp_symbolizer_locate_object(symbolizer, maps, data + far + 4, &other);
	is_int(one.location, other.location, "one place in a file, one number");
	is_str(text_at(symbolizer, maps, data + far + 4), "data+0x4",
	       "wherever the file is mapped");
	pmp_symbolizer_locate_object(symbolizer, maps, data + 8, &other);
	ok(one.location != other.location, "another place");
	ok(pmp_symbolizer_gc(symbolizer, used), "all numbers are taken back");
	pmp_symbolizer_object(symbolizer, &one, &object);
	is_str(text_of(&object), "", "what had one is not known then");
	is_str(text_at(symbolizer, maps, data + 4), "data+0x4",
	       "until it is found again");
	pmp_symbolizer_detach(symbolizer);
	pmp_symbolizer_free(symbolizer);
	pmp_maps_unref(maps);
}

/* ---- places ----------------------------------------------------------------- */

#ifdef __aarch64__
#define GO_HEAP 0x4000000000
#else
#define GO_HEAP 0xc000000000
#endif

/* heap, two thread stacks and other memory, something shared, the first stack, the heap of
 * Go. */
static struct pmp_maps *make_maps(void)
{
	struct pmp_maps *maps = pmp_maps_new();
	struct pmp_module *heap = add_module(maps, PMP_MODULE_SPECIAL, "[heap]");
	struct pmp_module *anon = add_module(maps, PMP_MODULE_ANON, "[anon]");
	struct pmp_module *shared = add_module(maps, PMP_MODULE_FILE, "/dev/shm/queue");
	struct pmp_module *stack = add_module(maps, PMP_MODULE_SPECIAL, "[stack]");
	struct pmp_module *vvar = add_module(maps, PMP_MODULE_SPECIAL, "[vvar]");

	add_region(maps, heap, 0x10000, 0x20000, RW);
	add_region(maps, anon, 0x40000, 0x41000, 0);
	add_region(maps, anon, 0x41000, 0x50000, RW);
	add_region(maps, anon, 0x50000, 0x51000, 0);
	add_region(maps, anon, 0x51000, 0x60000, RW);
	add_region(maps, shared, 0x70000, 0x71000, RW | PMP_PROT_SHARED);
	add_region(maps, vvar, 0x78000, 0x79000, PMP_PROT_READ);
	add_region(maps, stack, 0x80000, 0x90000, RW);
	add_region(maps, anon, GO_HEAP, GO_HEAP + 0x400000, RW);
	return maps;
}

static void add_waiter(struct pmp_sample *sample, pid_t tid, uint64_t sp, uint64_t object)
{
	struct pmp_thread *thread = pmp_sample_add_thread(sample);

	thread->tid = tid;
	thread->sp = sp;
	thread->syscall = PMP_SYSCALL_UNKNOWN;
	thread->wait.kind = object ? PMP_WAIT_MUTEX : PMP_WAIT_NONE;
	thread->wait.object = object;
}

static struct pmp_sample *make_sample(void)
{
	struct pmp_sample *sample = pmp_sample_new();

	sample->pid = 10;
	sample->maps = make_maps();
	add_waiter(sample, 20, 0, 0);
	add_waiter(sample, 19, GO_HEAP + 0x1000, GO_HEAP + 0x2000);
	add_waiter(sample, 18, 0, 0x30000);
	add_waiter(sample, 17, 0, 0x78010);
	add_waiter(sample, 16, 0, 0x70010);
	add_waiter(sample, 15, 0, 0x59000);
	add_waiter(sample, 14, 0x58000, 0x57fff);
	add_waiter(sample, 13, 0x42000, 0x58000);
	add_waiter(sample, 12, 0x11000, 0x4ffff);
	add_waiter(sample, 11, 0, 0x12000);
	add_waiter(sample, 10, 0, 0x80010);
	return sample;
}

/* All that threads wait for, by tid, through a filter that changes no stack, or none. */
static void check_places(struct pmp_profile *profile, const struct pmp_filter *filter,
			 const char *text)
{
	static const char *const expected[] = {
		"on the stack of 10",
		"in the heap",
		"on the stack of 13",
		"on the stack of 14",
		"in the heap",
		"on the stack of 14",
		"in shared memory /dev/shm/queue",
		"",
		"",
		"in the heap",
	};
	const struct pmp_report_options options = { .size = sizeof(options),
						    .snapshot = true };
	struct pmp_report *report;
	struct pmp_object object;
	size_t i;

	if (pmp_report_new(profile, filter, &options, &report, NULL))
		exit(99);
	for (i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		ok(pmp_report_object(report, &report->snapshot->rows[i], &object),
		   "%s: thread %zu waits", text, i + 10);
		is_str(text_of(&object), expected[i], "for an object %s",
		       *expected[i] ? expected[i] : "nowhere");
	}
	ok(!pmp_report_object(report, &report->snapshot->rows[i], &object),
	   "%s: who waits for nothing has none", text);
	pmp_report_free(report);
}

static void test_places(void)
{
	const struct pmp_profile_options options = { .size = sizeof(options),
						     .keep_snapshot = true };
	struct pmp_symbolizer *symbolizer = symbolizer_of(defaults);
	struct pmp_sample *sample = make_sample();
	struct pmp_profile *profile;
	struct pmp_filter *filter;

	if (pmp_profile_new(&options, symbolizer, &profile, NULL) ||
	    pmp_profile_add(profile, sample, NULL) || pmp_filter_new(&filter, NULL) ||
	    pmp_filter_add(filter, PMP_FILTER_IGNORE, "^nothing$", NULL))
		exit(99);
	/* Nothing of the sample is needed any more. */
	pmp_sample_free(sample);
	check_places(profile, NULL, "as found");
	check_places(profile, filter, "filtered");
	pmp_filter_free(filter);
	pmp_profile_free(profile);
	pmp_symbolizer_free(symbolizer);
}

int main(void)
{
	enter_tmp();
	test_files();
	test_cxx();
	test_without_symbol();
	test_unreadable();
	test_written();
	test_numbers();
	test_places();
	leave_tmp();
	return done_testing();
}
