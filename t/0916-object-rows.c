/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * View 7, what a heap holds, without a terminal and without a heap: each census is a list of
 * classes, so that what is shown and what has changed is known to the byte.
 */
#include <regex.h>

#include "lib/fakeview.h"

#define PID 4100
#define TEXT 4096
#define CLASSES_MAX 8

/* Instead of the library's, which has it of a report. */
struct pmp_named_census {
	struct pmp_named_census_info info;
	struct pmp_named_class classes[CLASSES_MAX];
};

static int freed;

void pmp_named_census_free(struct pmp_named_census *named)
{
	freed += named != NULL;
	free(named);
}

void pmp_named_census_info(const struct pmp_named_census *named,
			   struct pmp_named_census_info *info)
{
	*info = named->info;
}

void pmp_named_census_class(const struct pmp_named_census *named, size_t i,
			    struct pmp_named_class *class)
{
	*class = named->classes[i];
}

static void like(const char *text, const char *pattern, const char *what)
{
	regex_t regex;

	if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB | REG_NEWLINE))
		abort();
	if (!ok(regexec(&regex, text, 0, NULL, 0) == 0, "%s", what))
		diag("%s", text);
	regfree(&regex);
}

/* The time of day is that of UTC. */
static struct pmp_named_census *new_census(pid_t pid, uint64_t hour)
{
	struct pmp_named_census *named = calloc(1, sizeof(*named));

	if (!named)
		abort();
	named->info = (struct pmp_named_census_info){
		.pid = pid,
		.process = "server",
		.realtime = hour * 3600 * FAKE_S,
		.duration = 13000000,
		.cpu = 12700000,
		.arenas = 5,
		.heap_size = 16 << 20,
		.free = 1 << 20,
		.kept = 1 << 19,
	};
	return named;
}

static void add(struct pmp_named_census *named, const char *name, uint64_t blocks,
		uint64_t size, uint64_t largest)
{
	struct pmp_named_class *class = &named->classes[named->info.classes++];

	*class = (struct pmp_named_class){
		.name = name,
		.smallest = size,
		.largest = largest,
		.blocks = blocks,
		.bytes = blocks * size,
	};
	named->info.blocks += class->blocks;
	named->info.bytes += class->bytes;
}

static struct pmp_named_census *first_census(void)
{
	struct pmp_named_census *named = new_census(PID, 10);

	add(named, "net::Session", 12000, 488, 488);
	add(named, "std::map<int, std::string>", 20000, 56, 88);
	add(named, "", 9000, 72, 72);
	add(named, "", 3, 1000, 1000);
	add(named, "Gone", 2, 100, 100);
	return named;
}

/* Sessions have grown, one size has shrunk, a class has gone and one has come. */
static struct pmp_named_census *second_census(pid_t pid)
{
	struct pmp_named_census *named = new_census(pid, 11);

	add(named, "net::Session", 12500, 488, 488);
	add(named, "std::map<int, std::string>", 20000, 56, 88);
	add(named, "", 8000, 72, 72);
	add(named, "", 3, 1000, 1000);
	add(named, "New", 1, 24, 24);
	return named;
}

static const char *cell(const struct view *view, size_t i, const char *title)
{
	static char text[TEXT];
	const struct view_type *type = view_type_of(&view->model);
	const struct view_row *row = model_row(&view->model, i);

	for (size_t k = 0; row && k < type->column_count; k++) {
		if (strcmp(type->columns[k].title, title) != 0)
			continue;
		type->columns[k].text(&view->model, row, text, sizeof(text));
		return text;
	}
	return "(none)";
}

/* A row by its class and size: bytes, blocks and how they have changed. */
static const char *figures(const struct view *view, const char *class, const char *size)
{
	static const char *const titles[] = { "BYTES", "+BYTES", "BLOCKS", "+BLOCKS" };
	static char text[TEXT];

	for (size_t i = 0; i < view->model.list.order_count; i++) {
		if (strcmp(cell(view, i, "CLASS"), class) != 0 ||
		    strcmp(cell(view, i, "SIZE"), size) != 0)
			continue;
		text[0] = '\0';
		for (size_t k = 0; k < 4; k++)
			text_append(text, sizeof(text), "%s%s", k ? " " : "",
				    cell(view, i, titles[k]));
		return text;
	}
	return "no such row";
}

