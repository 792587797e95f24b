/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Refreshes twice a second, and handles keys at once: rows that take long are made in
 * steps, with keys and samples handled in between. On a terminal that cannot be drawn on,
 * the same screens are printed as text, one after the other, and there are no keys
 * but ^C.
 */
#include "view/session.h"

#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "run/clock.h"
#include "run/counting.h"
#include "say/message.h"
#include "sink/sink.h"
#include "source/source.h"
#include "view/read-heap.h"
#include "view/session-state.h"
#include "view/settings-file.h"

#define REFRESH UINT64_C(500000000)	  /* ns between two screens */
#define REFRESH_SOON UINT64_C(100000000)  /* after names have been looked up */
#define REFRESH_TEXT UINT64_C(2000000000) /* between text screens */
#define LOOK UINT64_C(5000000000)	  /* between looks for other processes */
#define REFRESH_SHARE 5 /* making rows takes at most one part in this many of the time */
#define SLICE_MIN UINT64_C(3000000) /* ns */
#define TEXT_ROWS 24
#define TEXT_COLUMNS 80

/* ---- life -------------------------------------------------------------------- */

struct session *session_new(struct sink *sink)
{
	struct session *session = calloc(1, sizeof(*session));

	if (!session)
		return NULL;
	session->sink = sink;
	session->tty = -1;
	session->naming = naming_new(sink->worker);
	if (!session->naming) {
		free(session);
		return NULL;
	}
	return session;
}

/* Command-line options override saved settings. */
static void take_options(struct session *session)
{
	const struct options *options = session->sink->options;
	struct settings *settings = &session->view.model.settings;

	model_set_filter(&session->view.model, options->filter);
	if (options->idle != PMP_IDLE_SHOWN)
		settings->idle = options->idle;
	settings->ungrouped |= options->by_thread;
	settings->split |= options->by_thread || options->by_group;
	if (options->heap.on)
		settings->view = (unsigned)view_type_find("heap");
}

void session_start(struct session *session)
{
	if (!session)
		return;
	setlocale(LC_CTYPE, "");
	view_init(&session->view, session->sink->counting->profile,
		  session->sink->counting->symbolizer, &view_actions, session);
	session->view.interval = session->sink->options->interval;
	session->view.title = session->title;
	session->ready = true;
	settings_load(&session->view);
	settings_sort(&session->view.model.settings,
		      (enum pmp_sort)session->sink->options->sort);
	take_options(session);
	naming_start(session->naming, session->sink->counting->symbolizer);
}

void session_free(struct session *session)
{
	if (!session)
		return;
	session_close(session);
	naming_free(session->naming);
	read_heap_free(session);
	if (session->ready)
		view_free(&session->view);
	canvas_free(&session->canvas);
	free(session);
}

/* ---- messages ---------------------------------------------------------------- */

/* The answer to a key stays until the next key. */
static void show_waiting(struct session *session)
{
	if (!*session->waiting || *session->view.message)
		return;
	view_say(&session->view, "%s", session->waiting);
	session->waiting[0] = '\0';
	session->dirty = true;
}

/* Messages must not be written across the screen: show them in it, print them later. */
static void take_message(void *arg, const char *text, const char *line)
{
	struct session *session = arg;
	size_t length = strlen(session->said);

	snprintf(session->waiting, sizeof(session->waiting), "%s", text);
	show_waiting(session);
	snprintf(session->said + length, sizeof(session->said) - length, "%s", line);
}

/* ---- the screen -------------------------------------------------------------- */

static int input_of(struct session *session)
{
	if (isatty(STDIN_FILENO))
		return STDIN_FILENO;
	if (session->tty < 0)
		session->tty = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	return session->tty;
}

