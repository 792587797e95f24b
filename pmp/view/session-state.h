/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of a running view, shared by session.c, view-actions.c and read-heap.c. */
#ifndef PMP_VIEW_SESSION_STATE_H
#define PMP_VIEW_SESSION_STATE_H

#include "view/naming.h"
#include "view/screen.h"
#include "view/view.h"

#include <stdbool.h>
#include <stdint.h>

#define SAID_SIZE 8192

struct heap_naming;
struct sink;

struct session {
	struct sink *sink; /* borrowed */
	struct naming *naming;
	struct screen *screen; /* NULL: not opened yet, or text */
	struct canvas canvas;
	struct view view;
	bool ready, shown, text, mouse, dirty;
	bool heap_read; /* reading a heap has failed */
	/* Heaps: the one being named, and the one shown; or NULL. */
	struct heap_naming *heap_naming, *heap_shown;
	bool refreshing; /* a periodic refresh is making rows */
	int tty;	 /* opened to read keys, or -1 */
	uint64_t next_refresh, last_refresh;
	uint64_t next_look; /* for other processes, in the view of locks */
	char title[256];
	char said[SAID_SIZE]; /* messages to print at the end */
	char waiting[256];    /* a message that waits for another one to go */
};

/** What the view delegates; the argument is the session. */
extern const struct view_actions view_actions;

#endif
