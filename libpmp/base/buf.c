/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A growing byte buffer with a sticky failure. */
#include "base/buf.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Make room for length more bytes and a NUL; false once anything has failed. */
static bool reserve(struct pmp_buf *buf, size_t length)
{
	if (buf->failed)
		return false;
	if (length > SIZE_MAX - 1 - buf->length ||
	    PMP_RESERVE(&buf->data, &buf->capacity, buf->length + length + 1))
		buf->failed = true;
	return !buf->failed;
}

void pmp_buf_free(struct pmp_buf *buf)
{
	free(buf->data);
	*buf = (struct pmp_buf){ 0 };
}

void pmp_buf_clear(struct pmp_buf *buf)
{
	buf->length = 0;
	if (buf->data)
		buf->data[0] = '\0';
}

void pmp_buf_add(struct pmp_buf *buf, const void *data, size_t length)
{
	if (!reserve(buf, length))
		return;
	if (length)
		memcpy(buf->data + buf->length, data, length);
	buf->length += length;
	buf->data[buf->length] = '\0';
}

char *pmp_buf_extend(struct pmp_buf *buf, size_t length)
{
	if (!reserve(buf, length))
		return NULL;
	buf->length += length;
	buf->data[buf->length] = '\0';
	return buf->data + buf->length - length;
}

void pmp_buf_cut(struct pmp_buf *buf, size_t length)
{
	if (length >= buf->length)
		return;
	buf->length = length;
	buf->data[length] = '\0';
}

void pmp_buf_puts(struct pmp_buf *buf, const char *text)
{
	pmp_buf_add(buf, text, strlen(text));
}

void pmp_buf_putc(struct pmp_buf *buf, char c)
{
	pmp_buf_add(buf, &c, 1);
}

void pmp_buf_printf(struct pmp_buf *buf, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	pmp_buf_vprintf(buf, format, args);
	va_end(args);
}

void pmp_buf_vprintf(struct pmp_buf *buf, const char *format, va_list args)
{
	va_list again;
	size_t room;
	int length;

	if (!reserve(buf, 0))
		return;
	room = buf->capacity - buf->length;
	va_copy(again, args);
	length = vsnprintf(buf->data + buf->length, room, format, args);
	if (length < 0)
		buf->failed = true;
	else if ((size_t)length >= room && reserve(buf, (size_t)length))
		vsnprintf(buf->data + buf->length, (size_t)length + 1, format, again);
	va_end(again);
	if (!buf->failed)
		buf->length += (size_t)length;
	buf->data[buf->length] = '\0';
}

void pmp_buf_fail(struct pmp_buf *buf)
{
	buf->failed = true;
}

bool pmp_buf_failed(const struct pmp_buf *buf)
{
	return buf->failed;
}
