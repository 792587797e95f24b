/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages: the only file that writes to standard error. Each message is one
 * write, so that those of the sampler and of other programs do not mix with it.
 */
#include "message.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TEXT_SIZE 1024
#define LINE_SIZE (3 * TEXT_SIZE)

/* Where messages go while a screen is shown. */
static struct {
	void (*take)(void *arg, const char *text, const char *line);
	void *arg;
} diverted;

/* Standard error is the last resort: what cannot be written there is lost. */
static void emit(const char *text, size_t length)
{
	ssize_t n = write(STDERR_FILENO, text, length);

	(void)n;
}

static size_t bounded(int length, size_t size)
{
	if (length < 0)
		return 0;
	return (size_t)length < size ? (size_t)length : size - 1;
}

static void print(const char *text, const char *hint)
{
	char safe[TEXT_SIZE], safe_hint[TEXT_SIZE], line[LINE_SIZE];
	int n;

	pmp_escape(text, safe, sizeof(safe));
	if (hint && *hint)
		n = snprintf(line, sizeof(line), "pmp: %s\nhint: %s\n", safe,
			     pmp_escape(hint, safe_hint, sizeof(safe_hint)));
	else
		n = snprintf(line, sizeof(line), "pmp: %s\n", safe);
	if (diverted.take)
		diverted.take(diverted.arg, safe, line);
	else
		emit(line, bounded(n, sizeof(line)));
}

void pmp_message_divert(void (*take)(void *arg, const char *text, const char *line), void *arg)
{
	diverted.take = take;
	diverted.arg = arg;
}

void pmp_message_lines(const char *lines)
{
	emit(lines, strlen(lines));
}

void pmp_message_print(const char *hint, const char *format, ...)
{
	char text[TEXT_SIZE];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	print(text, hint);
}

void pmp_message_error(const struct pmp_error *err)
{
	print(err->message, err->hint);
}

int pmp_message_fill(struct pmp_error *err, int code, int number, const char *format, ...)
{
	va_list args;
	size_t length;

	*err = (struct pmp_error){ .code = code, .sys_errno = number };
	va_start(args, format);
	vsnprintf(err->message, sizeof(err->message), format, args);
	va_end(args);
	length = strlen(err->message);
	if (number)
		snprintf(err->message + length, sizeof(err->message) - length, ": %s",
			 strerror(number));
	return code;
}

enum pmp_exit pmp_message_status(int code)
{
	switch (code) {
	case PMP_OK: return PMP_EXIT_OK;
	case PMP_EINVAL: return PMP_EXIT_USAGE;
	case PMP_ESRCH: return PMP_EXIT_GONE;
	case PMP_EPERM: return PMP_EXIT_DENIED;
	default: return PMP_EXIT_FAILED;
	}
}

/* Is word one of the comma-separated words of list? */
static bool listed(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (;;) {
		size_t n = strcspn(list, ",");

		if (n == length && strncmp(list, word, n) == 0)
			return true;
		if (!list[n])
			return false;
		list += n + 1;
	}
}

void pmp_message_debug(void *areas, const char *area, const char *line)
{
	char safe[TEXT_SIZE], text[LINE_SIZE];
	int n;

	if (!listed(areas, area) && !listed(areas, "all"))
		return;
	n = snprintf(text, sizeof(text), "pmp: %s: %s\n", area,
		     pmp_escape(line, safe, sizeof(safe)));
	emit(text, bounded(n, sizeof(text)));
}
