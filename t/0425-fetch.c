/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that somebody brings: what is asked for, when, and that nothing is believed which
 * is not of that build.
 */
#include "lib/names.h"

#define ID "aa01020304"

static uint64_t hidden, after; /* addresses in prog */

/* Somebody who brings a file. */
struct bringer {
	const char *debug, *executable; /* NULL: not to be had */
	unsigned asked, asked_executable;
	char build_id[256], path[256]; /* of the last question */
};

static int bring(void *arg, const struct pmp_wanted_file *wanted)
{
	struct bringer *bringer = arg;
	const char *path = wanted->executable ? bringer->executable : bringer->debug;

	if (wanted->executable)
		bringer->asked_executable++;
	else
		bringer->asked++;
	snprintf(bringer->build_id, sizeof(bringer->build_id), "%s", wanted->build_id);
	snprintf(bringer->path, sizeof(bringer->path), "%s", wanted->path);
	return path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
}

static struct pmp_symbolizer *names_of(struct bringer *bringer)
{
	return symbolizer_of((struct pmp_symbolizer_options){
		.lines = true,
		.debug_dir = "/nonexistent",
		.fetch = bring,
		.fetch_arg = bringer,
	});
}

/* 0 no name, 1 a name, 2 a line. */
static int quality(const struct pmp_frame *frame)
{
	if (strcmp(frame->function, "hidden") == 0)
		return frame->file && frame->line >= 2 && frame->line <= 5 ? 2 : 1;
	if (!frame->unnamed)
		diag("wrong name: %s", frame->function);
	return 0;
}

static int found(const char *path, struct bringer *bringer)
{
	struct pmp_symbolizer *symbolizer = names_of(bringer);
	struct space space = space_of(path);
	const struct pmp_frame *frames;
	size_t count = names_at(&space, symbolizer, hidden, true, &frames);
	int result = quality(&frames[count - 1]);

	names_at(&space, symbolizer, after, true, &frames);
	pmp_symbolizer_free(symbolizer);
	space_free(&space);
	return result;
}

/* What comes of a debug file. */
static int brought(const char *debug)
{
	struct bringer bringer = { .debug = debug };
	int result = found("stripped", &bringer);

	if (bringer.asked != 1)
		diag("%s: asked %u times", debug, bringer.asked);
	return bringer.asked == 1 ? result : -1;
}

static bool build(void)
{
	bool fine = run(
		"${CC:-cc} -g -O1 -fno-pie -no-pie -Wl,--build-id=0x" ID
		" -o prog prog.c && objcopy --only-keep-debug prog prog.debug && "
		"strip -o stripped prog && "
		"${CC:-cc} -g -O1 -fno-pie -no-pie -Wl,--build-id=0x" ID "05 "
		"-o other prog.c && objcopy --only-keep-debug other other.debug && "
		"strip -o stripped.other other && "
		"head -c 3000 prog.debug >half && echo rubbish >rubbish && mkfifo fifo");

	hidden = symbol_address("prog", "hidden");
	after = symbol_address("prog", "main");
	return fine && hidden && after;
}

static void test_debug(void)
{
	struct bringer bringer = { .debug = "prog.debug" };

	is_int(found("stripped", &bringer), 2, "lines from a file that was brought");
	is_int(bringer.asked, 1, "asked for once, though two names were wanted");
	is_int(bringer.asked_executable, 0, "the program itself is here");
	is_str(bringer.build_id, ID, "by its build-id");
	is_str(bringer.path, "stripped", "and its path");
	is_int(brought("other.debug"), 0, "of another build: not believed");
	is_int(brought("half"), 0, "half of it");
	is_int(brought("rubbish"), 0, "rubbish");
	is_int(brought("fifo"), 0, "a FIFO");
	is_int(brought("."), 0, "a directory");
	is_int(brought(NULL), 0, "nothing: asked for once");
	run("strip -g -o symbols prog && objcopy --only-keep-debug symbols symbols.debug");
	is_int(brought("symbols.debug"), 1, "symbols without lines");
	if (geteuid() == 0) {
		run("cp prog.debug theirs && chown 12345 theirs");
		is_int(brought("theirs"), 2,
		       "of another user: who brings it has to know");
	} else {
		skip("not root: cannot give files away");
	}
}

