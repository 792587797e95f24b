/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory runs out while names of functions and objects are looked up, at each allocation
 * in turn, ours or libelf's and libdw's: once, and from then on. Fewer names, no wrong
 * ones; no crash, no exit, nothing kept.
 */
/* libdw 0.188 uses its table of a unit's abbreviations, of 42 slots, without asking
 * whether it could be made. */
#define HEAP_SPARED(size) ((size) == (size_t)42 * 16)
#include "lib/heap.h"

#ifdef HEAP_OURS

#include "lib/names.h"

static const char source[] =
	"volatile int sink;\n"
	"static inline __attribute__((always_inline)) int inner(int x)\n"
	"{\n"
	"	sink += x;\n"
	"	return sink * x;\n"
	"}\n"
	"__attribute__((noinline)) int outer(int x)\n"
	"{\n"
	"	sink = 3;\n"
	"	return inner(x) + 2;\n"
	"}\n"
	"int main(int argc, char **argv) { (void)argv; return outer(argc); }\n";

static struct space space;
static uint64_t start;
static unsigned full; /* frames when all goes well */

/* Right, or none. */
static bool plausible(const struct pmp_frame *frame, bool last)
{
	if (frame->unnamed)
		return frame->function[0] == '[';
	if (frame->file && !strstr(frame->file, "alloc.c"))
		return strcmp(frame->file, "[unknown]") == 0;
	return strcmp(frame->function, last ? "outer" : "inner") == 0 ||
	       strcmp(frame->function, "[unknown]") == 0;
}

static unsigned look_up(struct pmp_symbolizer *symbolizer, unsigned *wrong)
{
	unsigned total = 0;

	for (uint64_t at = start; at < start + 20; at += 3) {
		const struct pmp_frame *frames;
		size_t count = names_at(&space, symbolizer, at, true, &frames);

		total += (unsigned)count;
		*wrong += count < 1 || count > 2;
		for (size_t i = 0; i < count; i++)
			*wrong += !plausible(&frames[i], i + 1 == count);
	}
	return total;
}

static bool use_names(unsigned *wrong)
{
	struct pmp_symbolizer_options options = { .size = sizeof(options),
						  .lines = true };
	struct pmp_symbolizer *symbolizer;

	if (pmp_symbolizer_new(&options, &symbolizer, NULL) == 0) {
		unsigned total = look_up(symbolizer, wrong);

		*wrong += total > full || (total < full && !heap.failed);
	}
	pmp_symbolizer_free(symbolizer);
	return !heap.failed;
}

/* ---- objects ------------------------------------------------------------------- */

static uint64_t object; /* the address of `sink` */

/* The page that it is in, as if it were of the file. */
static void add_data(void)
{
	const struct pmp_region region = {
		.start = object & ~UINT64_C(0xfff),
		.end = (object & ~UINT64_C(0xfff)) + 0x1000,
		.offset = 0x100000,
		.module = space.maps->modules[0],
		.prot = PMP_PROT_READ | PMP_PROT_WRITE,
	};

	if (pmp_maps_add_region(space.maps, &region))
		exit(99);
}

static bool use_object(unsigned *wrong)
{
	struct pmp_symbolizer_options options = { .size = sizeof(options),
						  .no_inline = true };
	struct pmp_symbolizer *symbolizer;
	struct pmp_located_object located;
	struct pmp_object found;

	if (pmp_symbolizer_new(&options, &symbolizer, NULL) == 0) {
		pmp_symbolizer_locate_object(symbolizer, space.maps, object + 1,
					     &located);
		pmp_symbolizer_object(symbolizer, &located, &found);
		*wrong += !found.symbol && !heap.failed;
		*wrong += found.symbol &&
			  (strcmp(found.symbol, "sink") != 0 || found.offset != 1);
		*wrong += !found.symbol && found.in != PMP_IN_NOTHING &&
			  found.offset != object + 1 - space.bias;
	}
	pmp_symbolizer_free(symbolizer);
	return !heap.failed;
}

static void try_object(void)
{
	unsigned wrong = 0;

	if (!run("${CC:-cc} -O2 -pie -fPIE -o prog alloc.c 2>/dev/null"))
		return;
	space = space_of("prog");
	object = symbol_address("prog", "sink") + space.bias;
	add_data();
	heap.failed = false;
	use_object(&wrong);
	is_int(wrong, 0, "an object with enough memory");
	heap.lasting = false;
	try_all(use_object, "object");
	heap.lasting = true;
	try_all(use_object, "object, from then on");
	space_free(&space);
}

static void try_program(const char *flags)
{
	struct pmp_symbolizer *symbolizer;
	unsigned wrong = 0;

	if (!run("${CC:-cc} %s -o prog alloc.c 2>/dev/null", flags)) {
		diag("not here: %s", flags);
		return;
	}
	start = symbol_address("prog", "outer");
	space = space_of("prog");
	/* What libraries keep for ever is made now. */
	symbolizer = symbolizer_of((struct pmp_symbolizer_options){ .lines = true });
	full = look_up(symbolizer, &wrong);
	pmp_symbolizer_free(symbolizer);
	ok(full > 7 && wrong == 0, "%s: %u frames with enough memory", flags, full);
	heap.lasting = false;
	try_all(use_names, flags);
	heap.lasting = true;
	try_all(use_names, "from then on");
	space_free(&space);
}

int main(void)
{
	if (!ours()) {
		ok(true, "nothing to do: malloc is replaced");
		return done_testing();
	}
	if (!have("${CC:-cc}") || !have("nm")) {
		skip("no compiler");
		return done_testing();
	}
	enter_tmp();
	write_file("alloc.c", source);
	/* libdw forgets a list of ranges, and the table named above. */
	heap.leaks = 5;
	try_program("-g -O2");
	try_program("-g -O2 -gz");
	try_program("-gdwarf-4 -O2");
	try_object();
	leave_tmp();
	return done_testing();
}

#else

int main(void)
{
	ok(true, "nothing to do: malloc belongs to a sanitizer or another libc");
	return done_testing();
}

#endif