static void set(struct view *view, struct pmp_named_census *named)
{
	model_set_census(&view->model, named);
	view->model.census.pid = PID;
	view_refresh(view);
}

/* ---- asked for ------------------------------------------------------------------------- */

static void test_asked(void)
{
	struct pmp_profile *profile = fake_run(2);
	struct view view;

	fake_view(&view, profile);
	fake_type(&view, "7");
	is_int(fake_asked.heaps, 0, "the view alone reads nothing");
	like(fake_screen(&view, 24, 80), "^  O reads what the heap holds now",
	     "it says how to");
	fake_type(&view, "4GO");
	is_int(fake_asked.heaps, 1, "O reads");
	is_int(fake_asked.heap_of, PID + 1000, "the heap of the chosen thread's process");
	is_str(view_type_of(&view.model)->name, "Objects", "and shows that view");
	view.model.census.pid = PID + 1000;
	view.model.census.reading = 1;
	like(fake_screen(&view, 24, 80), "^  The heap of 5100 is being read",
	     "as it is read");
	fake_type(&view, "O");
	is_int(fake_asked.heaps, 1, "O does not read it twice");
	view.model.census.reading = 0;
	fake_type(&view, "O");
	is_int(fake_asked.heaps, 2, "but again");
	is_int(fake_asked.heap_of, PID + 1000, "of the same process");
	view.ended = true;
	fake_type(&view, "O");
	is_int(fake_asked.heaps, 2, "not of one that has ended");
	like(view.message, "No process is left", "which is said");
	view_free(&view);
	pmp_profile_free(profile);
}

static void test_refused(void)
{
	struct pmp_profile *profile = fake_run(1);
	struct view view;

	fake_view(&view, profile);
	snprintf(
		view.model.census.refusal, sizeof(view.model.census.refusal), "%s",
		"cannot read the heap of 4100 (server): it is of jemalloc "
		"(libjemalloc.so.2), not of glibc's malloc\nhint: of its memory is known: "
		"1.5 MiB resident; 12.0 MiB in 4 anonymous mappings, of which a part is in "
		"use\n");
	fake_type(&view, "7");
	like(fake_screen(&view, 10, 80),
	     "^  cannot read the heap of 4100 \\(server\\): it is of "
	     "jemalloc \\(libjemalloc.so.2\\),$",
	     "a reason that is longer than a line is broken at a blank");
	like(fake_screen(&view, 10, 80), "^  not of glibc's malloc$",
	     "and goes on in the next one");
	like(fake_screen(&view, 10, 80), "^  hint: of its memory is known: 1.5 MiB",
	     "with a hint");
	like(fake_screen(&view, 10, 40), "^  it is of jemalloc \\(libjemalloc.so.2\\),$",
	     "on a narrow screen as well");
	view_free(&view);
	pmp_profile_free(profile);
}

/* ---- rows --------------------------------------------------------------------------------- */

static void test_first(struct view *view)
{
	set(view, first_census());
	is_int((long long)view->model.list.order_count, 5, "a class or a size is a row");
	is_str(cell(view, 0, "CLASS"), "net::Session", "that with most bytes first");
	is_str(figures(view, "net::Session", "488"), "5.58MB - 12000 -", "its figures");
	is_str(figures(view, "std::map<\xe2\x80\xa6>", "56-88"), "1.07MB - 20000 -",
	       "a class with several sizes");
	is_str(figures(view, "(no class)", "1000"), "2.93kB - 3 -",
	       "without a class a size");
	like(fake_screen(view, 24, 80),
	     "^Heap of 4100: 7.27MB live in 41005 blocks  1.50MB "
	     "free, 16.0MB in all",
	     "the header has the sums");
	like(fake_screen(view, 24, 80),
	     "^Read at 10:00:00 in 13 ms, 12.7 ms of CPU  Not read "
	     "0.0%$",
	     "when it was read, and what that has cost");
	like(fake_screen(view, 24, 80),
	     "^12000 blocks of 488 bytes: 5856000 bytes, 76.8% of what is shown$",
	     "below the list are the exact figures");
	like(fake_screen(view, 10, 40), "^ +BYTES +BLOCKS CLASS$",
	     "a small screen has fewer columns");
	like(fake_screen(view, 10, 40), "^ +5.58MB +12000 net::Session$", "and the rows");
	fake_type(view, "c");
	is_str(cell(view, 1, "CLASS"), "std::map<int, std::string>", "c: full names");
	fake_type(view, "c>>");
	is_str(cell(view, 0, "BLOCKS"), "20000", "sorted by blocks");
	fake_type(view, ">>>");
	is_str(cell(view, 0, "CLASS"), "(no class)", "by class");
	fake_type(view, "/Session\r");
	is_str(cell(view, view->at, "CLASS"), "net::Session", "searched");
	fake_type(view, "\\no class\r");
	is_int((long long)view->model.list.order_count, 2,
	       "a filter leaves what matches");
	view_key(view, PMP_KEY_ESCAPE);
	is_int((long long)view->model.list.order_count, 5, "until it is cleared");
	fake_type(view, ">g");
}

