/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages on standard error, and exit statuses. */
#ifndef PMP_SAY_MESSAGE_H
#define PMP_SAY_MESSAGE_H

#include "libpmp.h"

#include <stdbool.h>

enum exit_status {
	PMP_EXIT_OK = 0,
	PMP_EXIT_FAILED = 1, /* anything not below */
	PMP_EXIT_USAGE = 2,
	PMP_EXIT_GONE = 3, /* no such process, or it ended before the first sample */
	PMP_EXIT_DENIED = 4,
	PMP_EXIT_OUTPUT = 5,
	PMP_EXIT_SELF = 125, /* pmp itself failed, with -- COMMAND */
	PMP_EXIT_NOEXEC = 126,
	PMP_EXIT_NOTFOUND = 127,
	PMP_EXIT_SIGNAL = 128, /* plus the signal's number */
};

/**
 * quiet: do not show notes. All messages are also appended to the file log, unless it is
 * NULL. Returns 0, or the status to exit with: the log cannot be written.
 */
int message_settings(bool quiet, const char *log);
/** Highlight the words that messages begin with? */
void message_color(bool color);

/** Messages begin with this place, "FILE:LINE" or a variable, until it is set to NULL. */
void message_place(const char *place);

/** Are notes shown or logged? */
bool message_heard(void);

/**
 * Print "pmp: TEXT" and, unless hint is NULL or empty, a line "hint: HINT", in one write.
 * Both are escaped for a terminal.
 */
void message_print(const char *hint, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/** Like message_print(), for notes, which are no errors. */
void message_note(const char *hint, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/** Like message_note(), for a missing target: with quiet and a log, it is only logged. */
void message_absent(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Append a line to the log; shown: print it too. */
void message_log(bool shown, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/** Like message_print(), for an error of the library. */
void message_error(const struct pmp_error *err);

/** Fill *err with the text and, unless number is 0, ": " and the words of that errno.
 * Returns code. */
int message_fill(struct pmp_error *err, int code, int number, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/**
 * Pass messages to a function instead of printing them: as text, and as lines for
 * message_lines() to print later. NULL: print messages again.
 */
void message_divert(void (*take)(void *arg, const char *text, const char *line),
		    void *arg);
/** Call this before anything is written to standard error. */
void message_before(void (*clear)(void));

void message_lines(const char *lines);

/** The exit status for an error code of the library. */
enum exit_status message_status(int code);

/**
 * Print a debug line of the library (see the log callbacks of libpmp.h). areas: the value
 * of PMP_DEBUG, which is words separated by commas, or "all".
 */
void message_debug(void *areas, const char *area, const char *line);

#endif
