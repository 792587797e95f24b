/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Of a large symbol table only what names the addresses that are asked for is read:
 * these have the names that they have when all is read, whatever lies over and beside
 * them. What is asked later is read then, if the file is still the same.
 */
#include "lib/names.h"

#include "resolve/dso.h"
#include "resolve/elf.h"
#include "resolve/objects.h"
#include "resolve/symbols.h"

#define SYMBOLS 3000
#define TEXT 200000 /* bytes of code that they are spread over */
#define ROUNDS 200
#define ASKED_MAX 50 /* at a time */

static uint64_t random_state = 1;

static unsigned below(unsigned limit)
{
	random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (unsigned)((random_state >> 33) % limit);
}

/* Functions that nest, overlap, begin together, have no size or no type, in two
 * sections with a gap between them. */
static void write_assembly(void)
{
	static const char *const binds[] = { "globl", "weak", "local" };
	FILE *file = fopen("many.s", "w");

	if (!file)
		exit(99);
	fprintf(file,
		"	.text\n	.globl _start\n_start: .skip %d\n"
		"	.section .other, \"ax\"\nother: .skip %d\n",
		TEXT, TEXT);
	for (int i = 0; i < SYMBOLS; i++) {
		unsigned at = below(TEXT / 4) * 4, kind = below(10);

		fprintf(file, "	.%s %sf%d\n", binds[below(3)], below(4) ? "" : "_", i);
		fprintf(file, "	.set %sf%d, %s + %u\n", "", i,
			below(2) ? "_start" : "other", at);
		fprintf(file, "	.set _f%d, f%d\n", i, i);
		if (kind > 0)
			fprintf(file, "	.type f%d, @function\n	.type _f%d, @function\n",
				i, i);
		if (kind > 1)
			fprintf(file, "	.size f%d, %u\n", i,
				below(20) ? below(64) : below(4000));
		if (kind > 2 && below(2))
			fprintf(file, "	.size _f%d, %u\n", i, below(64));
	}
	if (fclose(file) != 0)
		exit(99);
}

/* Short functions, and some that are longer than a page, or than many. */
static void write_large(const char *path, const char *prefix)
{
	FILE *file = fopen(path, "w");

	if (!file)
		exit(99);
	for (int i = 0; i < SYMBOLS; i++)
		fprintf(file, "int %s%d(void) { return %d; }\n", prefix, i, i);
	for (int i = 0; i < 10; i++)
		fprintf(file, "void wide%d(void) { __asm__(\".skip %d\"); }\n", i,
			3000 << i % 5);
	fputs("int main(void) { return 0; }\n", file);
	if (fclose(file) != 0)
		exit(99);
}

static void open_elf(struct pmp_elf *elf, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const char *problem = pmp_elf_open(elf, fd);

	if (problem) {
		diag("%s: %s", path, problem);
		exit(99);
	}
}

