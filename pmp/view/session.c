/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Refreshes twice a second, keys at once: rows that take long are made in turns, between
 * which keys and samples are taken. On a terminal that cannot be drawn on the
 * same screens come as text, one after the other, and there are no keys but ^C.
 */
#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../clock.h"
#include "../front.h"
#include "../message.h"
#include "namer.h"
#include "screen.h"
#include "view.h"

#define REFRESH UINT64_C(500000000)	   /* ns between two screens */
#define REFRESH_SOON UINT64_C(100000000)   /* when names have come */
#define REFRESH_TEXT UINT64_C(2000000000)  /* of text screens */
#define REFRESH_SHARE 5 /* one part of so many of the time is for making rows, at most */
#define SLICE_MIN UINT64_C(3000000) /* ns */
#define TEXT_ROWS 24
#define TEXT_COLUMNS 80
#define SAID_SIZE 8192
#define SETTINGS_SIZE 4096

struct pmp_session {
	struct pmp_app *app;
	const struct pmp_session_host *host;
	struct pmp_namer *namer;
	struct pmp_screen *screen; /* NULL: not yet, or text */
	struct pmp_canvas canvas;
	struct pmp_view view;
	bool ready, shown, text, mouse, dirty;
	bool refreshing; /* rows are being made, because it was time for it */
	int tty; /* opened for keys, or -1 */
	uint64_t next_refresh, last_refresh;
	char title[256];
	char said[SAID_SIZE]; /* messages, to be printed at the end */
	char waiting[256]; /* one that has not been on the screen, as another one was */
};

/* ---- what a view asks its host for ------------------------------------------- */

static void host_pause(void *arg, bool paused)
{
	struct pmp_session *session = arg;

	session->host->pause(session->app, paused);
}

static void host_interval(void *arg, uint64_t interval)
{
	struct pmp_session *session = arg;

	session->host->set_interval(session->app, interval);
	pmp_view_say(&session->view, "%.3g snapshots a second", 1e9 / (double)interval);
}

static void host_refresh(void *arg)
{
	struct pmp_session *session = arg;

	session->host->sample_now(session->app);
}

static void host_reset(void *arg)
{
	struct pmp_session *session = arg;
	struct pmp_error err = { 0 };

	pmp_view_set_profile(&session->view, NULL);
	if (session->host->reset(session->app, &err) < 0)
		pmp_view_say(&session->view, "%s", err.message);
	else
		pmp_view_say(&session->view, "Counting from the beginning");
	pmp_view_set_profile(&session->view, session->app->profile);
}

static void host_write(void *arg, const char *path)
{
	struct pmp_session *session = arg;
	struct pmp_error err = { 0 };
	char text[200];
	int code;

	/* A writer names what it writes. */
	pmp_namer_rest(session->namer);
	code = session->host->write(session->app, path, &err);
	pmp_namer_go_on(session->namer);
	if (code < 0)
		pmp_view_say(&session->view, "%s%s%s", err.message, *err.hint ? ": " : "",
			     err.hint);
	else
		pmp_view_say(&session->view, "Written: %s",
			     pmp_escape(path, text, sizeof(text)));
}

static void host_quit(void *arg)
{
	struct pmp_session *session = arg;

	session->host->quit(session->app);
}

/* ---- settings ---------------------------------------------------------------- */

/* $XDG_CONFIG_HOME/pmp/view; false: there is no place for it. */
static bool settings_path(char *path, size_t size)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	int n;

	if (config && *config == '/')
		n = snprintf(path, size, "%s/pmp/view", config);
	else if (home && *home == '/')
		n = snprintf(path, size, "%s/.config/pmp/view", home);
	else
		return false;
	return n > 0 && (size_t)n < size;
}

static void make_directories(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
}

static void host_save(void *arg)
{
	struct pmp_session *session = arg;
	char path[1024], text[SETTINGS_SIZE];
	size_t length = pmp_settings_print(&session->view.model.settings, text, sizeof(text));
	struct pmp_error err = { 0 };

	if (!settings_path(path, sizeof(path))) {
		pmp_view_say(&session->view, "Neither XDG_CONFIG_HOME nor HOME is set");
		return;
	}
	make_directories(path);
	if (session->host->save(session->app, path, text, length, &err) == 0)
		pmp_view_say(&session->view, "Saved: %s", path);
	else
		pmp_view_say(&session->view, "Cannot write %s: %s", path,
			     err.sys_errno ? strerror(err.sys_errno) : err.message);
}

