/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The live view: what its keys do and what it draws. It knows no terminal: keys come
 * as numbers of keys.h, and it draws on a canvas. What is not its own business (to
 * pause, to write a file) others do for it.
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

#define VIEW_WIDE 60		      /* columns: screens less wide are short of words */
#define VIEW_SLICE UINT64_C(15000000) /* ns: for so long at most keys wait for rows */

struct view;
struct prompt;

/* ---- what a view has done for it ------------------------------------------------------ */

struct view_actions {
	/* Each may leave a message by view_say(). */
	void (*pause)(void *arg, bool paused);
	void (*set_interval)(void *arg, uint64_t interval); /* ns */
	void (*refresh)(void *arg);
	void (*reset)(void *arg);
	void (*write)(void *arg, const char *path);
	void (*read_heap)(void *arg, pid_t pid); /* 0: of the first process */
	void (*save)(void *arg);
	void (*quit)(void *arg);
};

/* ---- a view ------------------------------------------------------------------------- */

enum view_screen { SCREEN_LIST, SCREEN_STACK, SCREEN_HELP };

/* Where things were drawn last, for the mouse. */
struct layout {
	int columns; /* of the screen */
	int columns_row, list_row, list_rows;
	int tabs_row;
	bool named; /* all tabs have their names */
	int details_row, details_rows;
};

/* Rows that are still to be searched. */
struct search_state {
	size_t left; /* 0: nothing is searched */
	size_t at;
	int step;     /* 1 down, -1 up */
	bool returns; /* to the row where it began, if it is in vain */
};

struct view {
	struct model model;
	struct pmp_profile *profile; /* borrowed; NULL only in tests */
	const struct view_actions *actions;
	void *actions_arg;
	/* What they know. */
	const char *title; /* "mariadbd [4100]" */
	uint64_t interval;
	bool paused, ended;
	/* The first snapshot after a pause, time 0 until it is there: the rate counts from it. */
	struct {
		bool any;
		uint64_t samples, time;
	} resumed;
	bool targets_live; /* when it ended: a limit was reached */
	/* Of a file: how it came about; of a core file: how the process ended, else NULL. */
	struct pmp_profile_metadata metadata;
	const char *crash;
	/* The screen. */
	enum view_screen screen;
	struct layout layout;
	bool follows;	       /* a row was chosen: it is followed */
	uint64_t chosen;       /* identity of its row */
	uint32_t chosen_stack; /* and a stack of it, should that change with its names */
	size_t at, top;	       /* the chosen row, the first on the screen */
	size_t stack_top, help_top; /* the same of the other screens */
	int sideways;
	const struct prompt *prompt; /* what is asked for; NULL: nothing */
	char input[128];
	size_t origin; /* the row at which a search began */
	char message[256];
	size_t deadlocks; /* that have been announced */
	bool redraw;	  /* the terminal has to be drawn again: ^L */
	struct search search;
	struct search_state searching;
	uint64_t slice; /* VIEW_SLICE; 0: keys wait until all is there */
};

void view_init(struct view *view, struct pmp_profile *profile,
	       struct pmp_symbolizer *symbolizer, const struct view_actions *actions,
	       void *actions_arg);
void view_free(struct view *view);
/** Another profile from now on: the old one was reset. */
void view_set_profile(struct view *view, struct pmp_profile *profile);

/** Count and sort again: the rows that a draw will show, as soon as they are there. */
void view_refresh(struct view *view);
/** Is there something to go on with, rows to count or to search? Do some of it. */
bool view_is_busy(const struct view *view);
void view_go_on(struct view *view);
/** The same if rows mean something else now, since threads or stacks were put together. */
void view_keep_valid(struct view *view);
void view_key(struct view *view, int key);
/** A click (wheel 0) or a turn of the wheel (-1 up, 1 down). */
void view_mouse(struct view *view, int row, int column, int wheel);
void view_draw(struct view *view, struct canvas *canvas);

