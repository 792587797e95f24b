/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines and inlined functions, compared address by address with addr2line for
 * each compiler and way to store debug information that is there.
 */
#include <elfutils/libdw.h>
#include <inttypes.h>

#include "lib/fifo.h"
#include "lib/names.h"
#include "resolve/line-rows.h"
#include "resolve/symbolizer-state.h"

static const char source[] =
	"volatile int sink;\n"
	"static inline __attribute__((always_inline)) int inner(int x)\n"
	"{\n"
	"	sink += x;\n"
	"	return sink * x;\n"
	"}\n"
	"static inline __attribute__((always_inline)) int middle(int x)\n"
	"{\n"
	"	int y = x + 1;\n"
	"	return inner(y) + 1;\n"
	"}\n"
	"__attribute__((noinline)) int outer(int x)\n"
	"{\n"
	"	sink = 3;\n"
	"	return middle(x) + 2;\n"
	"}\n"
	"int main(int argc, char **argv)\n"
	"{\n"
	"	(void)argv;\n"
	"	return outer(argc);\n"
	"}\n";

struct chain {
	bool inner, middle, outer; /* seen with the right position */
	unsigned wrong;
};

/* Every frame is in its own function: the lines say which is which. */
static void check_chain(const struct pmp_frame *frames, size_t count, struct chain *chain)
{
	const struct pmp_frame *last = &frames[count - 1];

	chain->wrong += strcmp(last->function, "outer") != 0 || last->inlined;
	for (size_t i = 0; i + 1 < count; i++)
		chain->wrong += !frames[i].inlined || frames[i].address != last->address;
	if (count == 3) {
		chain->wrong += strcmp(frames[0].function, "inner") != 0 ||
				strcmp(frames[1].function, "middle") != 0 ||
				frames[1].line != 10 || last->line != 15;
		chain->inner |= frames[0].line == 4;
		chain->middle = true;
	}
	chain->outer |= count == 1 && last->line == 14;
	if (!last->file || !strstr(last->file, "inl.c"))
		chain->wrong++;
}

static void test_program(const char *flags)
{
	struct pmp_symbolizer *symbolizer =
		symbolizer_of((struct pmp_symbolizer_options){ .lines = true });
	struct pmp_symbolizer *plain = symbolizer_of(
		(struct pmp_symbolizer_options){ .lines = true, .no_inline = true });
	struct space space = space_of("prog");
	uint64_t start = symbol_address("prog", "outer");
	const struct pmp_frame *frames;
	struct chain chain = { 0 };
	unsigned many = 0, lines = 0;

	/* 20 bytes: the code is longer with every compiler. */
	for (uint64_t at = start; at < start + 20; at++) {
		size_t count = names_at(&space, symbolizer, at, true, &frames);

		check_chain(frames, count, &chain);
		many += names_at(&space, plain, at, true, &frames) != 1;
		lines += frames[0].line == 14 || frames[0].line == 15;
	}
	is_int(chain.wrong, 0, "%s: every frame has its own name and position", flags);
	ok(chain.inner && chain.middle, "%s: inner in middle in outer", flags);
	ok(chain.outer, "%s: outer alone", flags);
	is_int(many, 0, "%s: one frame without inlines", flags);
	ok(lines >= 19, "%s: whose line is in the function itself (%u)", flags, lines);
	pmp_symbolizer_free(symbolizer);
	pmp_symbolizer_free(plain);
	space_free(&space);
}

/* FUNCTION FILE:LINE for each frame, as addr2line has them. */
static unsigned differing(const char *path)
{
	struct pmp_symbolizer *symbolizer =
		symbolizer_of((struct pmp_symbolizer_options){ .lines = true });
	struct space space = space_of(path);
	uint64_t start = symbol_address(path, "outer");
	unsigned differ = 0;

	for (uint64_t at = start; at < start + 20; at++) {
		char want[1024], got[1024] = "";
		const struct pmp_frame *frames;
		size_t count = names_at(&space, symbolizer, at, true, &frames);

		for (size_t i = 0; i < count; i++)
			snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s %u;",
				 frames[i].function, frames[i].line);
		output_of(
			want, sizeof(want),
			"addr2line -f -i -e %s 0x%llx | sed -e 's/ (discr.*//' -e 's/.*://' |"
			" paste -s -d ' ;'",
			path, (unsigned long long)at);
		if (strlen(want) + 1 != strlen(got) ||
		    strncmp(want, got, strlen(want)) != 0) {
			differ++;
			diag("0x%llx: %s but %s", (unsigned long long)at, got, want);
		}
	}
	pmp_symbolizer_free(symbolizer);
	space_free(&space);
	return differ;
}

/* The most frames of an address in outer, with so many steps for all of them. */
static size_t most_frames(uint64_t steps, uint64_t *spent)
{
	struct pmp_symbolizer *symbolizer =
		symbolizer_of((struct pmp_symbolizer_options){ .lines = true });
	struct space space = space_of("prog");
	uint64_t start = symbol_address("prog", "outer");
	const struct pmp_frame *frames;
	size_t most = 0;

	symbolizer->budget.steps = steps;
	for (uint64_t at = start; at < start + 20; at++) {
		size_t count = names_at(&space, symbolizer, at, true, &frames);

		most = count > most ? count : most;
		if (strcmp(frames[count - 1].function, "outer") != 0)
			most = 99;
	}
	*spent = steps - symbolizer->budget.steps;
	pmp_symbolizer_free(symbolizer);
	space_free(&space);
	return most;
}

