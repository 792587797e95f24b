/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A screen in memory. Text is UTF-8 in any locale; widths are those of wcwidth(). */
#include "view/canvas.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define SIZE_MAX_OF_SCREEN 4096 /* rows or columns; terminals may claim anything */
#define TEXT_SIZE 8192

bool canvas_resize(struct canvas *canvas, int rows, int columns)
{
	struct cell *cells;

	rows = rows < 1 ? 1 : rows > SIZE_MAX_OF_SCREEN ? SIZE_MAX_OF_SCREEN : rows;
	columns = columns < 1			 ? 1
		  : columns > SIZE_MAX_OF_SCREEN ? SIZE_MAX_OF_SCREEN
						 : columns;
	if (!canvas->cells || rows != canvas->rows || columns != canvas->columns) {
		cells = reallocarray(canvas->cells, (size_t)rows * (size_t)columns,
				     sizeof(*cells));
		if (!cells)
			return false;
		*canvas = (struct canvas){ rows, columns, cells };
	}
	canvas_clear(canvas);
	return true;
}

void canvas_free(struct canvas *canvas)
{
	free(canvas->cells);
	*canvas = (struct canvas){ 0 };
}

void canvas_clear(struct canvas *canvas)
{
	size_t count = canvas->cells ? (size_t)canvas->rows * (size_t)canvas->columns : 0;

	for (size_t i = 0; i < count; i++)
		canvas->cells[i] = (struct cell){ ' ', 0 };
}

uint32_t canvas_next(const char **text)
{
	const unsigned char *at = (const unsigned char *)*text;
	uint32_t character = at[0];
	int more = at[0] >= 0xf0 ? 3 : at[0] >= 0xe0 ? 2 : at[0] >= 0xc0 ? 1 : 0;

	if (!at[0])
		return 0;
	*text += 1;
	if (at[0] < 0x80)
		return character;
	if (!more || at[0] > 0xf4)
		return '?';
	character &= 0x3fu >> more;
	for (int i = 1; i <= more; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return '?';
		character = character << 6 | (at[i] & 0x3f);
	}
	*text += more;
	return character;
}

const char *canvas_skip(const char *text, int columns)
{
	while (columns-- > 0 && canvas_next(&text))
		;
	return text;
}

void canvas_append(char *text, size_t size, uint32_t character)
{
	size_t length = strlen(text);
	int more = character < 0x80	 ? 0
		   : character < 0x800	 ? 1
		   : character < 0x10000 ? 2
					 : 3;
	static const unsigned char leads[] = { 0, 0xc0, 0xe0, 0xf0 };

	if (character > 0x10ffff || length + (size_t)more + 2 > size)
		return;
	text[length++] = (char)(leads[more] | character >> (6 * more));
	while (more-- > 0)
		text[length++] = (char)(0x80 | (character >> (6 * more) & 0x3f));
	text[length] = '\0';
}

/* The character to show, and its width. */
static uint32_t shown(uint32_t character, int *width)
{
	*width = 1;
	if (character >= ' ' && character < 0x7f)
		return character;
	*width = wcwidth((wchar_t)character);
	if (*width == 1 || *width == 2)
		return character;
	/* A combining mark has no column of its own. */
	if (*width == 0)
		return 0;
	*width = 1;
	return '?';
}

int canvas_width(const char *text)
{
	uint32_t character;
	int total = 0, width;

	while ((character = canvas_next(&text)) != 0) {
		shown(character, &width);
		total += width;
	}
	return total;
}

int canvas_text(struct canvas *canvas, int row, int column, int width, unsigned style,
		const char *text)
{
	int begin = column, end;
	uint32_t character;

	if (row < 0 || row >= canvas->rows || column < 0 || column >= canvas->columns)
		return 0;
	end = width < 0 || width > canvas->columns - column ? canvas->columns
							    : column + width;
	while (column < end && (character = canvas_next(&text)) != 0) {
		struct cell *cell = &canvas->cells[(size_t)row * (size_t)canvas->columns +
						   (size_t)column];
		int wide;

		character = shown(character, &wide);
		if (wide == 0)
			continue;
		if (column + wide > end)
			break;
		*cell = (struct cell){ character, (uint8_t)style };
		if (wide == 2)
			cell[1] = (struct cell){ 0, (uint8_t)style };
		column += wide;
	}
	return column - begin;
}

int canvas_print(struct canvas *canvas, int row, int column, int width, unsigned style,
		 const char *format, ...)
{
	char text[TEXT_SIZE];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return canvas_text(canvas, row, column, width, style, text);
}

void canvas_style(struct canvas *canvas, int row, int column, int width, unsigned style)
{
	if (row < 0 || row >= canvas->rows || column < 0)
		return;
	if (width < 0 || width > canvas->columns - column)
		width = canvas->columns - column;
	for (int i = column; i < column + width; i++)
		canvas->cells[(size_t)row * (size_t)canvas->columns + (size_t)i].style =
			(uint8_t)style;
}

char *canvas_line(const struct canvas *canvas, int row, char *buffer, size_t size)
{
	size_t length;

	buffer[0] = '\0';
	for (int i = 0; i < canvas->columns; i++) {
		uint32_t character =
			canvas->cells[(size_t)row * (size_t)canvas->columns + (size_t)i]
				.character;

		if (character)
			canvas_append(buffer, size, character);
	}
	length = strlen(buffer);
	while (length > 0 && buffer[length - 1] == ' ')
		buffer[--length] = '\0';
	return buffer;
}

int canvas_part_next(struct canvas_part *part)
{
	size_t at = part->count++;

	if (at < part->top || at - part->top >= (size_t)part->rows)
		return -1;
	return part->first + (int)(at - part->top);
}