static void load_settings(struct pmp_session *session)
{
	char path[1024], line[256];
	FILE *file = NULL;

	if (settings_path(path, sizeof(path)))
		file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		if (!pmp_settings_take(&session->view.model.settings, line))
			pmp_view_say(&session->view, "Not understood in %s: %.60s", path,
				     line);
	}
	if (file)
		fclose(file);
}

static const struct pmp_view_host view_host = {
	.pause = host_pause,
	.set_interval = host_interval,
	.refresh = host_refresh,
	.reset = host_reset,
	.write = host_write,
	.save = host_save,
	.quit = host_quit,
};

/* ---- life -------------------------------------------------------------------- */

struct pmp_session *pmp_session_new(struct pmp_app *app, const struct pmp_session_host *host)
{
	struct pmp_session *session = calloc(1, sizeof(*session));

	if (!session)
		return NULL;
	session->app = app;
	session->host = host;
	session->tty = -1;
	session->namer = pmp_namer_new();
	if (!session->namer) {
		free(session);
		return NULL;
	}
	return session;
}

void pmp_session_symbolizer(struct pmp_session *session,
			    struct pmp_symbolizer_options *options)
{
	if (!session)
		return;
	options->lines = true;
	pmp_namer_options(session->namer, options);
}

/* What the command line says wins over what was saved. */
static void take_options(struct pmp_session *session)
{
	const struct pmp_options *options = &session->app->options;
	struct pmp_settings *settings = &session->view.model.settings;

	pmp_model_set_filter(&session->view.model, options->filter);
	if (options->idle != PMP_IDLE_SHOWN)
		settings->idle = options->idle;
	settings->ungrouped |= options->by_thread;
	settings->split |= options->by_thread || options->by_group;
}

void pmp_session_start(struct pmp_session *session)
{
	if (!session)
		return;
	setlocale(LC_CTYPE, "");
	pmp_view_init(&session->view, session->app->profile, session->app->symbolizer,
		      &view_host, session);
	session->view.interval = session->app->options.interval;
	session->view.title = session->title;
	session->ready = true;
	load_settings(session);
	pmp_settings_sort(&session->view.model.settings,
			  (enum pmp_sort)session->app->options.sort);
	take_options(session);
	pmp_namer_start(session->namer, session->app->symbolizer);
}

void pmp_session_free(struct pmp_session *session)
{
	if (!session)
		return;
	pmp_session_close(session);
	pmp_namer_free(session->namer);
	if (session->ready)
		pmp_view_free(&session->view);
	pmp_canvas_free(&session->canvas);
	free(session);
}

/* "db.pb.gz", "3 files: a.pb.gz, ..." */
static void set_title_saved(struct pmp_session *session)
{
	const struct pmp_options *options = &session->app->options;
	size_t length = 0;
	char name[256];

	if (options->file_count > 1)
		length = (size_t)snprintf(session->title, sizeof(session->title),
					  "%zu files: ", options->file_count);
	for (size_t i = 0; i < options->file_count && length < sizeof(session->title); i++) {
		const char *path = options->files[i], *slash = strrchr(path, '/');

		pmp_escape(slash && slash[1] ? slash + 1 : path, name, sizeof(name));
		length += (size_t)snprintf(session->title + length,
					   sizeof(session->title) - length, "%s%s",
					   i ? ", " : "", name);
	}
}

static void set_title(struct pmp_session *session)
{
	const struct pmp_app *app = session->app;
	size_t length = 0;
	char name[128];

	if (app->process_count > 1)
		length = (size_t)snprintf(session->title, sizeof(session->title),
					  "%zu processes: ", app->process_count);
	for (size_t i = 0; i < app->process_count && length < sizeof(session->title); i++)
		length += (size_t)snprintf(
			session->title + length, sizeof(session->title) - length, "%s%s [%d]",
			i ? ", " : "",
			pmp_escape(app->processes[i].name, name, sizeof(name)),
			(int)app->processes[i].pid);
}

/* ---- messages ---------------------------------------------------------------- */

