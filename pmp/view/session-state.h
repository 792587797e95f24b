/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A view at work, for the files that share it: session.c and view-actions.c. */
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
	struct screen *screen; /* NULL: not yet, or text */
	struct canvas canvas;
	struct view view;
	bool ready, shown, text, mouse, dirty;
	bool heap_read; /* there is news of a heap that was to be read */
	/* Of heaps: what is being named, and what is shown; NULL: nothing. */
	struct heap_naming *heap_naming, *heap_shown;
	bool refreshing; /* rows are being made, because it was time for it */
	int tty;	 /* opened for keys, or -1 */
	uint64_t next_refresh, last_refresh;
	uint64_t next_look; /* for other processes, in the view of locks */
	char title[256];
	char said[SAID_SIZE]; /* messages, to be printed at the end */
	char waiting[256]; /* one that has not been on the screen, as another one was */
};

/** What the view has done for it; the argument is the session. */
extern const struct view_actions view_actions;

#endif
