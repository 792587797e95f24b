/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A screen in memory: what views draw on. screen.c brings it onto a terminal, tests
 * and dumb terminals read it as text.
 */
#ifndef PMP_PMP_VIEW_CANVAS_H
#define PMP_PMP_VIEW_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Looks; a colour and any of the others. */
enum {
	PMP_LOOK_PLAIN = 0,
	PMP_LOOK_GREEN = 1,
	PMP_LOOK_RED = 2,
	PMP_LOOK_YELLOW = 3,
	PMP_LOOK_BLUE = 4,
	PMP_LOOK_CYAN = 5,
	PMP_LOOK_COLOURS = 7,
	PMP_LOOK_REVERSE = 8,
	PMP_LOOK_BOLD = 16,
	PMP_LOOK_DIM = 32,
};

struct pmp_cell {
	uint32_t character; /* 0: the right half of the wide one before it */
	uint8_t look;
};

struct pmp_canvas {
	int rows, columns;
	struct pmp_cell *cells;
};

/** Make it this large and blank; sizes below 1 count as 1. False: no memory. */
bool pmp_canvas_resize(struct pmp_canvas *canvas, int rows, int columns);
void pmp_canvas_free(struct pmp_canvas *canvas);
void pmp_canvas_clear(struct pmp_canvas *canvas);

/**
 * Draw text, UTF-8, within at most width columns (< 0: to the edge). Anything that is
 * outside is cut off; what a terminal cannot show becomes '?'. Returns the columns used.
 */
int pmp_canvas_text(struct pmp_canvas *canvas, int row, int column, int width,
		    unsigned look, const char *text);
__attribute__((format(printf, 6, 7))) int pmp_canvas_print(struct pmp_canvas *canvas, int row,
							   int column, int width,
							   unsigned look,
							   const char *format, ...);
/** Give width columns a look, whatever is in them. */
void pmp_canvas_look(struct pmp_canvas *canvas, int row, int column, int width,
		     unsigned look);

/** The columns that text takes. */
int pmp_canvas_width(const char *text);
/** Take one character off UTF-8 text; what is none is '?'. 0 at the end. */
uint32_t pmp_canvas_next(const char **text);
/** Append a character to text as UTF-8 if there is room. */
void pmp_canvas_append(char *text, size_t size, uint32_t character);

/** A row as text without blanks at its end; returns buffer. */
char *pmp_canvas_line(const struct pmp_canvas *canvas, int row, char *buffer, size_t size);

#endif
