/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The terminal: the only file that knows curses. What was there before is there again
 * after screen_close(), after a signal that ends pmp at once, and after a crash.
 */
#ifndef PMP_VIEW_SCREEN_H
#define PMP_VIEW_SCREEN_H

#include "view/canvas.h"

#include <stdbool.h>

struct screen;

struct screen_event {
	int key;		/* of keys.h; 0 for the mouse */
	int row, column, wheel; /* of the mouse: -1 up, 1 down, 0 a click */
};

/**
 * Take the terminal over. input is where keys come from, output the terminal. NULL:
 * this terminal cannot be drawn on (its description is missing or says it is dumb).
 * colours: if it has them.
 */
struct screen *screen_open(int input, int output, bool colours);
void screen_close(struct screen *screen);

/** Where keys come from, for poll(). */
int screen_input(const struct screen *screen);
/** Size of the terminal; false if it has not changed since the last call. */
bool screen_size(struct screen *screen, int *rows, int *columns);
/** Bring a canvas onto the terminal; again: draw everything. */
void screen_draw(struct screen *screen, const struct canvas *canvas, bool again);
/** The next key or click that has come. False: none. */
bool screen_next(struct screen *screen, struct screen_event *event);
/** Whose is the mouse? */
void screen_mouse(struct screen *screen, bool wanted);
/** Give the terminal back for a while, and take it again. */
void screen_suspend(struct screen *screen);
void screen_resume(struct screen *screen);

/** To be called once by each other thread: gives it back when that one's stack is full. */
void screen_guard(void);

/** Give it back for good, from a signal handler; nothing happens without a screen. */
void screen_restore(void);

#endif