/* What is here is not asked for. */
static void test_not_needed(void)
{
	struct bringer bringer = { .debug = "prog.debug" };
	struct pmp_symbolizer *symbolizer = symbolizer_of((struct pmp_symbolizer_options){
		.no_symbols = true, .fetch = bring, .fetch_arg = &bringer });
	struct space space = space_of("stripped");
	const struct pmp_frame *frames;

	is_int(found("prog", &bringer), 2, "a program with debug information");
	is_int(bringer.asked, 0, "nothing is asked for");
	names_at(&space, symbolizer, hidden, true, &frames);
	pmp_symbolizer_free(symbolizer);
	is_int(bringer.asked, 0, "nor without symbols");
	symbolizer = symbolizer_of((struct pmp_symbolizer_options){
		.no_inline = true, .fetch = bring, .fetch_arg = &bringer });
	space_free(&space);
	space = space_of("symbols");
	names_at(&space, symbolizer, hidden, true, &frames);
	is_int(bringer.asked, 0, "nor where symbols are enough");
	pmp_symbolizer_free(symbolizer);
	space_free(&space);
	is_int(found("symbols", &bringer), 2, "but where lines are wanted");
	is_int(bringer.asked, 1, "then it is asked for");
}

/* The name of a variable, after that of a function or alone; NULL: it has none. */
static const char *object_of(const char *path, struct pmp_symbolizer *symbolizer,
			     bool after_code)
{
	const uint64_t sink = symbol_address("prog", "sink");
	struct space space = space_of(path);
	const struct pmp_region all = { .start = 0x400000,
					.end = 0x500000,
					.module = space.maps->modules[0],
					.prot = PMP_PROT_READ | PMP_PROT_WRITE };
	struct pmp_located_object located;
	struct pmp_object object;
	const struct pmp_frame *frames;

	if (after_code)
		names_at(&space, symbolizer, hidden, true, &frames);
	space.maps->region_count = 0;
	pmp_maps_add_region(space.maps, &all);
	pmp_symbolizer_locate_object(symbolizer, space.maps, sink, &located);
	pmp_symbolizer_object(symbolizer, &located, &object);
	space_free(&space);
	return object.symbol;
}

/* A debug file is closed when all its symbols of code have been read. */
static void test_objects(void)
{
	static const char *const files[] = { "prog.debug", "symbols.debug", NULL };

	for (size_t i = 0; i < 6; i++) {
		const char *debug = files[i / 2];
		struct bringer bringer = { .debug = debug };
		struct pmp_symbolizer *symbolizer = names_of(&bringer);

		is_str(object_of("stripped", symbolizer, i % 2), debug ? "sink" : NULL,
		       "a variable by %s, %s", debug ? debug : "nothing",
		       i % 2 ? "after code" : "of no code");
		if (!debug)
			is_int(bringer.asked, 1, "which is asked for once");
		pmp_symbolizer_free(symbolizer);
	}
}

static void test_without_id(void)
{
	struct bringer bringer = { .debug = "prog.debug" };

	run("${CC:-cc} -g -O1 -Wl,--build-id=none -o none prog.c && strip none");
	found("none", &bringer);
	is_int(bringer.asked, 0, "without a build-id nothing is asked for");
}

