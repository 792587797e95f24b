/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The live view's screens, letter by letter, after keys and on screens of all sizes;
 * colours; the mouse. The profile is made by hand.
 */
#include "lib/fakeview.h"

#define LINE_SIZE 8192

#define SAVED 0
#define DEADLOCK (-1) /* a process with one */

struct screen {
	const char *name;
	int rows, columns, processes; /* or SAVED */
	const char *keys;
};

static const struct screen screens[] = {
	{ "stacks", 24, 80, 1, "" },
	{ "stacks-wide", 30, 132, 1, "xt" },
	{ "stacks-narrow", 10, 40, 1, "jj" },
	{ "stacks-average", 16, 70, 1, "%H" },
	{ "stacks-full-names", 24, 100, 1, "cjj" },
	{ "stacks-filtered", 18, 80, 1, "\\handle\roconn\ri" },
	{ "stacks-nothing", 18, 80, 1, "\\nowhere\r" },
	{ "stacks-of-two", 24, 100, 2, "" },
	{ "functions", 24, 80, 1, "2" },
	{ "functions-by-total", 24, 80, 1, "2>" },
	{ "tree", 24, 80, 1, "3" },
	{ "tree-inverted", 24, 80, 1, "3v" },
	{ "tree-of-two", 30, 80, 2, "3" },
	{ "threads", 24, 80, 1, "4" },
	{ "threads-wide", 24, 132, 1, "4x" },
	{ "whole-stack", 24, 80, 1, "jj\r" },
	{ "help", 24, 80, 1, "?" },
	{ "help-end", 24, 80, 1, "?G" },
	{ "prompt", 24, 80, 1, "wprofile.fold" },
	{ "prompt-wrong", 24, 80, 1, "\\a(\r" },
	{ "locks", 24, 80, 1, "5" },
	{ "locks-wide", 30, 132, 2, "5" },
	{ "locks-narrow", 10, 40, 1, "5" },
	{ "locks-whole", 24, 80, 1, "5\r" },
	{ "locks-filtered", 24, 80, 1, "5oflush\r" },
	{ "deadlock", 24, 80, DEADLOCK, "" },
	{ "deadlock-locks", 24, 80, DEADLOCK, "dI" },
	{ "deadlock-narrow", 8, 40, DEADLOCK, "5" },
	{ "heap-none", 24, 80, 1, "6" },
	{ "saved-no-heap", 10, 40, SAVED, "6" },
	{ "stacks-wait", 24, 100, 1, "xj" },
	{ "small", 7, 50, 1, "" },
	{ "saved", 24, 80, SAVED, "" },
	{ "saved-functions", 24, 120, SAVED, "2" },
	{ "saved-tree", 24, 80, SAVED, "3" },
	{ "saved-threads", 24, 120, SAVED, "4x" },
	{ "saved-locks", 24, 80, SAVED, "5" },
	{ "saved-narrow", 10, 40, SAVED, "jj" },
	{ "saved-no-pause", 24, 80, SAVED, "p" },
	{ "saved-no-windows", 24, 80, SAVED, "y" },
};

/* The end of what a user would see: all rows, a line each. */
static char *text_of(const struct canvas *canvas)
{
	size_t size = (size_t)canvas->rows * LINE_SIZE + 1, length = 0;
	char *text = calloc(1, size), line[LINE_SIZE];

	if (!text)
		abort();
	for (int i = 0; i < canvas->rows; i++)
		length += (size_t)snprintf(text + length, size - length, "%s\n",
					   canvas_line(canvas, i, line, sizeof(line)));
	return text;
}

static char *read_golden(const char *path)
{
	char *text = calloc(1, 1 << 20);
	FILE *file = fopen(path, "r");
	size_t length = 0;

	if (!text)
		abort();
	if (file) {
		length = fread(text, 1, (1 << 20) - 1, file);
		fclose(file);
	}
	text[length] = '\0';
	return text;
}

static void write_golden(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	if (!file || fputs(text, file) < 0 || fclose(file) != 0)
		diag("cannot write %s", path);
}

static void show_difference(const char *got, const char *want)
{
	int line = 1;

	while (*got && *want) {
		size_t a = strcspn(got, "\n"), b = strcspn(want, "\n");

		if (a != b || memcmp(got, want, a) != 0) {
			diag("line %d: got  \"%.*s\"", line, (int)a, got);
			diag("line %d: want \"%.*s\"", line, (int)b, want);
		}
		got += a + 1;
		want += b + 1;
		line++;
	}
}

static struct pmp_profile *profile_of(const struct screen *screen)
{
	struct pmp_profile *profile;

	if (screen->processes == SAVED)
		return fake_saved();
	fake_deadlock = screen->processes == DEADLOCK;
	profile = fake_run(fake_deadlock ? 1 : screen->processes);
	fake_deadlock = false;
	return profile;
}

