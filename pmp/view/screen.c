/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The terminal, using ncursesw. Eight colours are enough, and none will do: letters say
 * the same. If pmp dies suddenly, a handler writes what curses would have written at the
 * end, which is prepared in advance.
 */
#define NCURSES_WIDECHAR 1
#include "view/screen.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "view/key-codes.h"

#define ESCAPE_DELAY 25 /* ms to wait for the rest of a sequence */
#define SEQUENCE_MAX 32 /* characters of a sequence */
#define LEAVE_SIZE 256
#define GUARDED 3	  /* threads: the one that draws, the worker, a previous worker */
#define FAULT_STACK 16384 /* for the handler, if a stack overflows */
#define MOUSE_OFF "\033[?1006l\033[?1002l\033[?1000l"

struct screen {
	SCREEN *screen;
	FILE *in, *out;
	int input, output;
	int rows, columns;
	bool colours, utf8, resized;
};

/* What a signal handler needs. */
static struct {
	volatile sig_atomic_t active;
	int output;
	struct termios modes;
	char leave[LEAVE_SIZE];
	size_t leave_length;
	atomic_uint guarded; /* number of threads */
	char stacks[GUARDED][FAULT_STACK];
} saved;

static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS };

/* ---- restoring --------------------------------------------------------------- */

void screen_restore(void)
{
	ssize_t n;

	if (!saved.active)
		return;
	saved.active = 0;
	n = write(saved.output, saved.leave, saved.leave_length);
	(void)n;
	tcsetattr(saved.output, TCSANOW, &saved.modes);
}

static void on_fault(int number)
{
	screen_restore();
	/* The handler was reset when it was called: now the fault has its
	 * default effect. */
	raise(number);
}

void screen_guard(void)
{
	stack_t stack = { .ss_size = FAULT_STACK }, old;
	unsigned mine;

	/* A sanitizer has set a stack, and will remove the thread's at its end. */
	if (sigaltstack(NULL, &old) < 0 || !(old.ss_flags & SS_DISABLE))
		return;
	mine = atomic_fetch_add(&saved.guarded, 1);
	if (mine >= GUARDED)
		return;
	stack.ss_sp = saved.stacks[mine];
	sigaltstack(&stack, NULL);
}

