/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The keys of the live view: one table of what each does, and of its help. */
#ifndef PMP_VIEW_KEYS_H
#define PMP_VIEW_KEYS_H

#include <stdbool.h>
#include <stddef.h>

/* Keys that are no characters; characters are their code points. */
enum {
	PMP_KEY_NONE = 0,
	PMP_KEY_TAB = 9,
	PMP_KEY_REDRAW = 12,
	PMP_KEY_ENTER = 13,
	PMP_KEY_CLEAR = 21,
	PMP_KEY_ESCAPE = 27,
	PMP_KEY_BACKSPACE = 127,
	PMP_KEY_SPECIAL = 0x110000,
	PMP_KEY_UP = PMP_KEY_SPECIAL,
	PMP_KEY_DOWN,
	PMP_KEY_LEFT,
	PMP_KEY_RIGHT,
	PMP_KEY_PAGE_UP,
	PMP_KEY_PAGE_DOWN,
	PMP_KEY_HOME,
	PMP_KEY_END,
	PMP_KEY_F1,
	PMP_KEY_F3,
	PMP_KEY_F4,
	PMP_KEY_F6,
	PMP_KEY_F9,
	PMP_KEY_F10,
	PMP_KEY_ALT, /* plus a character */
	PMP_KEY_MAX = PMP_KEY_ALT + 128,
};

#define KEYS_MAX 4 /* that do the same */

struct view;

struct key_binding {
	const char *title;  /* begins a part of the help; NULL: goes on */
	int keys[KEYS_MAX]; /* 0: no more; none at all: those of the views */
	const char *label;  /* as the help shows them */
	const char *help;
	const char *hint;    /* of the line at the bottom; NULL: not there */
	bool always;	     /* the hint is there on screens of any width */
	const char *unsaved; /* why it does nothing for a saved profile; NULL: it does */
	void (*run)(struct view *view);
};

size_t key_count(void);
const struct key_binding *key_at(size_t i);
/** The row of a key, or NULL: it is none, or that of a view. */
const struct key_binding *key_find(int key);

#endif