/** Show a message until the next key. */
__attribute__((format(printf, 2, 3))) void view_say(struct view *view, const char *format,
						    ...);

/* ---- searching: search.c ---------------------------------------------------------- */

/** Search for a pattern, "": for nothing. False: it is none, and *problem says why. */
bool search_set(struct view *view, const char *text, char *problem, size_t size);
/** From a row on in a direction, and round; what is found is chosen. */
void search_begin(struct view *view, long from, int step, bool returns);
/** Until that time; see clock_is_past(). */
void search_go_on(struct view *view, uint64_t until);

/* ---- what keys and clicks do: keys.c, view.c, prompt.c ---------------------------------------- */

/** Show another view, by its number; what it was made of is counted again. */
void view_show(struct view *view, size_t number);
/** Show the top of all, which has changed. */
void view_show_again(struct view *view);
/** The next row of a deadlock, or the first in the view of locks. False: there is none. */
bool view_next_deadlock(struct view *view);
/** Sort by a column, or the other way round if that is done already. */
void view_sort_by(struct view *view, size_t column);
/** Open or close a node, or show the stack of a row, and back. NULL: there is no row. */
void view_enter(struct view *view, const struct view_row *row);
/** Rows down, or up if less than 0; lines of a screen that is no list. */
void view_move_by(struct view *view, long step);
/** The time between snapshots. False: it is too long or too short, which is said. */
bool view_set_interval(struct view *view, uint64_t interval);
/** Are its rows nodes? */
bool view_is_tree(const struct view *view);
/** Choose a row: it is followed from now on. */
void view_move_to(struct view *view, long at);

/* ---- parts of the drawing --------------------------------------------------------- */

/** Lines about the stack of a row; top is the first shown. Returns how many there are. */
size_t details_draw(struct view *view, struct canvas *canvas, const struct view_row *row,
		    int first, int rows, size_t top);
/** A stack, frame by frame. */
void details_draw_stack(const struct view *view, struct canvas_part *part, size_t index);
/** The same of a row that is a lock, and its heading. */
void details_lock_draw(struct view *view, struct canvas_part *part,
		       const struct view_row *row);
void details_lock_title(const struct view *view, const struct view_row *row, char *buffer,
			size_t size);
/** Its parts: what is known of a holder that the lock does not name; and who waits for it,
 * in groups or one by one. */
void details_draw_hints(const struct model *model, struct canvas_part *part,
			const struct view_row *row);
void details_draw_waiters(const struct model *model, struct canvas_part *part,
			  const struct view_row *row);
/** The same of a row of a heap. */
void details_heap_draw(const struct view *view, struct canvas_part *part,
		       const struct view_row *row);
void details_heap_title(const struct view *view, const struct view_row *row, char *buffer,
			size_t size);
/** The same of a row that is a class of blocks. */
void details_objects_draw(const struct view *view, struct canvas_part *part,
			  const struct view_row *row);
/** A line of them. */
void details_draw_text(struct canvas_part *part, unsigned style, const char *text);
/** The heading of them. */
void details_title(const struct view *view, const struct view_row *row, char *buffer,
		   size_t size);
/** Returns how many lines the help has. */
size_t help_draw(struct canvas *canvas, int first, int rows, size_t top);
/** The titles of the columns, and the rows below them, where the layout has them. */
void list_draw_titles(const struct view *view, struct canvas *canvas, int row);
void list_draw(struct view *view, struct canvas *canvas);

/** Settings as lines "name value". Returns false at what it does not understand; *problem
 * says why, if there is more to say than that. */
bool settings_take(struct settings *settings, const char *line, const char **problem);
/** Into a buffer; returns its length. */
size_t settings_print(const struct settings *settings, char *buffer, size_t size);
/** Sort by the columns that --sort means, in the views that have one. */
void settings_sort(struct settings *settings, enum pmp_sort sort);

#endif