/* Keeps a sanitizer's handlers. */
static void catch_faults(void)
{
	struct sigaction action = {
		.sa_handler = on_fault,
		.sa_flags = (int)(SA_RESETHAND | SA_ONSTACK),
	};

	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
		struct sigaction old;

		if (sigaction(faults[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
			sigaction(faults[i], &action, NULL);
	}
}

static void add_leave(const char *text)
{
	size_t length = text ? strlen(text) : 0;

	if (length > LEAVE_SIZE - saved.leave_length)
		return;
	memcpy(saved.leave + saved.leave_length, text ? text : "", length);
	saved.leave_length += length;
}

/* tigetstr() returns (char *)-1 if the capability is not a string. */
static const char *capability(const char *name)
{
	const char *text = tigetstr(name);

	return text == (const char *)-1 ? NULL : text;
}

static void prepare_restore(int output)
{
	saved.output = output;
	saved.leave_length = 0;
	if (capability("kmous"))
		add_leave(MOUSE_OFF);
	add_leave(capability("rmkx"));
	add_leave(capability("sgr0"));
	add_leave(capability("cnorm"));
	add_leave(capability("rmcup"));
	if (!capability("rmcup"))
		add_leave("\r\n");
	screen_guard();
	catch_faults();
}

/* ---- terminal descriptions ----------------------------------------------------- */

/* The static program may run where no descriptions are installed: it has those of the
 * most common terminals built in, and treats any other as an xterm. */
struct terminal {
	const char *name, *description; /* in a form that TERMINFO accepts */
};

static const struct terminal terminals[] = {
#ifdef PMP_BUILTIN_TERMINALS
#define TERMINAL(name, description) { name, description },
#include "terminals.h"
#undef TERMINAL
#endif
	{ NULL, NULL },
};

static SCREEN *new_builtin(const char *name, FILE *out, FILE *in)
{
	const struct terminal *terminal = terminals;

	while (terminal->name && strcmp(terminal->name, name) != 0)
		terminal++;
	if (!terminal->name)
		return NULL;
	setenv("TERMINFO", terminal->description, 1);
	return newterm(name, out, in);
}

static SCREEN *new_screen(const char *name, FILE *out, FILE *in)
{
	SCREEN *screen = newterm(name, out, in);

	if (!screen)
		screen = new_builtin(name, out, in);
	if (!screen)
		screen = new_builtin("xterm-256color", out, in);
	return screen;
}

/* ---- opening ----------------------------------------------------------------- */

static void set_up(struct screen *screen)
{
	cbreak();
	noecho();
	nonl();
	nodelay(stdscr, TRUE);
	keypad(stdscr, TRUE);
	curs_set(0);
	set_escdelay(ESCAPE_DELAY);
	mouseinterval(0);
	getmaxyx(stdscr, screen->rows, screen->columns);
	screen->resized = true;
	screen->colours = screen->colours && has_colors() && start_color() == OK;
	if (!screen->colours)
		return;
	use_default_colors();
	init_pair(STYLE_GREEN, COLOR_GREEN, -1);
	init_pair(STYLE_RED, COLOR_RED, -1);
	init_pair(STYLE_YELLOW, COLOR_YELLOW, -1);
	init_pair(STYLE_BLUE, COLOR_BLUE, -1);
	init_pair(STYLE_CYAN, COLOR_CYAN, -1);
}

static FILE *open_stream(int fd, const char *mode)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	FILE *stream = copy < 0 ? NULL : fdopen(copy, mode);

	if (!stream && copy >= 0)
		close(copy);
	return stream;
}

static void drop(struct screen *screen)
{
	if (screen->screen)
		delscreen(screen->screen);
	if (screen->in)
		fclose(screen->in);
	if (screen->out)
		fclose(screen->out);
	free(screen);
}

struct screen *screen_open(int input, int output, bool colours)
{
	struct screen *screen = calloc(1, sizeof(*screen));
	const char *term = getenv("TERM");

	if (!screen)
		return NULL;
	screen->input = input;
	screen->output = output;
	screen->colours = colours;
	screen->utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	if (!term || !*term || strcmp(term, "dumb") == 0 ||
	    tcgetattr(output, &saved.modes) < 0) {
		drop(screen);
		return NULL;
	}
	screen->in = open_stream(input, "r");
	screen->out = open_stream(output, "w");
	if (screen->in && screen->out)
		screen->screen = new_screen(term, screen->out, screen->in);
	/* Without cursor addressing a terminal is as good as dumb. */
	if (!screen->screen || !capability("cup")) {
		if (screen->screen)
			endwin();
		drop(screen);
		return NULL;
	}
	prepare_restore(output);
	saved.active = 1;
	set_up(screen);
	return screen;
}

void screen_close(struct screen *screen)
{
	if (!screen)
		return;
	screen_suspend(screen);
	drop(screen);
}

void screen_suspend(struct screen *screen)
{
	if (!saved.active)
		return;
	mousemask(0, NULL);
	endwin();
	fflush(screen->out);
	saved.active = 0;
}

void screen_resume(struct screen *screen)
{
	if (saved.active)
		return;
	/* The shell may have changed the modes meanwhile. */
	tcgetattr(saved.output, &saved.modes);
	saved.active = 1;
	clearok(stdscr, TRUE);
	doupdate();
	screen->resized = true;
}

/* ---- size and drawing -------------------------------------------------------- */

int screen_input(const struct screen *screen)
{
	return screen->input;
}

bool screen_size(struct screen *screen, int *rows, int *columns)
{
	struct winsize size = { 0 };
	bool changed;

	if (ioctl(screen->output, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col &&
	    (size.ws_row != screen->rows || size.ws_col != screen->columns)) {
		resizeterm(size.ws_row, size.ws_col);
		screen->resized = true;
	}
	getmaxyx(stdscr, screen->rows, screen->columns);
	*rows = screen->rows;
	*columns = screen->columns;
	changed = screen->resized;
	screen->resized = false;
	return changed;
}

static attr_t attributes(const struct screen *screen, unsigned style)
{
	attr_t attr = A_NORMAL;

	if (style & STYLE_REVERSE)
		attr |= A_REVERSE;
	if (style & STYLE_BOLD)
		attr |= A_BOLD;
	if (style & STYLE_DIM)
		attr |= A_DIM;
	if (screen->colours)
		attr |= (attr_t)COLOR_PAIR(style & STYLE_COLOURS);
	return attr;
}

/* Collect the cells from at on with the same style as text; returns where they end. */
static int run_of_cells(const struct screen *screen, const struct cell *cells, int at,
			int columns, wchar_t *text)
{
	uint8_t style = cells[at].style;
	size_t length = 0;

	for (; at < columns && cells[at].style == style; at++) {
		uint32_t character = cells[at].character;

		if (character == 0 && at && cells[at - 1].character > 0x7f)
			continue;
		if (character == 0)
			character = ' ';
		text[length++] =
			character < 0x7f || screen->utf8 ? (wchar_t)character : L'?';
	}
	text[length] = L'\0';
	return at;
}

static void draw_row(const struct screen *screen, const struct canvas *canvas, int row,
		     wchar_t *text)
{
	const struct cell *cells = canvas->cells + (size_t)row * (size_t)canvas->columns;

	move(row, 0);
	for (int at = 0; at < canvas->columns;) {
		attrset((int)attributes(screen, cells[at].style));
		at = run_of_cells(screen, cells, at, canvas->columns, text);
		addwstr(text);
	}
}

void screen_draw(struct screen *screen, const struct canvas *canvas, bool again)
{
	wchar_t *text = calloc((size_t)canvas->columns + 1, sizeof(*text));

	if (!text)
		return;
	if (again)
		clearok(stdscr, TRUE);
	erase();
	for (int row = 0; row < canvas->rows && row < screen->rows; row++)
		draw_row(screen, canvas, row, text);
	attrset(A_NORMAL);
	refresh();
	free(text);
}

/* ---- keys and mouse ---------------------------------------------------------- */

void screen_mouse(struct screen *screen, bool wanted)
{
	(void)screen;
	mousemask(wanted ? BUTTON1_PRESSED | BUTTON1_CLICKED | BUTTON4_PRESSED |
				   BUTTON5_PRESSED
			 : 0,
		  NULL);
}

static int special_key(int code)
{
	static const int keys[][2] = {
		{ KEY_UP, PMP_KEY_UP },		{ KEY_DOWN, PMP_KEY_DOWN },
		{ KEY_LEFT, PMP_KEY_LEFT },	{ KEY_RIGHT, PMP_KEY_RIGHT },
		{ KEY_PPAGE, PMP_KEY_PAGE_UP }, { KEY_NPAGE, PMP_KEY_PAGE_DOWN },
		{ KEY_HOME, PMP_KEY_HOME },	{ KEY_END, PMP_KEY_END },
		{ KEY_ENTER, PMP_KEY_ENTER },	{ KEY_BACKSPACE, PMP_KEY_BACKSPACE },
		{ KEY_DC, PMP_KEY_BACKSPACE },	{ KEY_F(1), PMP_KEY_F1 },
		{ KEY_F(3), PMP_KEY_F3 },	{ KEY_F(4), PMP_KEY_F4 },
		{ KEY_F(6), PMP_KEY_F6 },	{ KEY_F(9), PMP_KEY_F9 },
		{ KEY_F(10), PMP_KEY_F10 },
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		if (keys[i][0] == code)
			return keys[i][1];
	}
	return PMP_KEY_NONE;
}

/* A key that curses does not know, for instance ^F5: discard its sequence. */
static int skip_sequence(bool one)
{
	wint_t next = 0;

	for (int i = 0; i < SEQUENCE_MAX && get_wch(&next) == OK; i++) {
		if (one || (next >= '@' && next <= '~'))
			break;
	}
	return PMP_KEY_NONE;
}

/* An escape followed at once by a digit is Alt with that digit. A letter may have been
 * typed while pmp was busy. */
static int escape_or_alt(void)
{
	wint_t next;
	int code = get_wch(&next);

	if (code == OK && next >= '0' && next <= '9')
		return PMP_KEY_ALT + (int)next;
	if (code == OK && (next == '[' || next == 'O'))
		return skip_sequence(next == 'O');
	if (code == OK)
		unget_wch((wchar_t)next);
	else if (code == KEY_CODE_YES)
		ungetch((int)next);
	return PMP_KEY_ESCAPE;
}

static int plain_key(wint_t character)
{
	switch (character) {
	case '\r':
	case '\n': return PMP_KEY_ENTER;
	case '\b':
	case 127: return PMP_KEY_BACKSPACE;
	case PMP_KEY_ESCAPE: return escape_or_alt();
	default: return (int)character;
	}
}

static bool take_mouse(struct screen_event *event)
{
	MEVENT mouse;

	if (getmouse(&mouse) != OK)
		return false;
	event->row = mouse.y;
	event->column = mouse.x;
	if (mouse.bstate & BUTTON4_PRESSED)
		event->wheel = -1;
	else if (mouse.bstate & BUTTON5_PRESSED)
		event->wheel = 1;
	else if (!(mouse.bstate & (BUTTON1_PRESSED | BUTTON1_CLICKED)))
		return false;
	return true;
}

bool screen_next(struct screen *screen, struct screen_event *event)
{
	wint_t character;
	int code;

	while ((code = get_wch(&character)) != ERR) {
		*event = (struct screen_event){ 0 };
		if (code == KEY_CODE_YES && character == KEY_RESIZE) {
			screen->resized = true;
			continue;
		}
		if (code == KEY_CODE_YES && character == KEY_MOUSE) {
			if (take_mouse(event))
				return true;
			continue;
		}
		event->key = code == KEY_CODE_YES ? special_key((int)character)
						  : plain_key(character);
		if (event->key != PMP_KEY_NONE)
			return true;
	}
	return false;
}
