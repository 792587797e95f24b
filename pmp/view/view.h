/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The live view: what its keys do and what it draws. It knows no terminal: keys come
 * as numbers of keys.h, and it draws on a canvas. What is not its own business (to
 * pause, to write a file) it asks its host for.
 */
#ifndef PMP_PMP_VIEW_VIEW_H
#define PMP_PMP_VIEW_VIEW_H

#include "../keys.h"
#include "canvas.h"
#include "libpmp.h"
#include "model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PMP_VIEW_TEXT 4096 /* of a row, more than any screen is wide */
#define PMP_VIEW_SLICE UINT64_C(15000000) /* ns: for so long at most keys wait for rows */

struct pmp_view;

/* ---- views: const tables ---------------------------------------------------------- */

enum { /* when a column is there */
	PMP_COLUMN_LEFT = 1,	/* its text begins at the left */
	PMP_COLUMN_SEVERAL = 2, /* of several processes only */
	PMP_COLUMN_WAIT = 4,	/* what threads wait for is asked for */
	PMP_COLUMN_BRIEF = 8,	/* a letter or two: nobody searches for it */
};

struct pmp_column {
	const char *title;
	int width;   /* 0: the rest of the line; the last one */
	unsigned flags;
	int narrow; /* left out on screens less wide than this */
	void (*text)(const struct pmp_view *view, const struct pmp_row *row, char *buffer,
		     size_t size);
	unsigned (*look)(const struct pmp_view *view, const struct pmp_row *row);
	/* Rows with a smaller key are shown first. NULL: cannot be sorted by. */
	uint64_t (*key)(const struct pmp_view *view, const struct pmp_row *row);
	/* Where keys are equal, < 0: a is shown before b. NULL: they say it all. */
	int (*compare)(const struct pmp_view *view, const struct pmp_row *a,
		       const struct pmp_row *b);
	/* Is what is searched for there? NULL: the text is searched. */
	bool (*has)(struct pmp_view *view, const struct pmp_row *row);
};

struct pmp_view_type {
	const char *name;
	const struct pmp_column *columns;
	size_t column_count;
	size_t sort; /* the column to sort by at first */
};

extern const struct pmp_view_type pmp_view_stacks;
extern const struct pmp_view_type pmp_view_functions;
extern const struct pmp_view_type pmp_view_tree;
extern const struct pmp_view_type pmp_view_threads;

/* Columns that several views have; see columns.c. */
uint64_t pmp_key_count_of(const struct pmp_view *, const struct pmp_row *);
uint64_t pmp_key_self(const struct pmp_view *, const struct pmp_row *);
uint64_t pmp_key_group(const struct pmp_view *, const struct pmp_row *);
uint64_t pmp_key_state(const struct pmp_view *, const struct pmp_row *);
uint64_t pmp_key_name(const struct pmp_view *, const struct pmp_row *);
uint64_t pmp_key_leaf(const struct pmp_view *, const struct pmp_row *);
bool pmp_has_group(struct pmp_view *, const struct pmp_row *);
bool pmp_has_name(struct pmp_view *, const struct pmp_row *);
bool pmp_has_chain(struct pmp_view *, const struct pmp_row *);
/** Larger ones first; the beginning of a text, as a number. */
uint64_t pmp_key_descending(double value);
uint64_t pmp_key_text(const char *text);
void pmp_text_share(const struct pmp_view *, const struct pmp_row *, char *, size_t);
void pmp_text_self_share(const struct pmp_view *, const struct pmp_row *, char *, size_t);
void pmp_text_count(const struct pmp_view *, const struct pmp_row *, char *, size_t);
void pmp_text_state(const struct pmp_view *, const struct pmp_row *, char *, size_t);
void pmp_text_process(const struct pmp_view *, const struct pmp_row *, char *, size_t);
void pmp_text_chain(const struct pmp_view *, const struct pmp_row *, char *, size_t);
void pmp_text_wait(const struct pmp_view *, const struct pmp_row *, char *, size_t);
unsigned pmp_look_state(const struct pmp_view *, const struct pmp_row *);
/** The thread that a row is about, with the place it waits at in words. */
char *pmp_view_wait(const struct pmp_live_thread *thread, char *buffer, size_t size);

/* ---- the host ----------------------------------------------------------------------- */

struct pmp_view_host {
	/* Each may leave a message by pmp_view_say(). */
	void (*pause)(void *arg, bool paused);
	void (*set_interval)(void *arg, uint64_t interval); /* ns */
	void (*refresh)(void *arg);
	void (*reset)(void *arg);
	void (*write)(void *arg, const char *path);
	void (*save)(void *arg);
	void (*quit)(void *arg);
};

/* ---- a view ------------------------------------------------------------------------- */

enum pmp_view_screen { PMP_SCREEN_LIST, PMP_SCREEN_STACK, PMP_SCREEN_HELP };

enum pmp_prompt {
	PMP_PROMPT_NONE,
	PMP_PROMPT_SEARCH,
	PMP_PROMPT_FRAMES,
	PMP_PROMPT_THREADS,
	PMP_PROMPT_INTERVAL,
	PMP_PROMPT_WRITE,
};

/* Where things were drawn last, for the mouse. */
struct pmp_layout {
	int columns; /* of the screen */
	int columns_row, list_row, list_rows;
	int tabs_row;
	int details_row, details_rows;
};

