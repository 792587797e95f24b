/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The help, made from the table of keys. */
#include "view/keys.h"
#include "view/view.h"

#define LABEL_WIDTH 10

static const char *const about[] = {
	"",
	"States: R runs, S sleeps, D waits for a device, L waits for a lock, T is stopped.",
	"% is the share of all stacks that were taken; SELF without what a function calls.",
	"Stacks of the bottom part: a thread that was seen with the chosen row most.",
};

#define ABOUT_COUNT (sizeof(about) / sizeof(*about))

static void draw_text(struct canvas_part *part, unsigned style, const char *text)
{
	int row = canvas_part_next(part);

	if (row >= 0)
		canvas_text(part->canvas, row, 0, -1, style, text);
}

static void draw_key(struct canvas_part *part, const char *label, const char *help)
{
	int row = canvas_part_next(part);

	if (row < 0)
		return;
	canvas_text(part->canvas, row, 2, LABEL_WIDTH, STYLE_BOLD, label);
	canvas_text(part->canvas, row, 2 + LABEL_WIDTH, -1, 0, help);
}

static void draw_views(struct canvas_part *part)
{
	for (size_t i = 0; i < view_type_count(); i++) {
		const char label[] = { (char)view_type_at(i)->key, '\0' };

		draw_key(part, label, view_type_at(i)->help);
	}
}

size_t help_draw(struct canvas *canvas, int first, int rows, size_t top)
{
	struct canvas_part part = { canvas, first, rows, top, 0 };

	for (size_t i = 0; i < key_count(); i++) {
		const struct key_binding *key = key_at(i);

		if (key->title)
			draw_text(&part, STYLE_CYAN | STYLE_BOLD, key->title);
		if (key->keys[0])
			draw_key(&part, key->label, key->help);
		else
			draw_views(&part);
	}
	for (size_t i = 0; i < ABOUT_COUNT; i++)
		draw_text(&part, 0, about[i]);
	return part.count;
}
