/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The help, made from the table of keys; two columns where there is room. */
#include <stdio.h>

#include "../keys.h"
#include "view.h"

#define LABEL_WIDTH 10

static const char *const about[] = {
	"",
	"States: R runs, S sleeps, D waits for a device, L waits for a lock, T is stopped.",
	"% is the share of all stacks that were taken; SELF without what a function calls.",
	"Stacks of the bottom part: a thread that was seen with the chosen row most.",
};

#define ABOUT_COUNT (sizeof(about) / sizeof(*about))

static void draw_key(struct pmp_canvas *canvas, int row, const struct pmp_key *key)
{
	pmp_canvas_text(canvas, row, 2, LABEL_WIDTH, PMP_LOOK_BOLD, key->label);
	pmp_canvas_text(canvas, row, 2 + LABEL_WIDTH, -1, 0, key->help);
}

size_t pmp_help_draw(struct pmp_canvas *canvas, int first, int rows, size_t top)
{
	size_t line = 0;

	for (size_t i = 0; i < pmp_key_count(); i++) {
		const struct pmp_key *key = pmp_key(i);

		if (key->title) {
			if (line >= top && line < top + (size_t)rows)
				pmp_canvas_text(canvas, first + (int)(line - top), 0, -1,
						PMP_LOOK_CYAN | PMP_LOOK_BOLD, key->title);
			line++;
		}
		if (line >= top && line < top + (size_t)rows)
			draw_key(canvas, first + (int)(line - top), key);
		line++;
	}
	for (size_t i = 0; i < ABOUT_COUNT; i++, line++) {
		if (line >= top && line < top + (size_t)rows)
			pmp_canvas_text(canvas, first + (int)(line - top), 0, -1, 0, about[i]);
	}
	return line;
}
