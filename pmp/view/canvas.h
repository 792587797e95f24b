/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A screen in memory, on which views draw. screen.c puts it on a terminal; tests and dumb
 * terminals read it as text.
 */
#ifndef PMP_VIEW_CANVAS_H
#define PMP_VIEW_CANVAS_H

#include "rows/style.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cell {
	uint32_t character; /* 0: right half of the wide character before it */
	uint8_t style;
};

struct canvas {
	int rows, columns;
	struct cell *cells;
};

/** Resize and clear; sizes below 1 count as 1. False: no memory. */
bool canvas_resize(struct canvas *canvas, int rows, int columns);
void canvas_free(struct canvas *canvas);
void canvas_clear(struct canvas *canvas);

/**
 * Draw UTF-8 text in at most width columns (< 0: up to the edge). What is outside is cut
 * off; characters that a terminal cannot show become '?'. Returns the columns used.
 */
int canvas_text(struct canvas *canvas, int row, int column, int width, unsigned style,
		const char *text);
__attribute__((format(printf, 6, 7))) int canvas_print(struct canvas *canvas, int row,
						       int column, int width,
						       unsigned style, const char *format,
						       ...);
/** Set the style of width columns, whatever they contain. */
void canvas_style(struct canvas *canvas, int row, int column, int width, unsigned style);

/** The columns that a text takes up. */
int canvas_width(const char *text);
/** Take one character off UTF-8 text; invalid bytes give '?'. 0 at the end. */
uint32_t canvas_next(const char **text);
/** Skip the first columns of a text. */
const char *canvas_skip(const char *text, int columns);
/** Append a character to text as UTF-8, if there is room. */
void canvas_append(char *text, size_t size, uint32_t character);

/** A row as text, without trailing blanks; returns buffer. */
char *canvas_line(const struct canvas *canvas, int row, char *buffer, size_t size);

/* Some rows of a canvas that show a part of a longer list of lines. */
struct canvas_part {
	struct canvas *canvas;
	int first, rows;
	size_t top;   /* line shown in the first row */
	size_t count; /* lines so far */
};

/** The row for the next line, or -1: the line is not visible. */
int canvas_part_next(struct canvas_part *part);

#endif
