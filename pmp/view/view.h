/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The live view: what its keys do and what it draws. It does not know the terminal: keys
 * come as codes of key-codes.h, and it draws on a canvas. It delegates actions such as
 * pausing or writing a file.
 */
#ifndef PMP_VIEW_VIEW_H
#define PMP_VIEW_VIEW_H

#include "libpmp.h"
#include "rows/model.h"
#include "rows/view-list.h"
#include "view/canvas.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VIEW_WIDE 60		      /* columns: narrower screens abbreviate */
#define VIEW_SLICE UINT64_C(15000000) /* ns: how long a key may wait for rows */

struct view;
struct prompt;

/* ---- delegated actions ------------------------------------------------------------- */

struct view_actions {
	/* Each may set a message with view_say(). */
	void (*pause)(void *arg, bool paused);
	void (*set_interval)(void *arg, uint64_t interval); /* ns */
	void (*refresh)(void *arg);
	void (*reset)(void *arg);
	void (*write)(void *arg, const char *path);
	void (*read_heap)(void *arg, pid_t pid); /* 0: the first process */
	void (*save)(void *arg);
	void (*quit)(void *arg);
};

/* ---- a view ------------------------------------------------------------------------- */

enum view_screen { SCREEN_LIST, SCREEN_STACK, SCREEN_HELP };

/* Where things were last drawn, for the mouse. */
struct layout {
	int columns; /* of the screen */
	int columns_row, list_row, list_rows;
	int tabs_row;
	bool named; /* all tabs show their names */
	int details_row, details_rows;
};

/* A search in progress. */
struct search_state {
	size_t left; /* rows; 0: not searching */
	size_t at;
	int step;     /* 1 down, -1 up */
	bool returns; /* on failure, go back to the row where it began */
};

struct view {
	struct model model;
	struct pmp_profile *profile; /* borrowed; NULL only in tests */
	const struct view_actions *actions;
	void *actions_arg;
	/* Copies of the sampler's state. */
	const char *title; /* "mariadbd [4100]" */
	uint64_t interval;
	bool paused, ended;
	/* Where the rate counts from: the first snapshot after a pause; time is 0 until
	 * it is taken. */
	struct {
		bool any;
		uint64_t samples, time;
	} resumed;
	bool targets_live; /* at the end: a limit was reached */
	/* For a file, how it was made; for a core file, how the process ended;
	 * else NULL. */
	struct pmp_profile_metadata metadata;
	const char *crash;
	/* The screen. */
	enum view_screen screen;
	struct layout layout;
	bool follows;	       /* follow the chosen row */
	uint64_t chosen;       /* identity of the chosen row */
	uint32_t chosen_stack; /* one of its stacks, as names may change the identity */
	size_t at, top;	       /* the chosen row, and the first on the screen */
	size_t stack_top, help_top; /* first lines of the other screens */
	int sideways;
	const struct prompt *prompt; /* current question; NULL: none */
	char input[128];
	size_t origin; /* row at which a search began */
	char message[256];
	size_t deadlocks; /* number announced */
	bool redraw;	  /* redraw the terminal: ^L */
	struct search search;
	struct search_state searching;
	uint64_t slice; /* VIEW_SLICE; 0: wait until everything is done */
};

void view_init(struct view *view, struct pmp_profile *profile,
	       struct pmp_symbolizer *symbolizer, const struct view_actions *actions,
	       void *actions_arg);
void view_free(struct view *view);
/** Use another profile: the old one was reset. */
void view_set_profile(struct view *view, struct pmp_profile *profile);

/** Count and sort again; the next draw shows the new rows as soon as they are complete. */
void view_refresh(struct view *view);
/** Are there rows left to count or to search? view_go_on() does some of that work. */
bool view_is_busy(const struct view *view);
void view_go_on(struct view *view);
/** Like view_refresh(), if rows became invalid as threads or stacks were merged. */
void view_keep_valid(struct view *view);
void view_key(struct view *view, int key);
/** A click (wheel 0), or a turn of the wheel (-1 up, 1 down). */
void view_mouse(struct view *view, int row, int column, int wheel);
void view_draw(struct view *view, struct canvas *canvas);