static bool same_name(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* How many of these addresses are named otherwise when only they are asked for;
 * *partly: not all symbols have been read for that. */
static unsigned differing(struct pmp_elf *elf, const struct pmp_symbols *all,
			  const uint64_t *addresses, size_t count, bool *partly)
{
	struct pmp_symbols *some = pmp_symbols_new(&elf, 1, addresses, count);
	unsigned wrong = 0;

	*partly = !pmp_symbols_all(some);
	for (size_t i = 0; i < count; i++)
		wrong += !pmp_symbols_know(some, addresses[i]) ||
			 !same_name(pmp_symbols_find(some, addresses[i]),
				    pmp_symbols_find(all, addresses[i]));
	if (pmp_symbols_count(some) != pmp_symbols_count(all) ||
	    pmp_symbols_complete(some) != pmp_symbols_complete(all))
		wrong++;
	pmp_symbols_free(some);
	return wrong;
}

/* covered: only addresses that have names, of which those without a size are few. */
static void compare(const char *path, unsigned most, bool covered)
{
	unsigned wrong = 0, rounds_partly = 0, named = 0, unnamed = 0;
	uint64_t addresses[ASKED_MAX], low = UINT64_MAX, high = 0;
	struct pmp_symbols *all;
	struct pmp_elf elf, *file = &elf;

	open_elf(&elf, path);
	all = pmp_symbols_new(&file, 1, NULL, 0);
	ok(pmp_symbols_all(all), "%s: all are read when nothing is asked for", path);
	for (size_t i = 0; i < elf.code_count; i++) {
		const struct pmp_elf_code *code = &elf.code[i];

		low = code->address < low ? code->address : low;
		high = code->address + code->size > high ? code->address + code->size
							 : high;
	}
	for (int round = 0; round < ROUNDS; round++) {
		size_t count = 1 + below(most);
		bool partly;

		for (size_t i = 0; i < count;) {
			bool found;

			addresses[i] = low + below((unsigned)(high - low));
			found = pmp_symbols_find(all, addresses[i]);
			named += found;
			unnamed += !found;
			i += found || !covered;
		}
		wrong += differing(&elf, all, addresses, count, &partly);
		rounds_partly += partly;
	}
	diag("%s: %u addresses with a name, %u without, in %u of %d rounds of a part",
	     path, named, unnamed, rounds_partly, ROUNDS);
	is_int(wrong, 0, "%s: the names are the same", path);
	ok(named > 100 && (covered || unnamed > 100), "%s: with and without names", path);
	ok(rounds_partly > (covered ? ROUNDS * 3 / 4 : ROUNDS / 10),
	   "%s: not all symbols are read", path);
	pmp_symbols_free(all);
	close(elf.from);
	pmp_elf_close(&elf);
}

static void test_names(void)
{
	write_assembly();
	write_large("large.c", "f");
	if (!ok(run("${CC:-cc} -nostdlib -no-pie -o many many.s 2>/dev/null") &&
			run("${CC:-cc} -o large large.c"),
		"two programs with many symbols"))
		return;
	compare("many", 8, false);
	compare("large", 50, true);
}

/* ---- variables --------------------------------------------------------------- */

/* Variables that nest, overlap, begin together, or are a label only. */
static void write_variables(void)
{
	FILE *file = fopen("variables.s", "w");

	if (!file)
		exit(99);
	fprintf(file, "	.text\n	.globl _start\n_start: ret\n	.data\ndata: .skip %d\n",
		TEXT);
	for (int i = 0; i < SYMBOLS; i++) {
		fprintf(file, "	.globl v%d\n	.set v%d, data + %u\n", i, i,
			i < 3 ? 4096 * (unsigned)i : below(TEXT / 4) * 4);
		if (!below(10) && i >= 3)
			continue;
		fprintf(file, "	.type v%d, @object\n	.size v%d, %u\n", i, i,
			below(20) ? 1 + below(64) : 1 + below(4000));
	}
	if (fclose(file) != 0)
		exit(99);
}

static unsigned differing_objects(struct pmp_elf *elf, const struct pmp_objects *all,
				  const uint64_t *distances, size_t count)
{
	struct pmp_objects *some = pmp_objects_new(&elf, 1, false, distances, count);
	uint64_t address, start = 0, want = 0;
	unsigned wrong = !some;

	for (size_t i = 0; i < count && some; i++) {
		if (!pmp_objects_address(some, distances[i], &address))
			continue;
		wrong += !pmp_objects_know(some, address) ||
			 !same_name(pmp_objects_find(some, address, &start),
				    pmp_objects_find(all, address, &want)) ||
			 start != want;
	}
	if (some && pmp_objects_count(some) >= pmp_objects_count(all))
		wrong++;
	pmp_objects_free(some);
	return wrong;
}

static void test_variables(void)
{
	struct pmp_elf elf, *file = &elf;
	unsigned wrong = 0, named = 0;
	struct pmp_objects *all;

	write_variables();
	if (!ok(run("${CC:-cc} -nostdlib -no-pie -o variables variables.s 2>/dev/null"),
		"a program with many variables"))
		return;
	open_elf(&elf, "variables");
	all = pmp_objects_new(&file, 1, false, NULL, 0);
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t distances[ASKED_MAX], address, start;
		size_t count = 1 + below(ASKED_MAX);

		for (size_t i = 0; i < count; i++) {
			distances[i] = below(TEXT + 20000);
			named += pmp_objects_address(all, distances[i], &address) &&
				 pmp_objects_find(all, address, &start);
		}
		wrong += differing_objects(&elf, all, distances, count);
	}
	is_int(wrong, 0, "variables: the names are the same, and few are read");
	ok(named > 1000, "variables: %u have names", named);
	pmp_objects_free(all);
	close(elf.from);
	pmp_elf_close(&elf);
}