static void take_over(struct session *session)
{
	struct sink *sink = session->sink;
	int input = input_of(session);

	session->shown = true;
	if (input >= 0 && sink->calls->await_terminal(sink->run))
		session->screen =
			screen_open(input, STDOUT_FILENO,
				    options_color(sink->options, STDOUT_FILENO));
	session->text = !session->screen;
	if (session->screen) {
		session->view.slice = VIEW_SLICE;
		message_divert(take_message, session);
	}
	session->dirty = true;
}

static void describe_source(struct session *session)
{
	const struct source *source = session->sink->source;

	source->type->describe(source, session->title, sizeof(session->title));
}

void session_show(struct session *session)
{
	if (!session)
		return;
	describe_source(session);
	if (!session->shown)
		take_over(session);
}

bool session_show_saved(struct session *session)
{
	const struct targets *targets = &session->sink->source->targets;
	struct view *view = &session->view;

	describe_source(session);
	view->model.file = true;
	view->model.saved = !targets->cores;
	view->crash = targets->cores ? targets->crash : NULL;
	view->metadata.size = sizeof(view->metadata);
	pmp_profile_describe(session->sink->counting->profile, &view->metadata);
	if (view->metadata.unit)
		view->model.unit = view->metadata.unit;
	view->model.guessed = view->metadata.guessed;
	take_over(session);
	return session->screen;
}

void session_close(struct session *session)
{
	if (!session || !session->shown)
		return;
	message_divert(NULL, NULL);
	screen_close(session->screen);
	session->screen = NULL;
	session->shown = false;
	if (session->tty >= 0)
		close(session->tty);
	session->tty = -1;
	message_lines(session->said);
	session->said[0] = '\0';
}

static void ask_for_names(struct session *session)
{
	struct model *model = &session->view.model;

	if (model->wanted_count &&
	    naming_ask(session->naming, model->wanted, model->wanted_count))
		model->wanted_count = 0;
}

/* The rows are complete. */
static void end_refresh(struct session *session)
{
	uint64_t now = now_ns(), took = now - session->last_refresh;
	uint64_t pause = session->text ? REFRESH_TEXT : REFRESH;

	ask_for_names(session);
	if (took * (REFRESH_SHARE - 1) > pause)
		pause = took * (REFRESH_SHARE - 1);
	/* Only names can change for a file. */
	session->next_refresh = session->view.model.file ? UINT64_MAX : now + pause;
	session->refreshing = false;
	session->dirty = true;
}

/* While the view of locks is shown. For threads that do not run, the result is kept. */
static void look_for_peers(struct session *session, uint64_t now)
{
	const struct view *view = &session->view;
	struct source *source = session->sink->source;

	if (view_type_of(&view->model)->row != ROW_LOCK || view->paused || view->ended ||
	    view->model.file || now < session->next_look)
		return;
	session->next_look = now + LOOK;
	source->type->look_for_peers(source);
}

static void refresh(struct session *session)
{
	session->last_refresh = now_ns();
	session->refreshing = true;
	look_for_peers(session, session->last_refresh);
	view_refresh(&session->view);
	if (!model_is_busy(&session->view.model))
		end_refresh(session);
}

/* Continue with rows or a search that could not be finished at once. */
static void go_on(struct session *session)
{
	if (!view_is_busy(&session->view))
		return;
	view_go_on(&session->view);
	if (view_is_busy(&session->view))
		return;
	session->dirty = true;
	if (session->refreshing)
		end_refresh(session);
}

static void draw(struct session *session)
{
	int rows, columns;

	session->dirty = false;
	screen_size(session->screen, &rows, &columns);
	if (session->mouse == session->view.model.settings.no_mouse) {
		session->mouse = !session->mouse;
		screen_mouse(session->screen, session->mouse);
	}
	if (!canvas_resize(&session->canvas, rows, columns))
		return;
	view_draw(&session->view, &session->canvas);
	screen_draw(session->screen, &session->canvas, session->view.redraw);
	session->view.redraw = false;
}