/* All debug information together may cost so many steps; then symbols are left. */
static void test_budget(void)
{
	uint64_t spent;

	is_int(most_frames(1000, &spent), 3, "inlined functions are found");
	ok(spent > 10 && spent < 1000, "which costs steps: %u", (unsigned)spent);
	is_int(most_frames(0, &spent), 1,
	       "without any only the function itself is named");
	is_int(most_frames(10, &spent), 1, "nor with too few");
	is_int(spent, 10, "which are then spent");
}

/* How many of the addresses in outer have a name, when its module or all modules have names of
 * that size already. */
static unsigned count_named(size_t of_module, size_t of_all)
{
	struct pmp_symbolizer *symbolizer =
		symbolizer_of((struct pmp_symbolizer_options){ .lines = true });
	struct space space = space_of("prog");
	uint64_t start = symbol_address("prog", "outer");
	struct pmp_module_info info = { .size = sizeof(info) };
	const struct pmp_frame *frames;
	unsigned named = 0;

	for (uint64_t at = start; at < start + 20; at++) {
		size_t count = names_at(&space, symbolizer, at, true, &frames);

		named += !frames[count - 1].unnamed;
		symbolizer->modules.items[0]->names_size += of_module;
		symbolizer->strings.size += of_all;
		of_module = of_all = 0;
	}
	pmp_symbolizer_module(symbolizer, 0, &info);
	if (named < 20)
		is_str(info.problem, "names take too much memory", "the reason is given");
	pmp_symbolizer_free(symbolizer);
	space_free(&space);
	return named;
}

static void test_names_size(void)
{
	struct pmp_symbolizer *symbolizer =
		symbolizer_of((struct pmp_symbolizer_options){ .lines = true });
	struct space space = space_of("prog");
	uint64_t start = symbol_address("prog", "outer");
	const struct pmp_frame *frames;
	bool used[20];
	size_t size;

	pmp_symbolizer_attach(symbolizer);
	for (uint64_t at = start; at < start + 20; at++)
		names_at(&space, symbolizer, at, true, &frames);
	size = strlen("outer") + strlen("middle") + strlen("inner") +
	       strlen(frames[0].file);
	is_int(symbolizer->modules.items[0]->names_size, size,
	       "what names take is counted once");
	for (size_t i = 0; i < 20; i++)
		used[i] = i % 2;
	ok(pmp_symbolizer_gc(symbolizer, used) && pmp_symbolizer_gc(symbolizer, used),
	   "half of the locations are forgotten, and once more");
	is_int(symbolizer->modules.items[0]->names_size, size,
	       "what the names of the others take is counted again");
	pmp_symbolizer_free(symbolizer);
	space_free(&space);
	is_int(count_named(1000, 1000), 20, "all addresses have names");
	is_int(count_named(PMP_NAMES_OF_MODULE, 0), 1,
	       "none any more once those of the module take too much");
	is_int(count_named(0, PMP_NAMES_OF_ALL), 1, "or those of all modules");
}

/* The path of a FIFO that must not be opened while main is named. */
static void test_bait(const char *path, const char *what)
{
	pid_t bait = fifo_new(path);
	const struct pmp_symbolizer_options lines = { .lines = true };

	is_str(name_in("split/prog", symbol_address("split/prog", "outer"), lines),
	       "outer", "a FIFO %s: its name all the same", what);
	ok(fifo_untouched(bait), "a FIFO %s is not opened", what);
	unlink(path);
}

/*
 * libdw looks for a .dwo file in several places and opens what is there, in this order;
 * each is what its file says.
 */
static void test_split_places(const char *compiler)
{
	if (!run("rm -rf split && mkdir split && cp inl.c split && cd split && "
		 "%s -g -gsplit-dwarf -O2 -c inl.c -fdebug-prefix-map=$PWD=%s/built && "
		 "%s -o prog inl.o && rm -f *.dwo && mkdir -p ../built",
		 compiler, tmp_dir, compiler)) {
		diag("not here: %s -gsplit-dwarf", compiler);
		return;
	}
	test_bait("split/prog.dwp", "for a package");
	test_bait("split/inl.dwo", "beside the file");
	test_bait("built/inl.dwo", "where it was compiled");
	if (!run("cd split && %s -g -gsplit-dwarf -O2 -c inl.c -fdebug-prefix-map=$PWD=below && "
		 "%s -o prog inl.o && rm -f *.dwo && mkdir -p below",
		 compiler, compiler))
		return;
	test_bait("split/below/inl.dwo", "where it was compiled, below its file");
}