/** Show a message until the next key. */
__attribute__((format(printf, 2, 3))) void view_say(struct view *view, const char *format,
						    ...);

/* ---- searching: search.c ---------------------------------------------------------- */

/** Set the pattern to search for; "": none. False: it is invalid, *problem says why. */
bool search_set(struct view *view, const char *text, char *problem, size_t size);
/** Search from a row in a direction, wrapping around; choose the match. returns: go back if
 * there is none. */
void search_begin(struct view *view, long from, int step, bool returns);
/** Continue until that time; see clock_is_past(). */
void search_go_on(struct view *view, uint64_t until);

/* ---- what keys and clicks do: keys.c, view.c, prompt.c ----------------------------- */

/** Switch to another view, by number, and count its rows. */
void view_show(struct view *view, size_t number);
/** Refresh and go to the top, as everything may have changed. */
void view_show_again(struct view *view);
/** Choose the next row of a deadlock, or go to the view of locks. False: no deadlock. */
bool view_next_deadlock(struct view *view);
/** Sort by a column; if it is that one already, reverse the order. */
void view_sort_by(struct view *view, size_t column);
/** Open or close a node, or show the stack of a row, or go back. row may be NULL. */
void view_enter(struct view *view, const struct view_row *row);
/** Move down by step rows, or up if negative; in other screens, by lines. */
void view_move_by(struct view *view, long step);
/** Set the time between snapshots. False: out of range, which is reported. */
bool view_set_interval(struct view *view, uint64_t interval);
/** Are the rows nodes of a tree? */
bool view_is_tree(const struct view *view);
/** Choose a row and follow it from now on. */
void view_move_to(struct view *view, long at);

/* ---- parts of the drawing --------------------------------------------------------- */

/** Draw lines about a row; top: the first line shown. Returns the number of lines. */
size_t details_draw(struct view *view, struct canvas *canvas, const struct view_row *row,
		    int first, int rows, size_t top);
/** Draw a stack frame by frame. */
void details_draw_stack(const struct view *view, struct canvas_part *part, size_t index);
/** Draw the details of a lock, and their heading. */
void details_lock_draw(struct view *view, struct canvas_part *part,
		       const struct view_row *row);
void details_lock_title(const struct view *view, const struct view_row *row, char *buffer,
			size_t size);
/** Parts of these: hints about a holder that the lock does not name; and the waiters, in
 * groups or one by one. */
void details_draw_hints(const struct model *model, struct canvas_part *part,
			const struct view_row *row);
void details_draw_waiters(const struct model *model, struct canvas_part *part,
			  const struct view_row *row);
/** Draw the details of a row of the heap, and their heading. */
void details_heap_draw(const struct view *view, struct canvas_part *part,
		       const struct view_row *row);
void details_heap_title(const struct view *view, const struct view_row *row, char *buffer,
			size_t size);
/** Draw the details of a class of blocks. */
void details_objects_draw(const struct view *view, struct canvas_part *part,
			  const struct view_row *row);
/** Draw one line of details. */
void details_draw_text(struct canvas_part *part, unsigned style, const char *text);
/** The heading of the details. */
void details_title(const struct view *view, const struct view_row *row, char *buffer,
		   size_t size);
/** Returns the number of lines of the help. */
size_t help_draw(struct canvas *canvas, int first, int rows, size_t top);
/** Draw the column titles, and the rows where the layout puts them. */
void list_draw_titles(const struct view *view, struct canvas *canvas, int row);
void list_draw(struct view *view, struct canvas *canvas);

/** Take a line "name value". False: it is not understood; *problem says why, or is "". */
bool settings_take(struct settings *settings, const char *line, const char **problem);
/** Write the settings to a buffer; returns the length. */
size_t settings_print(const struct settings *settings, char *buffer, size_t size);
/** Sort by the column that --sort means, in the views that have it. */
void settings_sort(struct settings *settings, enum pmp_sort sort);

#endif