/* Of a profile that was saved: the name of `hidden` in a file that is not here. */
static int saved_in(struct pmp_symbolizer *symbolizer, const char *path,
		    const char *build_id)
{
	const struct pmp_mapping mapping = {
		.start = 0x400000, .end = 0x500000, .path = path, .build_id = build_id
	};
	const struct pmp_first_address origin = {
		.pc = hidden,
		.exact = true,
		.mapping = pmp_symbolizer_add_mapping(symbolizer, &mapping),
	};
	const struct pmp_frame *frames;
	pmp_location location = pmp_symbolizer_add_location(symbolizer, &origin, NULL, 0);
	size_t count = pmp_symbolizer_frames(symbolizer, location, &frames);
	int result = quality(&frames[count - 1]);

	pmp_symbolizer_free(symbolizer);
	return result;
}

static int saved(const char *path, const char *build_id, struct bringer *bringer)
{
	return saved_in(names_of(bringer), path, build_id);
}

static void test_saved(void)
{
	static const char *const bad[] = {
		"../../../../etc/passwd", "AA01020304", "aa010203041", "aa", "aa0102%30",
		"aa01/020304x",
	};
	struct bringer bringer = { .debug = "prog.debug", .executable = "stripped" };
	char path[512];

	is_int(saved("/nonexistent/prog", ID, &bringer), 2, "a program that is not here");
	is_int(bringer.asked_executable, 1, "it is asked for");
	is_int(bringer.asked, 1, "and its debug file");
	is_str(bringer.build_id, ID, "by the build-id in the profile");
	bringer = (struct bringer){ .debug = "prog.debug", .executable = "other" };
	is_int(saved("/nonexistent/prog", ID, &bringer), 0, "another program is brought");
	is_int(bringer.asked, 0, "whose debug file is not wanted");
	snprintf(path, sizeof(path), "%s/stripped.other", tmp_dir);
	bringer = (struct bringer){ .debug = "prog.debug", .executable = "stripped" };
	is_int(saved(path, ID, &bringer), 2, "here is another version of it");
	bringer = (struct bringer){ .debug = "prog.debug" };
	is_int(saved(path, ID, &bringer), 0, "and the right one is not to be had");
	is_int(bringer.asked, 0, "for the wrong one nothing is asked for");
	snprintf(path, sizeof(path), "%s/stripped", tmp_dir);
	bringer = (struct bringer){ .debug = "prog.debug", .executable = "stripped" };
	is_int(saved(path, ID, &bringer), 2, "the right one is here");
	is_int(bringer.asked_executable, 0, "and not asked for");
	saved_in(symbolizer_of((struct pmp_symbolizer_options){
			 .no_symbols = true, .fetch = bring, .fetch_arg = &bringer }),
		 "/nonexistent/prog", ID);
	is_int(bringer.asked_executable, 0, "nor any without symbols");
	bringer = (struct bringer){ .debug = "prog.debug", .executable = "stripped" };
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		saved("/nonexistent/prog", bad[i], &bringer);
	is_int(bringer.asked + bringer.asked_executable, 0,
	       "what is no build-id is never asked for");
}

static void test_dwz(void)
{
	struct bringer bringer = { .debug = "common" };

	if (!have("dwz")) {
		skip("no dwz");
		return;
	}
	if (!ok(run("cp prog one && cp other two && dwz -m common.debug one two 2>/dev/null && "
		    "mv common.debug common"),
		"dwz"))
		return;
	is_int(found("one", &bringer), 2,
	       "the file of what two have in common is brought");
	is_int(bringer.asked, 1, "asked for once");
	bringer = (struct bringer){ .debug = "prog.debug" };
	is_int(found("one", &bringer), 1, "another file in its place");
}

int main(void)
{
	if (!have("${CC:-cc}") || !have("objcopy") || !have("strip")) {
		skip("no compiler, objcopy or strip");
		return done_testing();
	}
	enter_tmp();
	write_file("prog.c", hidden_source);
	if (ok(build(), "built")) {
		test_debug();
		test_not_needed();
		test_objects();
		test_without_id();
		test_saved();
		test_dwz();
	}
	leave_tmp();
	return done_testing();
}
