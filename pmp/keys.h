/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The keys of the live view: one table, from which its help is made as well. */
#ifndef PMP_PMP_KEYS_H
#define PMP_PMP_KEYS_H

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

enum pmp_action {
	PMP_ACTION_NONE,
	PMP_ACTION_STACKS, /* the five views, in their order */
	PMP_ACTION_FUNCTIONS,
	PMP_ACTION_TREE,
	PMP_ACTION_THREADS,
	PMP_ACTION_LOCKS,
	PMP_ACTION_NEXT_VIEW,
	PMP_ACTION_UP,
	PMP_ACTION_DOWN,
	PMP_ACTION_PAGE_UP,
	PMP_ACTION_PAGE_DOWN,
	PMP_ACTION_HOME,
	PMP_ACTION_END,
	PMP_ACTION_LEFT,
	PMP_ACTION_RIGHT,
	PMP_ACTION_ENTER,
	PMP_ACTION_HOT_PATH,
	PMP_ACTION_INVERT,
	PMP_ACTION_SORT_LEFT,
	PMP_ACTION_SORT_RIGHT,
	PMP_ACTION_SORT_REVERSE,
	PMP_ACTION_SEARCH,
	PMP_ACTION_SEARCH_NEXT,
	PMP_ACTION_SEARCH_BACK,
	PMP_ACTION_FILTER_FRAMES,
	PMP_ACTION_FILTER_THREADS,
	PMP_ACTION_IDLE,
	PMP_ACTION_GROUP,
	PMP_ACTION_SPLIT,
	PMP_ACTION_WINDOW,
	PMP_ACTION_SHARE,
	PMP_ACTION_LINES,
	PMP_ACTION_NAMES,
	PMP_ACTION_WAIT,
	PMP_ACTION_REFRESH,
	PMP_ACTION_PAUSE,
	PMP_ACTION_FASTER,
	PMP_ACTION_SLOWER,
	PMP_ACTION_INTERVAL,
	PMP_ACTION_RESET,
	PMP_ACTION_WRITE,
	PMP_ACTION_SAVE,
	PMP_ACTION_MOUSE,
	PMP_ACTION_REDRAW,
	PMP_ACTION_HELP,
	PMP_ACTION_BACK,
	PMP_ACTION_QUIT,
};

#define PMP_KEYS_OF_ACTION 4

struct pmp_key {
	const char *title; /* begins a part of the help; NULL: goes on */
	enum pmp_action action;
	int keys[PMP_KEYS_OF_ACTION]; /* 0: no more */
	const char *label;	      /* as the help shows them */
	const char *help;
	const char *hint; /* of the line at the bottom; NULL: not there */
};

size_t pmp_key_count(void);
const struct pmp_key *pmp_key(size_t i);
/** What a key means, or PMP_ACTION_NONE. */
enum pmp_action pmp_key_action(int key);

#endif