/* One that was not asked for has its name as well: then all are read. */
static void test_variables_later(void)
{
	struct pmp_budget budget = { 0 };
	struct pmp_log log = { 0 };
	const struct pmp_dso_options options = { .no_dwarf = true,
						 .log = &log,
						 .budget = &budget };
	const uint64_t wide = symbol_address("variables", "v1");
	struct pmp_dso_object object;
	struct space space = space_of("variables");
	struct pmp_dso *dso = pmp_dso_new(space.maps->modules[0], &options, NULL, 0);
	uint64_t first = 0, later;

	while (pmp_dso_object(dso, first, &object) != 1 || object.address != wide)
		first += 4;
	pmp_dso_free(dso);
	later = first + symbol_address("variables", "v2") - wide;
	dso = pmp_dso_new(space.maps->modules[0], &options, NULL, 0);
	ok(pmp_dso_lacks_objects(dso), "later: none are read at first");
	pmp_dso_read_objects(dso, &first, 1);
	ok(!pmp_dso_lacks_objects(dso), "later: then some are");
	ok(pmp_dso_object(dso, later, &object) == 1 && object.name,
	   "later: one that was not asked for has a name");
	pmp_dso_free(dso);
	space_free(&space);
}

/* ---- what is asked later ----------------------------------------------------- */

/* The names of functions f0, f100, ... as a symbolizer tells them one after the other,
 * with a change to the file after the first. */
static void name_later(const char *change, const char *want, const char *what)
{
	struct pmp_symbolizer_options options = { .size = sizeof(options),
						  .no_inline = true };
	struct pmp_symbolizer *symbolizer;
	struct space space;
	const struct pmp_frame *frames;
	uint64_t first, later;
	struct timespec old = { 1000000000, 0 };

	run("cp -f large target");
	utimensat(AT_FDCWD, "target", (struct timespec[]){ old, old }, 0);
	first = symbol_address("large", "f7");
	later = symbol_address("large", "f1234");
	symbolizer = symbolizer_of(options);
	space = space_of("target");
	names_at(&space, symbolizer, first, true, &frames);
	is_str(frames->function, "f7", "%s: the first name", what);
	if (change && !run("%s", change))
		exit(99);
	names_at(&space, symbolizer, later, true, &frames);
	if (want)
		is_str(frames->function, want, "%s: a later one", what);
	else
		ok(frames->unnamed, "%s: no later one", what);
	names_at(&space, symbolizer, first, true, &frames);
	is_str(frames->function, "f7", "%s: the first one stays", what);
	pmp_symbolizer_free(symbolizer);
	space_free(&space);
}

static void test_later(void)
{
	write_large("wrong.c", "g");
	if (!ok(run("${CC:-cc} -o wrong wrong.c"), "another one"))
		return;
	name_later(NULL, "f1234", "the same file");
	name_later("rm target", "f1234", "a file that is removed");
	name_later("cp -f wrong other && mv other target", "f1234",
		   "one that is replaced");
	name_later("cat wrong >target", NULL, "one that is overwritten");
	name_later(": >target", NULL, "one that is emptied");
	name_later("rm target && strip -o target large", "f1234", "one stripped again");
}

int main(void)
{
	enter_tmp();
	test_names();
	test_variables();
	test_variables_later();
	test_later();
	leave_tmp();
	return done_testing();
}
