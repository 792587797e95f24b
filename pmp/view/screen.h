/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The terminal: the only file that knows curses. The terminal is restored by
 * screen_close(), and when a signal or a crash ends pmp.
 */
#ifndef PMP_VIEW_SCREEN_H
#define PMP_VIEW_SCREEN_H

#include "view/canvas.h"

#include <stdbool.h>

struct screen;

struct screen_event {
	int key;		/* see key-codes.h; 0 for the mouse */
	int row, column, wheel; /* of the mouse; wheel: -1 up, 1 down, 0 click */
};

/**
 * Take over the terminal. Keys are read from input, output is the terminal. colours: use
 * them if it has any. NULL: the terminal cannot be drawn on (its description is missing
 * or says that it is dumb).
 */
struct screen *screen_open(int input, int output, bool colours);
void screen_close(struct screen *screen);

/** The descriptor for keys, for poll(). */
int screen_input(const struct screen *screen);
/** The size of the terminal; false if unchanged since the last call. */
bool screen_size(struct screen *screen, int *rows, int *columns);
/** Show a canvas on the terminal; again: redraw everything. */
void screen_draw(struct screen *screen, const struct canvas *canvas, bool again);
/** The next key or click. False: none. */
bool screen_next(struct screen *screen, struct screen_event *event);
/** Take the mouse, or leave it to the terminal. */
void screen_mouse(struct screen *screen, bool wanted);
/** Give the terminal back temporarily, and take it over again. */
void screen_suspend(struct screen *screen);
void screen_resume(struct screen *screen);

/** Call it once in each other thread: restores the terminal if that one's
 * stack overflows. */
void screen_guard(void);

/** Restore the terminal for good, from a signal handler; does nothing without a screen. */
void screen_restore(void);

#endif