/* Rows that are still to be searched. */
struct pmp_hunt {
	size_t left; /* 0: nothing is searched */
	size_t at;
	int step;	    /* 1 down, -1 up */
	bool returns;	    /* to the row where it began, if it is in vain */
};

struct pmp_view {
	struct pmp_model model;
	struct pmp_profile *profile; /* borrowed; NULL only in tests */
	const struct pmp_view_host *host;
	void *host_arg;
	/* What the host knows. */
	const char *title; /* "mariadbd [4100]" */
	uint64_t interval;
	bool paused, ended;
	/* Of a saved profile: model.saved, and how it came about. */
	struct pmp_profile_about about;
	/* The screen. */
	enum pmp_view_screen screen;
	struct pmp_layout layout;
	bool moved;		/* a row was chosen: follow it */
	uint64_t chosen;	/* key of its row */
	uint32_t chosen_stack;	/* and a stack of it, should the key change with its names */
	size_t at, top;		/* the chosen row, the first on the screen */
	size_t stack_top, help_top; /* the same of the other screens */
	int sideways;
	enum pmp_prompt prompt;
	char input[128];
	size_t origin; /* the row at which a search began */
	char message[256];
	bool redraw; /* the terminal has to be drawn anew: ^L */
	struct pmp_match search;
	unsigned search_number; /* changes with it */
	struct pmp_hunt hunt;
	uint64_t slice; /* PMP_VIEW_SLICE; 0: keys wait until all is there */
};

void pmp_view_init(struct pmp_view *view, struct pmp_profile *profile,
		   struct pmp_symbolizer *symbolizer, const struct pmp_view_host *host,
		   void *host_arg);
void pmp_view_free(struct pmp_view *view);
/** Another profile from now on: the old one was reset. */
void pmp_view_set_profile(struct pmp_view *view, struct pmp_profile *profile);

/** Count and sort anew: the rows that a draw will show, as soon as they are there. */
void pmp_view_refresh(struct pmp_view *view);
/** Is there something to go on with, rows to count or to search? Do some of it. */
bool pmp_view_is_busy(const struct pmp_view *view);
void pmp_view_go_on(struct pmp_view *view);
/** The same if rows mean something else now, since threads or stacks were put together. */
void pmp_view_keep_valid(struct pmp_view *view);
void pmp_view_key(struct pmp_view *view, int key);
/** A click (wheel 0) or a turn of the wheel (-1 up, 1 down). */
void pmp_view_mouse(struct pmp_view *view, int row, int column, int wheel);
void pmp_view_draw(struct pmp_view *view, struct pmp_canvas *canvas);

/** Show a message until the next key. */
__attribute__((format(printf, 2, 3))) void pmp_view_say(struct pmp_view *view,
							const char *format, ...);

const struct pmp_view_type *pmp_view_type_of(const struct pmp_view *view);
/** Is the column there, on a screen of that width? */
bool pmp_view_has_column(const struct pmp_view *view, const struct pmp_column *column,
			 int width);
/** Does a key make sense here? Nothing is sampled for a saved profile. */
bool pmp_view_has_action(const struct pmp_view *view, enum pmp_action action);
/** Sort by columns of that name, in the views that have one. */
void pmp_settings_sort(struct pmp_settings *settings, enum pmp_sort sort);
/** The column that rows are sorted by. */
size_t pmp_view_sort_column(const struct pmp_view *view);
/** Several processes are shown. */
bool pmp_view_is_several(const struct pmp_view *view);

/* ---- searching: search.c ---------------------------------------------------------- */

/** Search for a pattern, "": for nothing. False: it is none, and *problem says why. */
bool pmp_search_set(struct pmp_view *view, const char *text, char *problem, size_t size);
/** From a row on in a direction, and round; what is found is chosen. */
void pmp_search_begin(struct pmp_view *view, long from, int step, bool returns);
/** Until that time; see pmp_model_is_late(). */
void pmp_search_go_on(struct pmp_view *view, uint64_t until);
/** Is that name what is searched for? */
bool pmp_search_has_name(struct pmp_view *view, uint32_t name);

/** Choose a row: it is followed from now on. */
void pmp_view_move_to(struct pmp_view *view, long at);

/* ---- parts of the drawing --------------------------------------------------------- */

/** Lines about the stack of a row; top is the first shown. Returns how many there are. */
size_t pmp_details_draw(struct pmp_view *view, struct pmp_canvas *canvas,
			const struct pmp_row *row, int first, int rows, size_t top);
/** The heading of them. */
void pmp_details_title(const struct pmp_view *view, const struct pmp_row *row, char *buffer,
		       size_t size);
/** Returns how many lines the help has. */
size_t pmp_help_draw(struct pmp_canvas *canvas, int first, int rows, size_t top);
/** Lines of the header, as many as there is room for; returns them. */
int pmp_header_draw(const struct pmp_view *view, struct pmp_canvas *canvas, int rows);
/** The same of a saved profile: where it comes from. */
int pmp_header_draw_saved(const struct pmp_view *view, struct pmp_canvas *canvas, int rows);

/** Settings as lines "name value". Returns false at what it does not understand. */
bool pmp_settings_take(struct pmp_settings *settings, const char *line);
/** Into a buffer; returns its length. */
size_t pmp_settings_print(const struct pmp_settings *settings, char *buffer, size_t size);

#endif
