/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of options, shared by the code that reads, checks and prints them. */
#ifndef PMP_OPTIONS_TABLE_H
#define PMP_OPTIONS_TABLE_H

#include "options/options.h"

#define OPTIONS_NOT_GIVEN UINT64_MAX /* if the default depends on other options */
#define PMP_SEE_HELP "see pmp --help"

struct option_row;

/* Takes the value of an option; false: it is wrong, a message has been printed. */
typedef bool option_taker(struct options *options, const struct option_row *row,
			  const char *text);

struct option_row {
	unsigned group; /* for option_group() */
	char letter;	/* 0: long name only */
	const char *name;
	const char *value; /* name of the value; NULL: no value */
	option_taker *take;
	size_t offset; /* of the value in struct options */
	uint64_t min, max;
	const char *words;   /* for take_word: in enum order, separated by blanks */
	const char *example; /* of a valid value */
	const char *help;
	bool may_lack_value; /* take may get NULL; a value must follow '=' */
};

/* Row i of the table; NULL after the last. */
const struct option_row *option_row(size_t i);
const struct option_row *option_named(const char *name);
/* The title of a group of rows; NULL after the last. */
const char *option_group(unsigned group);
/* False for options that select a source, end pmp at once, or name the configuration. */
bool option_is_for_config(const struct option_row *row);
/* The words that the value may be, "raw folded pmp", or NULL; uses buffer if needed. */
const char *option_words(const struct option_row *row, char *buffer, size_t size);

/* Take a value and remember where it was given. False: it is wrong, a message has been
 * printed. */
bool option_take(struct options *options, const struct option_row *row, const char *text,
		 enum option_source source);
/* Where the option was last given. */
enum option_source option_given(const struct options *options, const char *name);
/* Undo an option: a flag, a number, a text, one that names the format, or one of the
 * server or the heap. */
void option_forget(struct options *options, const char *name);
/* Take one vector of arguments; from the environment no operands. False: they are wrong,
 * a message has been printed. */
bool options_take(struct options *options, int argc, char **argv,
		  enum option_source source);

/* The names of all formats, separated by blanks. */
void options_formats(char *text, size_t size);
/* Prints that there is no memory; returns false. */
bool options_no_memory(void);
/** Why options could not be read: PMP_EXIT_USAGE, or PMP_EXIT_FAILED if out of memory. */
int options_status(void);

/* ---- standing.c -------------------------------------------------------- */

/* Ignore options of the configuration and PMP_OPTS that have no meaning for this run. */
void options_settle_standing(struct options *options);
/* Where the format was last named, by whichever option. */
enum option_source options_format_source(const struct options *options);

/* ---- check.c ----------------------------------------------------------- */

/* Is there exactly one source? False: a message has been printed. */
bool options_check_source(const struct options *options);
/* Does a format show threads, or snapshots of them? A heap has none. */
bool options_shows_threads(const struct pmp_format *format);
/* Check that the other options fit together, and set defaults. 0 or a status. */
int options_check(struct options *options);

#endif