/* LINES or COLUMNS from the environment, if usable. */
static int number_or(const char *text, int otherwise)
{
	long value = text ? strtol(text, NULL, 10) : 0;

	return value > 0 && value < 1000 ? (int)value : otherwise;
}

/* Print the screen as text, without the line of keys. */
static void print_text(struct session *session)
{
	struct winsize size = { 0 };
	int rows, columns;
	char line[ROW_TEXT];

	session->dirty = false;
	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	rows = number_or(getenv("LINES"), size.ws_row ? size.ws_row : TEXT_ROWS);
	columns = number_or(getenv("COLUMNS"), size.ws_col ? size.ws_col : TEXT_COLUMNS);
	if (!canvas_resize(&session->canvas, rows, columns))
		return;
	view_draw(&session->view, &session->canvas);
	for (int i = 0; i + 1 < session->canvas.rows; i++)
		puts(canvas_line(&session->canvas, i, line, sizeof(line)));
	puts("");
	fflush(stdout);
}

/* ---- one turn of the loop ------------------------------------------------------ */

int session_input(const struct session *session)
{
	return session && session->screen ? screen_input(session->screen) : -1;
}

int session_wake(const struct session *session)
{
	return session ? naming_wake(session->naming) : -1;
}

int session_timeout(const struct session *session, int most)
{
	uint64_t now, left;

	if (!session || !session->shown)
		return most;
	if (view_is_busy(&session->view))
		return 0;
	now = now_ns();
	left = session->next_refresh > now ? session->next_refresh - now : 0;
	left = (left + 999999) / 1000000;
	return left < (uint64_t)most ? (int)left : most;
}

/* Keys that arrive together share one time slice, but each gets a minimum. */
static void take_keys(struct session *session)
{
	uint64_t start = now_ns();
	struct screen_event event;

	while (screen_next(session->screen, &event)) {
		uint64_t took = now_ns() - start;

		session->view.slice =
			took < VIEW_SLICE - SLICE_MIN ? VIEW_SLICE - took : SLICE_MIN;
		if (event.key)
			view_key(&session->view, event.key);
		else
			view_mouse(&session->view, event.row, event.column, event.wheel);
		session->dirty = true;
	}
	session->view.slice = VIEW_SLICE;
	show_waiting(session);
}

void session_tend(struct session *session)
{
	uint64_t now = now_ns(), soon;
	int rows, columns;

	if (!session || !session->shown)
		return;
	soon = session->last_refresh + REFRESH_SOON;
	if (session->screen)
		take_keys(session);
	go_on(session);
	if (naming_has_named(session->naming) && session->next_refresh > soon &&
	    !session->text)
		session->next_refresh = soon;
	if (read_heap_take(session))
		session->next_refresh = 0;
	if (now >= session->next_refresh && !model_is_busy(&session->view.model))
		refresh(session);
	ask_for_names(session);
	if (session->screen && screen_size(session->screen, &rows, &columns))
		session->dirty = true;
	if (session->dirty && session->screen)
		draw(session);
	else if (session->dirty && targets_counted(&session->sink->source->targets))
		print_text(session);
}

void session_sampled(struct session *session)
{
	if (session && session->view.model.list.row_count == 0)
		session->next_refresh = 0;
}

void session_end(struct session *session)
{
	if (!session || session->view.ended || session->view.model.file)
		return;
	session->view.ended = true;
	session->view.targets_live = targets_living(&session->sink->source->targets) > 0;
	session->next_refresh = 0;
	if (!*session->view.message)
		view_say(&session->view, "No more snapshots come: q quits");
}

bool session_stays(const struct session *session)
{
	return session && session->screen;
}

void session_suspend(struct session *session)
{
	if (session && session->screen)
		screen_suspend(session->screen);
}

void session_resume(struct session *session)
{
	if (!session || !session->screen)
		return;
	screen_resume(session->screen);
	session->mouse = false;
	session->view.redraw = true;
	session->dirty = true;
}
