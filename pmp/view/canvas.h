/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A screen in memory: what views draw on. screen.c brings it onto a terminal, tests
 * and dumb terminals read it as text.
 */
#ifndef PMP_VIEW_CANVAS_H
#define PMP_VIEW_CANVAS_H

#include "rows/style.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cell {
	uint32_t character; /* 0: the right half of the wide one before it */
	uint8_t style;
};

struct canvas {
	int rows, columns;
	struct cell *cells;
};

/** Make it this large and blank; sizes below 1 count as 1. False: no memory. */
bool canvas_resize(struct canvas *canvas, int rows, int columns);
void canvas_free(struct canvas *canvas);
void canvas_clear(struct canvas *canvas);

/**
 * Draw text, UTF-8, within at most width columns (< 0: to the edge). Anything that is
 * outside is cut off; what a terminal cannot show becomes '?'. Returns the columns used.
 */
int canvas_text(struct canvas *canvas, int row, int column, int width, unsigned style,
		const char *text);
__attribute__((format(printf, 6, 7))) int canvas_print(struct canvas *canvas, int row,
						       int column, int width,
						       unsigned style, const char *format,
						       ...);
/** Give width columns a style, whatever is in them. */
void canvas_style(struct canvas *canvas, int row, int column, int width, unsigned style);

/** The columns that text takes. */
int canvas_width(const char *text);
/** Take one character off UTF-8 text; what is none is '?'. 0 at the end. */
uint32_t canvas_next(const char **text);
/** Past the first columns of a text. */
const char *canvas_skip(const char *text, int columns);
/** Append a character to text as UTF-8 if there is room. */
void canvas_append(char *text, size_t size, uint32_t character);

/** A row as text without blanks at its end; returns buffer. */
char *canvas_line(const struct canvas *canvas, int row, char *buffer, size_t size);

/* Some rows of a canvas, through which more lines are seen than there is room for. */
struct canvas_part {
	struct canvas *canvas;
	int first, rows;
	size_t top;   /* the line in the first row */
	size_t count; /* lines so far */
};

/** The row for one more line, or -1: it is not among those that are seen. */
int canvas_part_next(struct canvas_part *part);

#endif
