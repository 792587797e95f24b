/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What pmp says on standard error, and the statuses it ends with. */
#ifndef PMP_SAY_MESSAGE_H
#define PMP_SAY_MESSAGE_H

#include "libpmp.h"

#include <stdbool.h>

enum exit_status {
	PMP_EXIT_OK = 0,
	PMP_EXIT_FAILED = 1, /* anything not listed below */
	PMP_EXIT_USAGE = 2,
	PMP_EXIT_GONE = 3, /* no such process, or it ended before the first sample */
	PMP_EXIT_DENIED = 4,
	PMP_EXIT_OUTPUT = 5,
	PMP_EXIT_SELF = 125, /* pmp itself failed, with -- COMMAND */
	PMP_EXIT_NOEXEC = 126,
	PMP_EXIT_NOTFOUND = 127,
	PMP_EXIT_SIGNAL = 128, /* plus the number of a signal */
};

/**
 * Notes are left out if quiet. All that is said goes to the file log as well, unless
 * it is NULL. 0, or the status to end with: it cannot be written.
 */
int message_settings(bool quiet, const char *log);
/** Are the words that messages begin with to stand out? */
void message_color(bool color);

/** Until NULL is given messages begin with this place, "FILE:LINE" or a variable. */
void message_place(const char *place);

/** Are notes shown or logged? */
bool message_heard(void);

/**
 * Print "pmp: TEXT" and, unless hint is NULL or empty, a line "hint: HINT", both
 * in one write. Both are made fit for a terminal.
 */
void message_print(const char *hint, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/** The same for what is worth knowing and no error. */
void message_note(const char *hint, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/** The same for a target that is not there: if quiet, only in the log. */
void message_absent(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** A line of the log, shown only if asked for. */
void message_log(bool shown, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/** The same for an error of the library. */
void message_error(const struct pmp_error *err);

/** Fill *err with the text and, unless number is 0, ": " and that errno in words. Returns
 * code. */
int message_fill(struct pmp_error *err, int code, int number, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/**
 * Give messages to a function instead of printing them: as text, and as the lines to be
 * printed later by message_lines(). NULL: print them again.
 */
void message_divert(void (*take)(void *arg, const char *text, const char *line),
		    void *arg);
/** Have this called before anything is written to standard error. */
void message_before(void (*clear)(void));

void message_lines(const char *lines);

/** The status that belongs to a code of the library. */
enum exit_status message_status(int code);

/**
 * A debug line of the library (the log callbacks of libpmp.h); areas is the value
 * of PMP_DEBUG: words separated by commas, or "all".
 */
void message_debug(void *areas, const char *area, const char *line);

#endif
