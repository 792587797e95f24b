/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Debug information that is large enough for a thread to unpack it: the names are
 * those of a program that has it unpacked, of more programs than are unpacked at a
 * time, and nothing need wait for what is not wanted any more.
 */
#include "lib/names.h"

#define FUNCTIONS 2000 /* about 340 KiB of debug information */
#define PROGRAMS 6
#define ROUNDS 30
#define STEP 61 /* bytes between two addresses that are looked up */

static void write_source(void)
{
	FILE *file = fopen("large.c", "w");

	if (!file)
		exit(99);
	fputs("volatile int sink;\n", file);
	for (unsigned i = 0; i < FUNCTIONS; i++)
		fprintf(file,
			"static inline __attribute__((always_inline)) int in%u(int x)\n"
			"{ sink += x; return sink * %u; }\n"
			"int out%u(int x)\n{ return in%u(x) + %u; }\n",
			i, i, i, i, i);
	fputs("int main(void) { return 0; }\n", file);
	if (fclose(file) != 0)
		exit(99);
}

static bool same(const struct pmp_frame *a, const struct pmp_frame *b, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(a[i].function, b[i].function) != 0 || a[i].line != b[i].line ||
		    a[i].inlined != b[i].inlined)
			return false;
	}
	return true;
}

/* In all of its code, two programs that differ in how they are stored only. */
static void compare(const struct space *packed, const struct space *plain, uint64_t first,
		    uint64_t last)
{
	struct pmp_symbolizer_options options = { .lines = true };
	struct pmp_symbolizer *a = symbolizer_of(options), *b = symbolizer_of(options);
	unsigned compared = 0, differ = 0, inlined = 0;

	for (uint64_t at = first; at < last; at += STEP) {
		const struct pmp_frame *x, *y;
		size_t count = names_at(packed, a, at, true, &x);

		differ += names_at(plain, b, at, true, &y) != count || !same(x, y, count);
		inlined += count == 2;
		compared++;
	}
	is_int(differ, 0, "%u places have the names they have unpacked", compared);
	ok(inlined > compared / 4, "%u of them in inlined functions", inlined);
	pmp_symbolizer_free(a);
	pmp_symbolizer_free(b);
}

static pmp_location locate(const struct space *space, struct pmp_symbolizer *symbolizer,
			   uint64_t address)
{
	const struct pmp_raw_frame raw = { .pc = address + space->bias,
					   .flags = PMP_FRAME_EXACT };

	return pmp_symbolizer_locate(symbolizer, space->maps, &raw);
}

/* The first name wanted opens them all; count of them are asked for. */
static unsigned name_some(const struct space *spaces, uint64_t address, size_t count)
{
	struct pmp_symbolizer *symbolizer =
		symbolizer_of((struct pmp_symbolizer_options){ .lines = true });
	pmp_location locations[PROGRAMS];
	unsigned right = 0;

	for (size_t i = 0; i < PROGRAMS; i++)
		locations[i] = locate(&spaces[i], symbolizer, address);
	for (size_t i = 0; i < count; i++) {
		const struct pmp_frame *frames;
		size_t named = pmp_symbolizer_frames(symbolizer, locations[i], &frames);

		right += strcmp(frames[named - 1].function, "out7") == 0 &&
			 frames[named - 1].line > 0;
	}
	pmp_symbolizer_free(symbolizer);
	return right;
}

static void test_several(uint64_t address)
{
	struct space spaces[PROGRAMS];
	unsigned right = 0;

	for (unsigned i = 0; i < PROGRAMS; i++) {
		char path[32];

		run("cp packed packed.%u", i);
		snprintf(path, sizeof(path), "packed.%u", i);
		spaces[i] = space_of(path);
	}
	is_int(name_some(spaces, address, PROGRAMS), PROGRAMS, "%d programs at once",
	       PROGRAMS);
	for (unsigned i = 0; i < ROUNDS; i++)
		right += name_some(spaces, address, i % 2);
	is_int(right, ROUNDS / 2, "what has been begun is dropped, %d times", ROUNDS);
	for (unsigned i = 0; i < PROGRAMS; i++)
		space_free(&spaces[i]);
}

/* Bytes that do not unpack to what they should: no names, or libelf's opinion. */
static void test_damaged(uint64_t address)
{
	static const unsigned parts[] = { 10, 30, 50, 70, 90 };

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		run("cp packed damaged && offset=$(readelf -SW packed | "
		    "sed -n 's/.* \\.debug_info *PROGBITS *[0-9a-f]* \\([0-9a-f]*\\) "
		    "\\([0-9a-f]*\\) .*/$((0x\\1 + 0x\\2 * %u \\/ 100))/p') && "
		    "eval \"offset=$offset\" && "
		    "printf '\\377\\377\\377\\377' | dd of=damaged bs=1 conv=notrunc "
		    "seek=$offset 2>/dev/null",
		    parts[i]);
		is_str(name_in("damaged", address,
			       (struct pmp_symbolizer_options){ .lines = true }),
		       "out7", "damaged at %u %%: the symbol is still known", parts[i]);
	}
}

int main(void)
{
	struct space packed, plain;
	uint64_t first, last;

	if (!have("${CC:-cc}") || !have("nm") || !have("readelf")) {
		skip("no compiler");
		return done_testing();
	}
	enter_tmp();
	write_source();
	if (!run("${CC:-cc} -g -O1 -c large.c && ${CC:-cc} -o plain large.o && "
		 "${CC:-cc} -Wl,--compress-debug-sections=zlib -o packed large.o")) {
		skip("the linker does not compress debug sections");
		leave_tmp();
		return done_testing();
	}
	first = symbol_address("packed", "out0");
	last = symbol_address("packed", "main");
	packed = space_of("packed");
	plain = space_of("plain");
	ok(last > first && symbol_address("plain", "out0") == first,
	   "two programs, one of them packed");
	compare(&packed, &plain, first, last);
	test_several(symbol_address("packed", "out7"));
	test_damaged(symbol_address("packed", "out7"));
	space_free(&packed);
	space_free(&plain);
	leave_tmp();
	return done_testing();
}