static void test_screen(const struct screen *screen)
{
	const char *source = getenv("top_srcdir"), *update = getenv("PMP_UPDATE");
	struct pmp_profile *profile = profile_of(screen);
	struct canvas canvas = { 0 };
	struct view view;
	char path[4096], *got, *want;

	if (screen->processes)
		fake_view(&view, profile);
	else
		fake_view_saved(&view, profile);
	canvas_resize(&canvas, screen->rows, screen->columns);
	view_draw(&view, &canvas);
	fake_type(&view, screen->keys);
	view_draw(&view, &canvas);
	got = text_of(&canvas);
	snprintf(path, sizeof(path), "%s/t/data/golden/view-%s.txt",
		 source ? source : ".", screen->name);
	if (update && *update == '1')
		write_golden(path, got);
	want = read_golden(path);
#ifdef FAKE_OTHER_NAMES
	if (strcmp(got, want) != 0)
		skip("system calls have other names on this processor");
	else
#endif
		if (!ok(strcmp(got, want) == 0, "%s, %d rows, %d columns, keys \"%s\"",
			screen->name, screen->rows, screen->columns, screen->keys))
		show_difference(got, want);
	free(got);
	free(want);
	canvas_free(&canvas);
	view_free(&view);
	pmp_profile_free(profile);
}

static unsigned style_at(const struct canvas *canvas, int row, int column)
{
	return canvas->cells[row * canvas->columns + column].style;
}

static void test_styles_and_mouse(void)
{
	struct pmp_profile *profile = fake_run(1);
	struct canvas canvas = { 0 };
	struct view view;
	const struct layout *layout = &view.layout;

	fake_view(&view, profile);
	canvas_resize(&canvas, 24, 80);
	view_draw(&view, &canvas);
	is_int(style_at(&canvas, layout->list_row, 40), STYLE_REVERSE,
	       "the chosen row is reverse");
	is_int(style_at(&canvas, layout->list_row + 1, 17), STYLE_YELLOW,
	       "who waits for a lock is yellow");
	is_int(style_at(&canvas, layout->list_row + 2, 17), STYLE_GREEN,
	       "who runs is green");
	is_int(style_at(&canvas, layout->list_row + 5, 17), STYLE_RED,
	       "who waits for a disk is red");
	view_mouse(&view, layout->list_row + 2, 30, 0);
	is_int(view.at, 2, "a click chooses a row");
	view_mouse(&view, layout->list_row + 2, 30, 0);
	is_int(view.screen, SCREEN_STACK, "a second one shows its stack");
	fake_type(&view, "q");
	view_mouse(&view, layout->list_row, 30, 1);
	is_int(view.at, 5, "the wheel goes on by three");
	view_mouse(&view, layout->list_row, 30, -1);
	is_int(view.at, 2, "and back");
	view_mouse(&view, layout->columns_row, 17, 0);
	is_int(model_row(&view.model, 0)->state, 'R', "a click on a column sorts by it");
	view_mouse(&view, layout->columns_row, 3, 0);
	is_int(model_row(&view.model, 0)->state, 'S', "and on another by that");
	view_mouse(&view, layout->tabs_row, 35, 0);
	is_int(view.model.settings.view, FAKE_VIEW("threads"),
	       "a click on a view shows it");
	view_free(&view);
	canvas_free(&canvas);
	pmp_profile_free(profile);
}

/* Nothing jumps: drawn again without new samples, the screen is the same. */
static void test_stable(void)
{
	struct pmp_profile *profile = fake_run(1);
	struct canvas canvas = { 0 };
	struct view view;

	fake_view(&view, profile);
	canvas_resize(&canvas, 24, 80);
	for (int kind = 0; kind < 4; kind++) {
		char *first, *second;

		view_key(&view, '1' + kind);
		view_draw(&view, &canvas);
		first = text_of(&canvas);
		view_refresh(&view);
		view_draw(&view, &canvas);
		second = text_of(&canvas);
		is_str(second, first, "view %d is the same when it is drawn again",
		       kind + 1);
		free(first);
		free(second);
	}
	view_free(&view);
	canvas_free(&canvas);
	pmp_profile_free(profile);
}

static void test_canvas(void)
{
	struct canvas canvas = { 0 };
	char line[64];

	canvas_resize(&canvas, 2, 6);
	is_int(canvas_text(&canvas, 0, 0, -1, 0, "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e!"),
	       6, "wide characters take two columns");
	is_int(canvas_text(&canvas, 1, 0, 5, 0, "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e"),
	       4, "none is cut in half");
	is_str(canvas_line(&canvas, 1, line, sizeof(line)), "\xe6\x97\xa5\xe6\x9c\xac",
	       "as the text says");
	is_int(canvas_text(&canvas, 5, 0, -1, 0, "x"), 0, "nothing is drawn outside");
	canvas_text(&canvas, 0, 0, -1, 0, "\xff\xc3\x01\xe2\x82");
	is_str(canvas_line(&canvas, 0, line, sizeof(line)),
	       "????"
	       "?",
	       "what is no character is a question mark");
	canvas_free(&canvas);
}

int main(void)
{
	/* Saved profiles tell when they were taken. */
	setenv("TZ", "UTC", 1);
	for (size_t i = 0; i < sizeof(screens) / sizeof(*screens); i++)
		test_screen(&screens[i]);
	test_styles_and_mouse();
	test_stable();
	test_canvas();
	return done_testing();
}