/* What a key has answered stays until the next one. */
static void show_waiting(struct pmp_session *session)
{
	if (!*session->waiting || *session->view.message)
		return;
	pmp_view_say(&session->view, "%s", session->waiting);
	session->waiting[0] = '\0';
	session->dirty = true;
}

/* Nothing may be written across the screen: shown in it, and printed after it. */
static void take_message(void *arg, const char *text, const char *line)
{
	struct pmp_session *session = arg;
	size_t length = strlen(session->said);

	snprintf(session->waiting, sizeof(session->waiting), "%s", text);
	show_waiting(session);
	snprintf(session->said + length, sizeof(session->said) - length, "%s", line);
}

/* ---- the screen -------------------------------------------------------------- */

static int input_of(struct pmp_session *session)
{
	if (isatty(STDIN_FILENO))
		return STDIN_FILENO;
	if (session->tty < 0)
		session->tty = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	return session->tty;
}

static void take_over(struct pmp_session *session)
{
	int input;

	session->shown = true;
	input = input_of(session);
	if (input >= 0)
		session->screen = pmp_screen_open(input, STDOUT_FILENO,
						  pmp_options_color(&session->app->options,
								    STDOUT_FILENO));
	session->text = !session->screen;
	if (session->screen) {
		session->view.slice = PMP_VIEW_SLICE;
		pmp_message_divert(take_message, session);
	}
	session->dirty = true;
}

void pmp_session_show(struct pmp_session *session)
{
	if (!session)
		return;
	set_title(session);
	if (!session->shown)
		take_over(session);
}

bool pmp_session_show_saved(struct pmp_session *session)
{
	struct pmp_view *view = &session->view;

	set_title_saved(session);
	view->model.saved = true;
	view->about.size = sizeof(view->about);
	pmp_profile_describe(session->app->profile, &view->about);
	take_over(session);
	return session->screen;
}

void pmp_session_close(struct pmp_session *session)
{
	if (!session || !session->shown)
		return;
	pmp_message_divert(NULL, NULL);
	pmp_screen_close(session->screen);
	session->screen = NULL;
	session->shown = false;
	if (session->tty >= 0)
		close(session->tty);
	session->tty = -1;
	pmp_message_lines(session->said);
	session->said[0] = '\0';
}

static void ask_for_names(struct pmp_session *session)
{
	struct pmp_model *model = &session->view.model;

	if (model->wanted_count &&
	    pmp_namer_ask(session->namer, model->wanted, model->wanted_count))
		model->wanted_count = 0;
}

/* When the rows are there. */
static void end_refresh(struct pmp_session *session)
{
	uint64_t now = pmp_now(), took = now - session->last_refresh;
	uint64_t pause = session->text ? REFRESH_TEXT : REFRESH;

	ask_for_names(session);
	if (took * (REFRESH_SHARE - 1) > pause)
		pause = took * (REFRESH_SHARE - 1);
	/* Of a saved profile there is nothing new but names. */
	session->next_refresh = session->view.model.saved ? UINT64_MAX : now + pause;
	session->refreshing = false;
	session->dirty = true;
}

static void refresh(struct pmp_session *session)
{
	session->last_refresh = pmp_now();
	session->refreshing = true;
	pmp_view_refresh(&session->view);
	if (!pmp_model_is_busy(&session->view.model))
		end_refresh(session);
}

/* Rows that could not be made at once, a search in many of them. */
static void go_on(struct pmp_session *session)
{
	if (!pmp_view_is_busy(&session->view))
		return;
	pmp_view_go_on(&session->view);
	if (pmp_view_is_busy(&session->view))
		return;
	session->dirty = true;
	if (session->refreshing)
		end_refresh(session);
}

static void draw(struct pmp_session *session)
{
	int rows, columns;

	session->dirty = false;
	pmp_screen_size(session->screen, &rows, &columns);
	if (session->mouse == session->view.model.settings.no_mouse) {
		session->mouse = !session->mouse;
		pmp_screen_mouse(session->screen, session->mouse);
	}
	if (!pmp_canvas_resize(&session->canvas, rows, columns))
		return;
	pmp_view_draw(&session->view, &session->canvas);
	pmp_screen_draw(session->screen, &session->canvas, session->view.redraw);
	session->view.redraw = false;
}

