/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The keys of the live view: one table of what they do, with their help. */
#ifndef PMP_VIEW_KEYS_H
#define PMP_VIEW_KEYS_H

#include <stdbool.h>
#include <stddef.h>

#define KEYS_MAX 4 /* keys that do the same */

struct view;

struct key_binding {
	const char *title;  /* begins a section of the help; NULL: same section */
	int keys[KEYS_MAX]; /* ends with 0; none at all: the keys of the views */
	const char *label;  /* as in the help */
	const char *help;
	const char *hint;    /* for the bottom line; NULL: not there */
	bool always;	     /* show the hint at any width */
	const char *unsaved; /* why it does nothing for a saved profile; NULL: works */
	void (*run)(struct view *view);
};

size_t key_count(void);
const struct key_binding *key_at(size_t i);
/** The binding of a key, or NULL: the key has none, or selects a view. */
const struct key_binding *key_find(int key);

#endif
