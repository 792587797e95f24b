/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Styles of cells, independent of what they are drawn on. */
#ifndef PMP_ROWS_STYLE_H
#define PMP_ROWS_STYLE_H

/* One colour and any of the others. */
enum {
	STYLE_PLAIN = 0,
	STYLE_GREEN = 1,
	STYLE_RED = 2,
	STYLE_YELLOW = 3,
	STYLE_BLUE = 4,
	STYLE_CYAN = 5,
	STYLE_COLOURS = 7,
	STYLE_REVERSE = 8,
	STYLE_BOLD = 16,
	STYLE_DIM = 32,
};

#endif