/* The most functions at one address of outer, by what its .dwo file says. */
static size_t split_frames(void)
{
	struct pmp_symbolizer *symbolizer =
		symbolizer_of((struct pmp_symbolizer_options){ .lines = true });
	struct space space = space_of("split/prog");
	uint64_t start = symbol_address("split/prog", "outer");
	const struct pmp_frame *frames;
	size_t most = 0;

	for (uint64_t at = start; at < start + 20; at++) {
		size_t count = names_at(&space, symbolizer, at, true, &frames);

		most = count > most ? count : most;
	}
	pmp_symbolizer_free(symbolizer);
	space_free(&space);
	return most;
}

/* A .dwo file is believed as a debug file is: it may be root's, ours or the program's
 * owner's. */
static void test_split_owner(void)
{
	const uid_t nobody = 65534, other = 65533;

	if (geteuid() != 0) {
		skip("needs root");
		return;
	}
	if (!run("rm -rf split && mkdir split && cp inl.c split && cd split && "
		 "${CC:-cc} -g -gsplit-dwarf -O2 -c inl.c && ${CC:-cc} -o prog inl.o")) {
		diag("not here: -gsplit-dwarf");
		return;
	}
	is_int(split_frames(), 3, "a .dwo file of root's has inlined functions");
	is_int(chown("split/inl.dwo", nobody, (gid_t)-1), 0, "one of another user");
	is_int(split_frames(), 1, "is not believed");
	is_int(chown("split/prog", other, (gid_t)-1), 0, "a program of a third user");
	is_int(split_frames(), 1, "nor is it then");
	is_int(chown("split/prog", nobody, (gid_t)-1), 0, "a program of that user");
	is_int(split_frames(), 3, "it is, as the program is");
}

/* The number of lines of the program's first unit, by libdw and by ourselves. */
static void count_rows(Dwarf *dwarf, uint64_t *theirs, uint64_t *ours)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Lines *lines;
	Dwarf_Die die;
	size_t count = 0, names;
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	*theirs = *ours = 0;
	if (dwarf_get_units(dwarf, NULL, &unit, NULL, NULL, &die, NULL) == 0 &&
	    dwarf_getsrclines(&die, &lines, &count) == 0)
		*theirs = count;
	elf_getshdrstrndx(dwarf_getelf(dwarf), &names);
	while ((section = elf_nextscn(dwarf_getelf(dwarf), section))) {
		const Elf_Data *data = elf_getdata(section, NULL);

		gelf_getshdr(section, &header);
		if (strcmp(elf_strptr(dwarf_getelf(dwarf), names, header.sh_name),
			   ".debug_line") == 0)
			*ours = pmp_line_rows(data->d_buf, data->d_size, 0);
	}
}

static void test_rows(const char *way)
{
	int fd = open("prog", O_RDONLY | O_CLOEXEC);
	Dwarf *dwarf = dwarf_begin(fd, DWARF_C_READ);
	uint64_t theirs = 0, ours = 0;

	if (dwarf)
		count_rows(dwarf, &theirs, &ours);
	ok(theirs > 0 && ours == theirs, "%s: %" PRIu64 " lines, counted as %" PRIu64,
	   way, theirs, ours);
	dwarf_end(dwarf);
	close(fd);
}

static void test_no_rows(void)
{
	static const unsigned char none[64];
	unsigned char bad[64];

	is_int(pmp_line_rows(none, sizeof(none), 0), 0, "a line table of zeros");
	is_int(pmp_line_rows(none, sizeof(none), 1000), 0, "one outside of its section");
	is_int(pmp_line_rows(none, 3, 0), 0, "one of three bytes");
	memset(bad, 0xff, sizeof(bad));
	is_int(pmp_line_rows(bad, sizeof(bad), 0), 0, "one of ones");
}

int main(void)
{
	static const char *const ways[] = {
		"${CC:-cc} -g -O2",
		"gcc -gdwarf-4 -O2",
		"clang -g -O2",
		"clang -gdwarf-4 -O2",
		"gcc -gsplit-dwarf -gdwarf-5 -O2",
		"gcc -gsplit-dwarf -gdwarf-4 -O2",
		"clang -g -gsplit-dwarf -O2",
		"gcc -g -O2 -flto",
		"gcc -g -gz -O2",
		"gcc -g -O2 -no-pie",
		"clang -g -O2 -fuse-ld=lld",
	};

	if (!have("${CC:-cc}") || !have("nm")) {
		skip("no compiler");
		return done_testing();
	}
	enter_tmp();
	write_file("inl.c", source);
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		if (run("%s -o prog inl.c 2>/dev/null", ways[i])) {
			test_program(ways[i]);
			test_rows(ways[i]);
		} else {
			diag("not here: %s", ways[i]);
		}
	}
	test_no_rows();
	if (run("${CC:-cc} -g -O2 -o prog inl.c")) {
		test_budget();
		test_names_size();
	}
	test_split_places("gcc");
	test_split_places("clang");
	test_split_owner();
	if (!have("addr2line"))
		skip("no addr2line");
	else if (run("${CC:-cc} -g -O2 -o prog inl.c"))
		is_int(differing("prog"), 0, "as addr2line -i has it");
	leave_tmp();
	return done_testing();
}
