/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The terminal: the only file that knows curses. What was there before is there again
 * after pmp_screen_close(), after a signal that ends pmp at once, and after a crash.
 */
#ifndef PMP_PMP_VIEW_SCREEN_H
#define PMP_PMP_VIEW_SCREEN_H

#include "canvas.h"

#include <stdbool.h>

struct pmp_screen;

struct pmp_screen_event {
	int key; /* of keys.h; 0 for the mouse */
	int row, column, wheel; /* of the mouse: -1 up, 1 down, 0 a click */
};

/**
 * Take the terminal over. input is where keys come from, output the terminal. NULL:
 * this terminal cannot be drawn on (its description is missing or says it is dumb).
 * colours: if it has them.
 */
struct pmp_screen *pmp_screen_open(int input, int output, bool colours);
void pmp_screen_close(struct pmp_screen *screen);

/** Where keys come from, for poll(). */
int pmp_screen_input(const struct pmp_screen *screen);
/** Size of the terminal; false if it has not changed since the last call. */
bool pmp_screen_size(struct pmp_screen *screen, int *rows, int *columns);
/** Bring a canvas onto the terminal; again: draw everything. */
void pmp_screen_draw(struct pmp_screen *screen, const struct pmp_canvas *canvas, bool again);
/** The next key or click that has come. False: none. */
bool pmp_screen_next(struct pmp_screen *screen, struct pmp_screen_event *event);
/** Whose is the mouse? */
void pmp_screen_mouse(struct pmp_screen *screen, bool wanted);
/** Give the terminal back for a while, and take it again. */
void pmp_screen_suspend(struct pmp_screen *screen);
void pmp_screen_resume(struct pmp_screen *screen);

/** To be called once by each other thread: gives it back when that one's stack is full. */
void pmp_screen_guard(void);

/** Give it back for good, from a signal handler; nothing happens without a screen. */
void pmp_screen_restore(void);

#endif
