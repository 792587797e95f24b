/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Questions in the bottom line. */
#ifndef PMP_VIEW_PROMPT_H
#define PMP_VIEW_PROMPT_H

#include "view/view.h"

struct prompt {
	const char *question;
	/* On Enter, with the answer in view->input. False: it is wrong, as view_say()
	 * has said. */
	bool (*take)(struct view *view);
	void (*type)(struct view *view); /* after each letter; NULL: nothing */
};

extern const struct prompt prompt_search, prompt_frames, prompt_threads, prompt_interval,
	prompt_no_deadlock, prompt_file;

/** Ask a question, with a preset answer. */
void prompt_begin(struct view *view, const struct prompt *prompt, const char *text);
/** Handle a key while a question is asked. */
void prompt_key(struct view *view, int key);
void prompt_draw(const struct view *view, struct canvas *canvas, int row);

#endif