static int from_environment(const char *name, int otherwise)
{
	const char *text = getenv(name);
	long value = text ? strtol(text, NULL, 10) : 0;

	return value > 0 && value < 1000 ? (int)value : otherwise;
}

/* The screen as text; without its last line, which is about keys. */
static void print_text(struct pmp_session *session)
{
	struct winsize size = { 0 };
	int rows, columns;
	char line[PMP_VIEW_TEXT];

	session->dirty = false;
	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	rows = from_environment("LINES", size.ws_row ? size.ws_row : TEXT_ROWS);
	columns = from_environment("COLUMNS", size.ws_col ? size.ws_col : TEXT_COLUMNS);
	if (!pmp_canvas_resize(&session->canvas, rows, columns))
		return;
	pmp_view_draw(&session->view, &session->canvas);
	for (int i = 0; i + 1 < session->canvas.rows; i++)
		puts(pmp_canvas_line(&session->canvas, i, line, sizeof(line)));
	puts("");
	fflush(stdout);
}

/* ---- the front's turn -------------------------------------------------------- */

int pmp_session_input(const struct pmp_session *session)
{
	return session && session->screen ? pmp_screen_input(session->screen) : -1;
}

int pmp_session_wake(const struct pmp_session *session)
{
	return session ? pmp_namer_wake(session->namer) : -1;
}

int pmp_session_timeout(const struct pmp_session *session, int most)
{
	uint64_t now, left;

	if (!session || !session->shown)
		return most;
	if (pmp_view_is_busy(&session->view))
		return 0;
	now = pmp_now();
	left = session->next_refresh > now ? session->next_refresh - now : 0;
	left = (left + 999999) / 1000000;
	return left < (uint64_t)most ? (int)left : most;
}

void pmp_session_unlock(struct pmp_session *session)
{
	if (session)
		pmp_namer_unlock(session->namer);
}

void pmp_session_lock(struct pmp_session *session)
{
	if (session)
		pmp_namer_lock(session->namer);
}

/* Keys that have come together share the time of one, but each has some. */
static void take_keys(struct pmp_session *session)
{
	uint64_t begin = pmp_now();
	struct pmp_screen_event event;

	while (pmp_screen_next(session->screen, &event)) {
		uint64_t took = pmp_now() - begin;

		session->view.slice = took < PMP_VIEW_SLICE - SLICE_MIN ? PMP_VIEW_SLICE - took
									: SLICE_MIN;
		if (event.key)
			pmp_view_key(&session->view, event.key);
		else
			pmp_view_mouse(&session->view, event.row, event.column, event.wheel);
		session->dirty = true;
	}
	session->view.slice = PMP_VIEW_SLICE;
	show_waiting(session);
}

void pmp_session_tend(struct pmp_session *session)
{
	uint64_t now = pmp_now(), soon;
	int rows, columns;

	if (!session || !session->shown)
		return;
	soon = session->last_refresh + REFRESH_SOON;
	if (session->screen)
		take_keys(session);
	go_on(session);
	if (pmp_namer_has_named(session->namer) && session->next_refresh > soon &&
	    !session->text)
		session->next_refresh = soon;
	if (now >= session->next_refresh && !pmp_model_is_busy(&session->view.model))
		refresh(session);
	ask_for_names(session);
	if (session->screen && pmp_screen_size(session->screen, &rows, &columns))
		session->dirty = true;
	if (session->dirty && session->screen)
		draw(session);
	else if (session->dirty && session->app->snapshots)
		print_text(session);
}

void pmp_session_sampled(struct pmp_session *session)
{
	if (session && session->view.model.list.row_count == 0)
		session->next_refresh = 0;
}

void pmp_session_end(struct pmp_session *session)
{
	if (!session || session->view.ended || session->view.model.saved)
		return;
	session->view.ended = true;
	session->next_refresh = 0;
	if (!*session->view.message)
		pmp_view_say(&session->view, "No more snapshots come: q quits");
}

bool pmp_session_stays(const struct pmp_session *session)
{
	return session && session->screen;
}

void pmp_session_suspend(struct pmp_session *session)
{
	if (session && session->screen)
		pmp_screen_suspend(session->screen);
}

void pmp_session_resume(struct pmp_session *session)
{
	if (!session || !session->screen)
		return;
	pmp_screen_resume(session->screen);
	session->mouse = false;
	session->view.redraw = true;
	session->dirty = true;
}
