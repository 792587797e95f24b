/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of options, for what reads, checks and prints them. */
#ifndef PMP_OPTIONS_TABLE_H
#define PMP_OPTIONS_TABLE_H

#include "options/options.h"

#define OPTIONS_NOT_GIVEN UINT64_MAX /* a number whose default depends on others */
#define PMP_SEE_HELP "see pmp --help"

struct option_row;

/* Takes the value of an option; false: it is wrong, and it has been said. */
typedef bool option_taker(struct options *options, const struct option_row *row,
			  const char *text);

struct option_row {
	unsigned group; /* see option_group() */
	char letter;	/* 0: only a long name */
	const char *name;
	const char *value; /* name of its value; NULL: takes none */
	option_taker *take;
	size_t offset; /* where the value goes in struct options */
	uint64_t min, max;
	const char *words;   /* of take_word: in the order of the enum, blanks between */
	const char *example; /* of a right value */
	const char *help;
	bool may_lack_value; /* NULL is taken then; else it follows '=' */
};

/* The rows in their order; NULL after the last. */
const struct option_row *option_row(size_t i);
const struct option_row *option_named(const char *name);
/* The title of a group of rows; NULL after the last. */
const char *option_group(unsigned group);
/* Not what is sampled, what ends pmp at once, and where options come from. */
bool option_is_for_config(const struct option_row *row);
/* The words that its value may be, "raw folded pmp", or NULL; put into buffer if need be. */
const char *option_words(const struct option_row *row, char *buffer, size_t size);

/* Take one vector of arguments. from_environment: options only. False: they are wrong,
 * and it has been said. */
bool options_take(struct options *options, int argc, char **argv, bool from_environment);

/* Names of all formats, with blanks between. */
void options_formats(char *text, size_t size);
/* Says so; false. */
bool options_no_memory(void);
/** Why options could not be read: PMP_EXIT_USAGE, or PMP_EXIT_FAILED for want of memory. */
int options_status(void);

/* ---- check.c ----------------------------------------------------------- */

/* Is there exactly one source? False: it has been said. */
bool options_check_source(const struct options *options);
/* Are the others right together? What was not given gets its default. 0 or a status. */
int options_check(struct options *options);

#endif