static void test_second(struct view *view)
{
	freed = 0;
	set(view, second_census(PID));
	is_int(freed, 0, "the census before is kept");
	is_int((long long)view->model.list.order_count, 6, "what has gone has a row");
	is_str(figures(view, "net::Session", "488"), "5.82MB +238kB 12500 +500",
	       "what has grown");
	is_str(figures(view, "(no class)", "72"), "562kB -70.3kB 8000 -1000",
	       "become less");
	is_str(figures(view, "std::map<\xe2\x80\xa6>", "56-88"), "1.07MB 0 20000 0",
	       "stayed");
	is_str(figures(view, "Gone", "100"), "0 -200B 0 -2", "gone");
	is_str(figures(view, "New", "24"), "24B +24B 1 +1", "or come");
	like(fake_screen(view, 24, 80), "Not read 0.0%  \\+ since 10:00:00$",
	     "the header has since when");
	like(fake_screen(view, 24, 80),
	     "^at 10:00:00 12000 blocks: now \\+500, and \\+244000 "
	     "bytes$",
	     "and the row its change");
	fake_type(view, ">");
	is_str(cell(view, 0, "CLASS"), "net::Session", "sorted by growth");
	is_str(cell(view, 5, "SIZE"), "72", "what has become less comes last");
	fake_type(view, "<");
	set(view, second_census(PID));
	is_int(freed, 1, "the third: the first is not kept any more");
	is_str(figures(view, "net::Session", "488"), "5.82MB 0 12500 0", "no change");
	like(fake_screen(view, 24, 80), "^the same at 11:00:00$", "which the row says");
	set(view, second_census(PID + 1));
	is_str(figures(view, "net::Session", "488"), "5.82MB - 12500 -",
	       "of another process nothing has changed");
}

static void test_missing(struct view *view)
{
	struct pmp_named_census *named = first_census();

	named->info.swapped = 1 << 20;
	named->info.unread = 1 << 20;
	named->info.newer_glibc = 99;
	set(view, named);
	view->model.census.reading = 1;
	like(fake_screen(view, 24, 132),
	     "reading 4100 for [0-9.]+ s   Not read 12.5%   glibc 2.99 is not known",
	     "what could not be read, and that it is read again");
	view->model.census.reading = 0;
}

static void test_rows(void)
{
	struct pmp_profile *profile = fake_run(1);
	struct view view;

	setenv("TZ", "UTC", 1);
	fake_view(&view, profile);
	fake_type(&view, "7");
	test_first(&view);
	test_second(&view);
	test_missing(&view);
	view_free(&view);
	pmp_profile_free(profile);
}

static void test_file(void)
{
	struct pmp_profile *profile = fake_saved();
	struct view view;

	fake_view_saved(&view, profile);
	fake_type(&view, "7");
	like(fake_screen(&view, 24, 80), "^  This is a file: there is no heap to read",
	     "a file");
	fake_type(&view, "O");
	is_int(fake_asked.heaps, 0, "has none");
	view_free(&view);
	pmp_profile_free(profile);
}

int main(void)
{
	test_asked();
	test_refused();
	test_rows();
	test_file();
	return done_testing();
}
