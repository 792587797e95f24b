/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Filling a struct pmp_error, which is on the caller's stack. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define CAUSE_SIZE 64 /* reserved for the text of an errno */

/* Truncated text must not end within a UTF-8 sequence. */
static void trim(char *text, size_t length)
{
	while (length && (text[length - 1] & 0xc0) == 0x80)
		length--;
	if (length && (text[length - 1] & 0x80))
		length--;
	text[length] = '\0';
}

/* Formats into a temporary buffer, because arguments may point into the
 * destination: that is how a message is prepended to another one. */
__attribute__((format(printf, 3, 0))) static void
format_text(char *text, size_t size, const char *format, va_list args)
{
	char made[sizeof(((struct pmp_error *)0)->message)];
	int length;

	length = vsnprintf(made, size, format, args);
	if (length < 0)
		made[0] = '\0';
	else if ((size_t)length >= size)
		trim(made, size - 1);
	memcpy(text, made, strlen(made) + 1);
}

int pmp_error_set(struct pmp_error *err, int code, const char *format, ...)
{
	va_list args;

	if (!err)
		return code;
	va_start(args, format);
	format_text(err->message, sizeof(err->message), format, args);
	va_end(args);
	err->code = code;
	err->sys_errno = 0;
	err->hint[0] = '\0';
	return code;
}

int pmp_error_sys(struct pmp_error *err, int code, int sys_errno, const char *format, ...)
{
	const char *cause = strerror(sys_errno);
	size_t length;
	va_list args;

	if (!err)
		return code;
	/* A long message is truncated, but not its cause. */
	va_start(args, format);
	format_text(err->message, sizeof(err->message) - CAUSE_SIZE, format, args);
	va_end(args);
	length = strlen(err->message);
	snprintf(err->message + length, sizeof(err->message) - length, ": %s", cause);
	err->code = code;
	err->sys_errno = sys_errno;
	err->hint[0] = '\0';
	return code;
}

void pmp_error_hint(struct pmp_error *err, const char *format, ...)
{
	va_list args;

	if (!err)
		return;
	va_start(args, format);
	format_text(err->hint, sizeof(err->hint), format, args);
	va_end(args);
}

int pmp_error_nomem(struct pmp_error *err, const char *what)
{
	return pmp_error_set(err, PMP_ENOMEM, "%s: not enough memory", what);
}
