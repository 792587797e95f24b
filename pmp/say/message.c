/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages. Each is one write to standard error, so that it does not mix with those of
 * the sampler and of other programs. If there is a log, it gets them too.
 */
#include "say/message.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "say/log.h"

#define TEXT_SIZE 1024
#define LINE_SIZE (3 * TEXT_SIZE)
#define AREA_SIZE 64
#define PLACE_SIZE 512

/* Where messages go while a screen is shown. */
static struct {
	void (*take)(void *arg, const char *text, const char *line);
	void *arg;
} diverted;

/* Settings, made once before the run. */
static struct {
	bool quiet, color;
	char log[PATH_MAX]; /* empty: none */
	bool log_failed;
	char place[PLACE_SIZE]; /* what messages refer to, in a file; or empty */
} settings;
/* Called before each message. */
static void (*clear_first)(void);

/* Standard error is the last resort: if it cannot be written, the text is lost. */
static void emit(const char *text, size_t length)
{
	ssize_t n;

	if (clear_first)
		clear_first();
	n = write(STDERR_FILENO, text, length);
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
	const bool color = settings.color && !diverted.take;
	const char *on = color ? "\033[1m" : "", *off = color ? "\033[m" : "";
	int n;

	pmp_escape(text, safe, sizeof(safe));
	if (hint && *hint)
		n = snprintf(line, sizeof(line), "%spmp:%s %s\n%shint:%s %s\n", on, off,
			     safe, on, off,
			     pmp_escape(hint, safe_hint, sizeof(safe_hint)));
	else
		n = snprintf(line, sizeof(line), "%spmp:%s %s\n", on, off, safe);
	if (diverted.take)
		diverted.take(diverted.arg, safe, line);
	else
		emit(line, bounded(n, sizeof(line)));
}

static const char *log_problem(int number)
{
	switch (number) {
	case LOG_LINK:
		return "it is a symbolic link in a directory that others may write to";
	case LOG_FOREIGN:
		return "it is not a file of yours alone, in a directory that others may write to";
	case LOG_NO_FILE: return "it is neither a file nor a device";
	default: return strerror(number);
	}
}

static void cannot_log(const char *path, int number)
{
	char text[TEXT_SIZE];

	snprintf(text, sizeof(text), "cannot write the log %.800s: %s", path,
		 log_problem(number));
	print(text, NULL);
}

static void log_line(const char *text, const char *hint)
{
	char safe[TEXT_SIZE], safe_hint[TEXT_SIZE], line[LINE_SIZE];
	const char *path = settings.log;
	int number;

	if (!*path)
		return;
	pmp_escape(text, safe, sizeof(safe));
	if (hint && *hint)
		snprintf(line, sizeof(line), "%s (%s)", safe,
			 pmp_escape(hint, safe_hint, sizeof(safe_hint)));
	number = log_append(path, hint && *hint ? line : safe);
	if (!number)
		return;
	/* Say so once; later lines may find room again. */
	if (!settings.log_failed)
		cannot_log(path, number);
	settings.log_failed = true;
}

void message_divert(void (*take)(void *arg, const char *text, const char *line),
		    void *arg)
{
	diverted.take = take;
	diverted.arg = arg;
}

void message_before(void (*clear)(void))
{
	clear_first = clear;
}

void message_lines(const char *lines)
{
	emit(lines, strlen(lines));
}

int message_settings(bool quiet, const char *log)
{
	int number = log ? log_append(log, NULL) : 0;

	settings.quiet = quiet;
	if (number) {
		cannot_log(log, number);
		return PMP_EXIT_OUTPUT;
	}
	snprintf(settings.log, sizeof(settings.log), "%s", log ? log : "");
	return 0;
}

void message_color(bool color)
{
	settings.color = color;
}

void message_place(const char *place)
{
	snprintf(settings.place, sizeof(settings.place), "%s", place ? place : "");
}

bool message_heard(void)
{
	return !settings.quiet || *settings.log;
}

/* shown: print it, not only to the log. */
__attribute__((format(printf, 3, 0))) static void say(bool shown, const char *hint,
						      const char *format, va_list args)
{
	char text[TEXT_SIZE];
	int n = 0;

	if (settings.place[0])
		n = snprintf(text, sizeof(text), "%s: ", settings.place);
	vsnprintf(text + n, sizeof(text) - (size_t)n, format, args);
	if (shown)
		print(text, hint);
	log_line(text, hint);
}

void message_print(const char *hint, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(true, hint, format, args);
	va_end(args);
}

void message_error(const struct pmp_error *err)
{
	print(err->message, err->hint);
	log_line(err->message, err->hint);
}

void message_note(const char *hint, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(!settings.quiet, hint, format, args);
	va_end(args);
}

void message_absent(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(!settings.quiet || !*settings.log, NULL, format, args);
	va_end(args);
}

void message_log(bool shown, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(shown, NULL, format, args);
	va_end(args);
}

int message_fill(struct pmp_error *err, int code, int number, const char *format, ...)
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

enum exit_status message_status(int code)
{
	switch (code) {
	case PMP_OK: return PMP_EXIT_OK;
	case PMP_EINVAL: return PMP_EXIT_USAGE;
	case PMP_ESRCH: return PMP_EXIT_GONE;
	case PMP_EPERM: return PMP_EXIT_DENIED;
	default: return PMP_EXIT_FAILED;
	}
}

/* Is word one of the words in a comma-separated list? */
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

void message_debug(void *areas, const char *area, const char *line)
{
	char safe[TEXT_SIZE], safe_area[AREA_SIZE], text[LINE_SIZE];
	int n;

	if (!listed(areas, area) && !listed(areas, "all"))
		return;
	n = snprintf(text, sizeof(text), "pmp: %s: %s\n",
		     pmp_escape(area, safe_area, sizeof(safe_area)),
		     pmp_escape(line, safe, sizeof(safe)));
	emit(text, bounded(n, sizeof(text)));
}
