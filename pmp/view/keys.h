/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The keys of the live view: one table of what each does, and of its help. */
#ifndef PMP_VIEW_KEYS_H
#define PMP_VIEW_KEYS_H

#include <stdbool.h>
#include <stddef.h>

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
